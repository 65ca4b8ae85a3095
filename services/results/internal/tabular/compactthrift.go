package tabular

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// What a struct may take of its decoder, which has no bounds of its own.
const (
	thriftDepth   = 64      // of structs and containers in each other
	thriftStructs = 1 << 18 // in containers
)

// Types of Thrift's compact protocol.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftI8
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

// thriftScan walks through bytes of Thrift's compact protocol without making anything of them. Every element of a container has at
// least one byte, so that a walk takes no more steps than there are bytes.
type thriftScan struct {
	rest    []byte
	structs int
}

// thriftLength is how many of the bytes are the struct at their start. The error is io.ErrUnexpectedEOF if they end in it.
//
// Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
func thriftLength(b []byte) (int, error) {
	s := thriftScan{rest: b}
	err := s.fields(thriftDepth)
	return len(b) - len(s.rest), err
}

// fields walks through a struct behind its start, with no more than depth others in it.
func (s *thriftScan) fields(depth int) error {
	for {
		head, err := s.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // its number follows
			if _, err := s.number(math.MaxUint64); err != nil {
				return err
			}
		}
		if kind := head & 0xf; kind != thriftTrue && kind != thriftFalse { // of these, the type is the value
			if err := s.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (s *thriftScan) value(kind byte, depth int) error {
	if depth == 0 {
		return errors.New("too many structs in each other")
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftI8:
		return s.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := s.number(math.MaxUint64)
		return err
	case thriftDouble:
		return s.skip(8)
	case thriftUUID:
		return s.skip(16)
	case thriftBinary:
		n, err := s.number(math.MaxInt32)
		if err != nil {
			return err
		}
		return s.skip(n)
	case thriftList, thriftSet:
		return s.list(depth - 1)
	case thriftMap:
		return s.pairs(depth - 1)
	case thriftStruct:
		return s.fields(depth - 1)
	default:
		return errors.New("no type of Thrift")
	}
}

func (s *thriftScan) list(depth int) error {
	head, err := s.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 0xf {
		if n, err = s.number(math.MaxInt32); err != nil {
			return err
		}
	}
	return s.elements(n, depth, head&0xf)
}

func (s *thriftScan) pairs(depth int) error {
	n, err := s.number(math.MaxInt32)
	if err != nil || n == 0 {
		return err
	}
	kinds, err := s.byte()
	if err != nil {
		return err
	}
	return s.elements(n, depth, kinds>>4, kinds&0xf)
}

// elements walks through n elements, each of which has a value of every kind.
func (s *thriftScan) elements(n uint64, depth int, kinds ...byte) error {
	for range n {
		for _, kind := range kinds {
			if kind == thriftStruct {
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

func (s *thriftScan) byte() (byte, error) {
	if len(s.rest) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b, nil
}

func (s *thriftScan) number(most uint64) (uint64, error) {
	n, length := binary.Uvarint(s.rest)
	switch {
	case length == 0:
		s.rest = nil
		return 0, io.ErrUnexpectedEOF
	case length < 0 || n > most:
		return 0, errors.New("a number is too large")
	}
	s.rest = s.rest[length:]
	return n, nil
}

func (s *thriftScan) skip(n uint64) error {
	if n > uint64(len(s.rest)) {
		s.rest = nil
		return io.ErrUnexpectedEOF
	}
	s.rest = s.rest[n:]
	return nil
}
