package tabular

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// The encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2 // of dictionaries, and of places in them, in older files
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingByteStreams     = 9
)

// valueReader reads the values of a page that are there, each in the bytes of PLAIN without the length of a text, and booleans as a
// byte. A value is valid until the next one.
type valueReader interface{ next() ([]byte, error) }

var errRowTooLarge = errors.New("a row may have 1 MiB")

// newValueReader reads the values from an offset of the page on.
//
// Source: https://github.com/apache/parquet-format/blob/master/Encodings.md
func newValueReader(c *parquetColumn, h pageHeader, at int64) (valueReader, error) {
	page, physical, width := &c.page, c.field.value.physical, c.field.value.physical.width(c.field.length)
	values := page.cursor(at, page.size)
	isText := physical == physicalBytes
	switch h.encoding {
	case encodingPlain:
		if physical == physicalBoolean {
			return &booleans{runs: runs{bitReader: bitReader{cursor: values}, width: 1, packed: true, run: math.MaxInt64}}, nil
		}
		return &plainValues{values, width, isText}, nil
	case encodingPlainDictionary, encodingDictionary:
		if c.dictionary.count < 0 {
			return nil, damage("a page needs a dictionary, and there is none")
		}
		return &places{runs: runs{bitReader: bitReader{cursor: values}}, dictionary: &c.dictionary, fresh: true}, nil
	case encodingRLE:
		if physical == physicalBoolean {
			if _, err := values.take(min(4, values.left())); err != nil { // the length of the rest
				return nil, err
			}
			return &booleans{runs: runs{bitReader: bitReader{cursor: values}, width: 1}}, nil
		}
	case encodingDelta:
		if physical == physicalInt32 || physical == physicalInt64 {
			d, err := newDeltas(values, h.values)
			return &integers{deltas: d, width: width}, err
		}
	case encodingDeltaLength:
		if isText {
			return newDeltaLengths(page, at, h.values)
		}
	case encodingDeltaBytes:
		if isText || physical == physicalFixed {
			return newDeltaBytes(c, at, h.values)
		}
	case encodingByteStreams:
		if width > 0 {
			return &byteStreams{page: page, at: at, width: width, count: (page.size - at) / width}, nil
		}
	default:
		return nil, damage(fmt.Sprintf("it has an encoding with the number %d, which cannot be read", h.encoding))
	}
	return nil, damage(fmt.Sprintf("it has an encoding that its type cannot have, with the number %d", h.encoding))
}

// plainValues is PLAIN, but for booleans.
type plainValues struct {
	cursor
	width int64
	text  bool // values have their lengths before them
}

func (p *plainValues) next() ([]byte, error) {
	n := p.width
	if p.text {
		length, err := p.take(4)
		if err != nil {
			return nil, err
		}
		n = int64(binary.LittleEndian.Uint32(length))
	}
	return p.value(n)
}

// value is the next n bytes.
func (c *cursor) value(n int64) ([]byte, error) {
	if n > MaxRowBytes && n <= c.left() {
		return nil, errRowTooLarge
	}
	return c.take(n)
}

// bitReader reads numbers of some bits, which begin at the lowest bits of a byte, or reversed at its highest.
type bitReader struct {
	cursor
	reversed bool
	current  byte
	bits     int // that are left of current
}

func (b *bitReader) number(width int) (n uint64, err error) {
	for got := 0; got < width; {
		if b.bits == 0 {
			if b.current, err = b.ReadByte(); err != nil {
				return 0, err
			}
			if b.reversed {
				b.current = bits.Reverse8(b.current)
			}
			b.bits = 8
		}
		take := min(b.bits, width-got)
		n |= uint64(b.current&(1<<take-1)) << got
		b.current >>= take
		b.bits -= take
		got += take
	}
	if b.reversed {
		n = bits.Reverse64(n) >> (64 - width)
	}
	return n, nil
}

// runs is the hybrid of run-length encoding and bit packing, and with one endless run, bit packing alone. Numbers of no bits are 0,
// without a run.
type runs struct {
	bitReader
	width  int
	run    int64 // numbers that are left of the run
	packed bool
	value  uint64 // of a run that is not packed
}

