package tabular

import "encoding/binary"

const errDelta = damage("a page has no sound differences")

// deltas is DELTA_BINARY_PACKED: blocks of differences, each of parts whose differences have the same number of bits.
type deltas struct {
	bitReader
	left   int64  // numbers
	value  uint64 // the last one
	fresh  bool   // the first one was not returned
	parts  int    // of a block
	each   int64  // differences of a part
	least  uint64 // of the differences of the block
	widths []byte // of its further parts
	width  int    // of the part
	inPart int64  // differences that are left of the part
}

// maxDeltaParts bounds the parts of a block: usual writers have 4 to 8.
const maxDeltaParts = 4096

// newDeltas reads up to limit numbers.
func newDeltas(c cursor, limit int64) (deltas, error) {
	d := deltas{bitReader: bitReader{cursor: c}, fresh: true}
	var header [3]uint64 // the differences of a block, its parts, and all numbers
	for i := range header {
		var err error
		if header[i], err = binary.ReadUvarint(&d); err != nil {
			return d, err
		}
	}
	first, err := binary.ReadVarint(&d)
	if err != nil {
		return d, err
	}
	block, parts, count := header[0], header[1], header[2]
	if parts == 0 || parts > maxDeltaParts || block == 0 || block > 1<<31 || block%parts != 0 || block/parts%8 != 0 ||
		count > uint64(limit) { //nolint:gosec // limit is not negative
		return d, errDelta
	}
	d.parts, d.each, d.left, d.value = int(parts), int64(block/parts), int64(count), uint64(first) //nolint:gosec // the bits of first
	return d, nil
}

func (d *deltas) next() (uint64, error) {
	if d.left == 0 {
		return 0, errShort
	}
	d.left--
	if d.fresh {
		d.fresh = false
		return d.value, nil
	}
	if d.inPart == 0 {
		if err := d.nextPart(); err != nil {
			return 0, err
		}
	}
	d.inPart--
	difference, err := d.number(d.width)
	d.value += d.least + difference
	return d.value, err
}

func (d *deltas) nextPart() error {
	if len(d.widths) == 0 {
		least, err := binary.ReadVarint(d)
		if err != nil {
			return err
		}
		widths, err := d.take(int64(d.parts))
		if err != nil {
			return err
		}
		d.least, d.widths = uint64(least), append(d.widths[:0], widths...) //nolint:gosec // its bits
	}
	d.width, d.widths, d.inPart = int(d.widths[0]), d.widths[1:], d.each
	if d.width > 64 {
		return errDelta
	}
	return nil
}

// deltasFrom reads up to limit numbers from an offset of a page on, and returns where the bytes behind them begin.
func deltasFrom(page *region, at, most int64) (d deltas, end int64, err error) {
	all, err := newDeltas(page.cursor(at, page.size), most)
	if err != nil {
		return d, 0, err
	}
	d, err = newDeltas(page.cursor(at, page.size), most)
	for err == nil && all.left > 0 {
		_, err = all.next()
	}
	// The last part has all its bytes.
	rest := all.inPart*int64(all.width) - int64(all.bits)
	if end = all.position() + max(0, rest+7)/8; err == nil && end > page.size {
		err = errShort
	}
	return d, end, err
}

// integers are numbers of one of the two widths.
type integers struct {
	deltas
	width int64
	value [8]byte
}

func (i *integers) next() ([]byte, error) {
	n, err := i.deltas.next()
	binary.LittleEndian.PutUint64(i.value[:], n)
	return i.value[:i.width], err
}

// deltaLengths is DELTA_LENGTH_BYTE_ARRAY: the lengths of all texts, and then the texts.
type deltaLengths struct {
	lengths deltas
	texts   cursor
}

func newDeltaLengths(page *region, at, most int64) (*deltaLengths, error) {
	lengths, end, err := deltasFrom(page, at, most)
	if err != nil {
		return nil, err
	}
	return &deltaLengths{lengths, page.cursor(end, page.size)}, nil
}

func (d *deltaLengths) next() ([]byte, error) {
	n, err := d.lengths.next()
	if err != nil {
		return nil, err
	}
	if int32(n) < 0 { //nolint:gosec // lengths have 32 bits
		return nil, errDelta
	}
	return d.texts.value(int64(int32(n))) //nolint:gosec // the same
}

// deltaBytes is DELTA_BYTE_ARRAY: of each value, how many bytes it has from the last one, and the others.
type deltaBytes struct {
	column   *parquetColumn
	prefixes deltas
	rest     *deltaLengths
}

func newDeltaBytes(c *parquetColumn, at, limit int64) (*deltaBytes, error) {
	prefixes, end, err := deltasFrom(&c.page, at, limit)
	if err != nil {
		return nil, err
	}
	c.last = c.last[:0]
	rest, err := newDeltaLengths(&c.page, end, limit)
	return &deltaBytes{c, prefixes, rest}, err
}

func (d *deltaBytes) next() ([]byte, error) {
	prefix, err := d.prefixes.next()
	if err != nil {
		return nil, err
	}
	rest, err := d.rest.next()
	if err != nil {
		return nil, err
	}
	c := d.column
	if prefix > uint64(len(c.last)) {
		return nil, errDelta
	}
	before := cap(c.last)
	c.last = append(c.last[:prefix], rest...)
	switch c.page.space.texts -= int64(cap(c.last) - before); {
	case c.page.space.texts < 0:
		return nil, &UnusableError{"The texts in DELTA_BYTE_ARRAY of the Parquet file are too large. Write them with PLAIN or a dictionary."}
	case len(c.last) > MaxRowBytes:
		return nil, errRowTooLarge
	case c.field.value.physical == physicalFixed && int64(len(c.last)) != c.field.length:
		return nil, errDelta
	}
	return c.last, nil
}
