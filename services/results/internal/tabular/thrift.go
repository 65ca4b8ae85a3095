package tabular

import (
	"bufio"
	"encoding/binary"
	"io"
)

// thriftReader reads structs in the compact protocol of Thrift, field by field. It keeps nothing, and reads each byte once. The first
// error stays; then all values are zero and all loops end.
//
// Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
type thriftReader struct {
	from  *bufio.Reader
	read  int64 // bytes so far
	limit int64 // bytes that may be read
	err   error
}

// thriftKind is the type of a value.
type thriftKind byte

const (
	thriftTrue   thriftKind = 1
	thriftFalse  thriftKind = 2
	thriftI8     thriftKind = 3
	thriftI16    thriftKind = 4
	thriftI32    thriftKind = 5
	thriftI64    thriftKind = 6
	thriftDouble thriftKind = 7
	thriftBinary thriftKind = 8
	thriftList   thriftKind = 9
	thriftSet    thriftKind = 10
	thriftMap    thriftKind = 11
	thriftStruct thriftKind = 12
)

// thriftDepth is how deep the values that are skipped may nest.
const thriftDepth = 64

const (
	errThrift = damage("its metadata are not in the format of Thrift")
	errCutOff = damage("its metadata are cut off")
)

// fail keeps the first error.
func (t *thriftReader) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// ReadByte implements io.ByteReader.
func (t *thriftReader) ReadByte() (byte, error) {
	if t.err == nil && t.read >= t.limit {
		t.fail(errCutOff)
	}
	if t.err != nil {
		return 0, t.err
	}
	b, err := t.from.ReadByte()
	if t.read++; err != nil {
		t.fail(err)
	}
	return b, t.err
}

func (t *thriftReader) byte() byte {
	b, _ := t.ReadByte() // t.err has the error
	return b
}

func (t *thriftReader) uvarint() uint64 {
	n, err := binary.ReadUvarint(t)
	if err != nil {
		t.fail(errThrift)
		return 0
	}
	return n
}

func (t *thriftReader) varint() int64 {
	n, err := binary.ReadVarint(t)
	if err != nil {
		t.fail(errThrift)
		return 0
	}
	return n
}

// discard skips n bytes.
func (t *thriftReader) discard(n uint64) {
	if n > uint64(t.limit-t.read) { //nolint:gosec // limit is the larger one
		t.fail(errCutOff)
		return
	}
	skipped, err := t.from.Discard(int(n)) //nolint:gosec // below most
	if t.read += int64(skipped); err != nil {
		t.fail(err)
	}
}

// number reads an integer.
func (t *thriftReader) number(kind thriftKind) int64 {
	switch kind {
	case thriftI8:
		return int64(int8(t.byte())) //nolint:gosec // its bits
	case thriftI16, thriftI32, thriftI64:
		return t.varint()
	default:
		t.fail(errThrift)
		return 0
	}
}

// boolean is a field of a struct, whose type is its value.
func (t *thriftReader) boolean(kind thriftKind) bool {
	if kind != thriftTrue && kind != thriftFalse {
		t.fail(errThrift)
	}
	return kind == thriftTrue
}

// text reads a text of up to limit bytes.
func (t *thriftReader) text(kind thriftKind, limit uint64) string {
	if kind != thriftBinary {
		t.fail(errThrift)
	}
	n := t.uvarint()
	switch {
	case n > limit:
		t.fail(damage("its metadata have a text that is too long"))
	case n > uint64(t.limit-t.read): //nolint:gosec // limit is the larger one
		t.fail(errCutOff)
	}
	if t.err != nil {
		return ""
	}
	b := make([]byte, n)
	read, err := io.ReadFull(t.from, b)
	if t.read += int64(read); err != nil {
		t.fail(err)
	}
	return string(b)
}

// fields reads a struct. It calls field for each field, which reads the value, or returns false to have it skipped.
func (t *thriftReader) fields(kind thriftKind, field func(id int64, kind thriftKind) bool) {
	if kind != thriftStruct {
		t.fail(errThrift)
	}
	for id := int64(0); t.err == nil; {
		head := t.byte()
		if head == 0 {
			return
		}
		if delta := int64(head >> 4); delta > 0 {
			id += delta
		} else {
			id = t.varint()
		}
		if kind := thriftKind(head & 0x0f); !field(id, kind) && kind != thriftTrue && kind != thriftFalse {
			t.skip(kind, thriftDepth)
		}
	}
}

// elements reads a list. It calls element for each element, which reads the value.
func (t *thriftReader) elements(kind thriftKind, element func(kind thriftKind)) {
	if kind != thriftList && kind != thriftSet {
		t.fail(errThrift)
	}
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && t.err == nil; n-- { // each element has a byte or more
		element(thriftKind(head & 0x0f))
	}
}

// skip skips a value in a container or, but for booleans, of a field.
func (t *thriftReader) skip(kind thriftKind, depth int) {
	if depth == 0 {
		t.fail(damage("its metadata are nested too deeply"))
		return
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftI8:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		t.discard(8)
	case thriftBinary:
		t.discard(t.uvarint())
	case thriftList, thriftSet:
		t.elements(kind, func(kind thriftKind) { t.skip(kind, depth-1) })
	case thriftMap:
		n := t.uvarint()
		if n == 0 {
			return
		}
		kinds := t.byte()
		for ; n > 0 && t.err == nil; n-- {
			t.skip(thriftKind(kinds>>4), depth-1)
			t.skip(thriftKind(kinds&0x0f), depth-1)
		}
	case thriftStruct:
		t.skipFields(depth - 1)
	default:
		t.fail(errThrift)
	}
}

func (t *thriftReader) skipFields(depth int) {
	t.fields(thriftStruct, func(_ int64, kind thriftKind) bool {
		if kind != thriftTrue && kind != thriftFalse {
			t.skip(kind, depth)
		}
		return true
	})
}