func (r *runs) next() (uint64, error) {
	if r.width == 0 {
		return 0, nil
	}
	for r.run == 0 {
		head, err := binary.ReadUvarint(r)
		if err != nil {
			return 0, err
		}
		if head > math.MaxUint32 {
			return 0, damage("a run is longer than a page")
		}
		if r.packed = head&1 == 1; r.packed {
			r.run = int64(head>>1) * 8
			continue
		}
		r.run = int64(head >> 1)
		value, err := r.take(int64(r.width+7) / 8)
		if err != nil {
			return 0, err
		}
		r.value = 0
		for i, b := range value {
			r.value |= uint64(b) << (8 * i)
		}
	}
	r.run--
	if r.packed {
		return r.number(r.width)
	}
	return r.value, nil
}

// booleans are runs of booleans.
type booleans struct {
	runs
	value [1]byte
}

func (b *booleans) next() ([]byte, error) {
	n, err := b.runs.next()
	b.value[0] = byte(n) //nolint:gosec // of one bit
	return b.value[:], err
}

// dictionary has the values to which pages refer by their places.
type dictionary struct {
	values region
	ends   region // where each text ends, in 4 bytes
	width  int64  // of the values, 0: they are texts
	count  int64  // below 0: there is no dictionary
}

// fill takes a page as the dictionary of a column, and leaves the page empty.
func (d *dictionary) fill(page *region, f *parquetField, h pageHeader) error {
	d.width = f.value.physical.width(f.length)
	if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary || f.value.physical == physicalBoolean {
		return damage("a dictionary has an encoding that is none of dictionaries")
	}
	d.values, *page = *page, d.values
	if d.count = h.values; d.width > 0 || f.value.physical == physicalFixed {
		if h.values*d.width > d.values.size {
			return errShort
		}
		return nil
	}
	if 4*h.values > d.values.size {
		return errShort
	}
	if err := d.ends.begin(4 * h.values); err != nil {
		return err
	}
	all := d.values.cursor(0, d.values.size)
	var end [4]byte
	for range h.values {
		length, err := all.take(4)
		if err != nil {
			return err
		}
		if err := all.skip(int64(binary.LittleEndian.Uint32(length))); err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(end[:], uint32(all.position())) //nolint:gosec // a page has less than 4 GiB
		if _, err := d.ends.Write(end[:]); err != nil {
			return err
		}
	}
	return d.ends.flush()
}

func (d *dictionary) at(place uint64) ([]byte, error) {
	if place >= uint64(d.count) { //nolint:gosec // there is a dictionary
		return nil, damage("a value is outside of its dictionary")
	}
	i := int64(place) //nolint:gosec // below count
	if d.width > 0 {
		return d.values.value(i*d.width, d.width)
	}
	if d.ends.size == 0 { // values of no bytes
		return nil, nil
	}
	begin := int64(0)
	if i > 0 {
		end, err := d.ends.view(4*(i-1), 4)
		if err != nil {
			return nil, err
		}
		begin = int64(binary.LittleEndian.Uint32(end))
	}
	end, err := d.ends.view(4*i, 4)
	if err != nil {
		return nil, err
	}
	return d.values.value(begin+4, int64(binary.LittleEndian.Uint32(end))-begin-4)
}

// places are places in a dictionary.
type places struct {
	runs
	dictionary *dictionary
	fresh      bool // the width was not read; a page of nulls has none
}

func (p *places) next() ([]byte, error) {
	if p.fresh {
		width, err := p.ReadByte()
		if err != nil {
			return nil, err
		}
		if p.fresh, p.width = false, int(width); width > 32 {
			return nil, damage("places in a dictionary have more than 32 bits")
		}
	}
	place, err := p.runs.next()
	if err != nil {
		return nil, err
	}
	return p.dictionary.at(place)
}

// byteStreams is BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, and so on.
type byteStreams struct {
	page  *region
	at    int64
	width int64
	count int64  // values
	i     int64  // the next value
	block []byte // of the values from i rounded down to a multiple of blockValues on, stream by stream
	value []byte
}

func (s *byteStreams) next() ([]byte, error) {
	if s.width > MaxRowBytes {
		return nil, errRowTooLarge
	}
	if s.i == s.count {
		return nil, errShort
	}
	// A block has 16 KiB, or one value.
	values := max(1, cursorBytes/s.width)
	if s.i%values == 0 {
		if s.block == nil {
			s.block, s.value = make([]byte, values*s.width), make([]byte, s.width)
		}
		n := min(values, s.count-s.i)
		for stream := range s.width {
			if err := s.page.read(s.block[stream*values:stream*values+n], s.at+stream*s.count+s.i); err != nil {
				return nil, err
			}
		}
	}
	for stream := range s.width {
		s.value[stream] = s.block[stream*values+s.i%values]
	}
	s.i++
	return s.value, nil
}
