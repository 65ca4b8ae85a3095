package tabular

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// What a struct may make its decoder use: the decoder has no limits of its own.
const (
	thriftDepth   = 64      // nesting of structs and containers
	thriftStructs = 1 << 18 // structs in containers
)

// thriftScan walks through bytes of Thrift's compact protocol without decoding them into values. Every element of a container has
// at least one byte, so a walk takes no more steps than there are bytes.
type thriftScan struct {
	thrift.Reader // of a byte slice: the reader of a stream may read beyond the struct
	structs       int
}

func newThriftReader(b []byte) thrift.Reader {
	return (&thrift.CompactProtocol{}).NewReaderFromBytes(b)
}

func decodeThrift(b []byte, into any) error {
	return thrift.NewDecoder(newThriftReader(b)).Decode(into)
}

// thriftLength is the length of the struct with which b begins. The error is io.ErrUnexpectedEOF if b ends before the struct
// does.
func thriftLength(b []byte) (int, error) {
	s := thriftScan{Reader: newThriftReader(b)}
	err := s.fields(thriftDepth)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return s.BytesRead(), err
}

// fields walks through a struct, in which no more than depth others are nested.
func (s *thriftScan) fields(depth int) error {
	for {
		f, err := s.ReadField()
		if err != nil || f == (thrift.Field{}) {
			return err
		}
		if f.Type != thrift.TRUE && f.Type != thrift.FALSE { // of these, the type is the value
			if err := s.value(f.Type, depth); err != nil {
				return err
			}
		}
	}
}

func (s *thriftScan) value(kind thrift.Type, depth int) (err error) {
	if depth == 0 {
		return errors.New("structs are nested too deeply")
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		_, err = s.ReadInt8()
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = s.ReadInt64()
	case thrift.DOUBLE:
		_, err = s.ReadFloat64()
	case thrift.UUID:
		if _, err = s.ReadFloat64(); err == nil {
			_, err = s.ReadFloat64()
		}
	case thrift.BINARY:
		_, err = s.ReadBytes()
	case thrift.LIST, thrift.SET:
		l, err := s.ReadList()
		if err != nil {
			return err
		}
		return s.elements(l.Size, depth-1, l.Type)
	case thrift.MAP:
		m, err := s.ReadMap()
		if err != nil {
			return err
		}
		return s.elements(m.Size, depth-1, m.Key, m.Value)
	case thrift.STRUCT:
		return s.fields(depth - 1)
	default:
		return errors.New("no type of Thrift")
	}
	return err
}

// elements walks through n elements, each of which has a value of every kind.
func (s *thriftScan) elements(n int32, depth int, kinds ...thrift.Type) error {
	for range n {
		for _, kind := range kinds {
			if kind == thrift.STRUCT {
				if s.structs++; s.structs > thriftStructs {
					return errors.New("too many structs")
				}
			}
			if err := s.value(kind, depth); err != nil {
				return err
			}
		}
	}
	return nil
}
