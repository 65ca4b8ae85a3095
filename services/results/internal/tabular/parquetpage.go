package tabular

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
)

// The types of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

// headerBytes is the most of a page's header, which may have the smallest and the largest value.
const headerBytes = 8 << 20

// pageHeader is what the header of a page says.
type pageHeader struct {
	kind       int64
	size       int64 // decompressed
	compressed int64 // bytes in the file
	checksum   int64 // of these
	checked    bool  // there is a checksum
	values     int64
	encoding   int64
	plain      bool // a page of version 2 that is not compressed
	// Of the levels of repetition and of definition: their encodings in version 1, their bytes in version 2.
	encodings, lengths [2]int64
}

// readPageHeader reads a PageHeader.
func readPageHeader(t *thriftReader) pageHeader {
	var h pageHeader
	numbers := func(of map[int64]*int64, kind thriftKind) {
		t.fields(kind, func(id int64, kind thriftKind) bool {
			if into := of[id]; into != nil {
				*into = t.number(kind)
				return true
			}
			if id == 7 && h.kind == dataPageV2 {
				h.plain = !t.boolean(kind)
				return true
			}
			return false
		})
	}
	t.fields(thriftStruct, func(id int64, kind thriftKind) bool {
		switch id {
		case 1:
			h.kind = t.number(kind)
		case 2:
			h.size = t.number(kind)
		case 3:
			h.compressed = t.number(kind)
		case 4:
			h.checked, h.checksum = true, t.number(kind)
		case 5:
			if h.kind != dataPage {
				return false
			}
			numbers(map[int64]*int64{1: &h.values, 2: &h.encoding, 3: &h.encodings[1], 4: &h.encodings[0]}, kind)
		case 7:
			if h.kind != dictionaryPage {
				return false
			}
			numbers(map[int64]*int64{1: &h.values, 2: &h.encoding}, kind)
		case 8:
			if h.kind != dataPageV2 {
				return false
			}
			numbers(map[int64]*int64{1: &h.values, 4: &h.encoding, 5: &h.lengths[1], 6: &h.lengths[0]}, kind)
		default:
			return false
		}
		return true
	})
	if min(h.size, h.compressed, h.values, h.lengths[0], h.lengths[1]) < 0 || h.lengths[0]+h.lengths[1] > min(h.size, h.compressed) {
		t.fail(damage("the header of a page has numbers that cannot be"))
	}
	return h
}

// pageReader reads the pages of all columns.
type pageReader struct {
	source   *source
	space    *space
	expander expander
	left     int64 // bytes that may still be read of the file, each once; else a small file could have one page read many times
	expanded int64 // bytes that pages may still have when they are decompressed
	values   int64 // that pages may still have
	buffer   *bufio.Reader
}

// What all pages together may have beside 100 times the bytes of the file: a small file must not take the time of a large one, but ten
// million rows of a constant are some KiB (spec: file-parquet).
const (
	expandedBytes  = 8 << 30
	expandedValues = 1 << 30
)

// newPageReader reads pages of a file of so many bytes. So many bytes of pages are in memory.
func newPageReader(s *source, size, memory int64) *pageReader {
	return &pageReader{
		source: s, space: &space{memory: memory, texts: spaceTexts}, buffer: bufio.NewReader(nil),
		left: size, expanded: 100*size + expandedBytes, values: 100*size + expandedValues,
	}
}

func (r *pageReader) close() {
	r.space.close()
	r.expander.close()
}

// page is the next page that in has. Its content is in the region: in version 2 the levels, and then the values.
func (r *pageReader) page(in *bufio.Reader, codec int64, into *region) (pageHeader, error) {
	t := thriftReader{from: in, limit: min(headerBytes, r.left)}
	h := readPageHeader(&t)
	if t.err != nil {
		return h, t.err
	}
	if r.left -= t.read + h.compressed; r.left < 0 {
		return h, damage("its pages are those of another column")
	}
	if h.kind != dataPage && h.kind != dictionaryPage && h.kind != dataPageV2 { // such as an index, which nobody needs
		_, err := in.Discard(int(h.compressed))
		return h, err
	}
	r.expanded -= h.size
	r.values -= h.values
	if r.expanded < 0 || r.values < 0 {
		return h, &UnusableError{"The Parquet file expands to more than 100 bytes or values for each of its bytes, and 8 GiB or 2^30 values."}
	}
	if err := into.begin(h.size); err != nil {
		return h, err
	}
	content := &io.LimitedReader{R: in, N: h.compressed}
	sum := crc32.NewIEEE()
	r.buffer.Reset(content)
	if h.checked {
		r.buffer.Reset(io.TeeReader(content, sum))
	}
	if h.plain {
		codec = codecNone
	}
	_, err := io.CopyN(into, r.buffer, h.lengths[0]+h.lengths[1])
	if err == nil {
		err = r.expander.expand(codec, r.buffer, into)
	}
	if err == nil {
		err = into.flush()
	}
	if _, ok := errors.AsType[ownError](err); ok {
		return h, err
	}
	switch _, rest := io.Copy(io.Discard, r.buffer); {
	case rest != nil:
		err = rest
	case content.N > 0:
		err = errShort
	case h.checked && uint32(h.checksum) != sum.Sum32(): //nolint:gosec // a checksum has 32 bits
		err = damage("a page does not have its checksum")
	}
	return h, err
}

// parquetColumn reads the values of a leaf in a row group, in order.
type parquetColumn struct {
	field      *parquetField
	pages      *pageReader
	in         *bufio.Reader
	codec      int64
	left       int64 // values in further pages
	inPage     int64 // values left in the page
	page       region
	dictionary dictionary
	last       []byte  // of the values of DELTA_BYTE_ARRAY
	levels     [2]runs // of repetition and of definition
	values     valueReader
	// The next value.
	peeked                 bool
	repetition, definition int
	inRow                  bool // the row has an earlier value of the column
}

// open begins a row group.
func (c *parquetColumn) open(chunk columnChunk, end int64) error {
	switch {
	case chunk.elsewhere:
		return &UnusableError{"The Parquet file has its columns in other files."}
	case chunk.encrypted:
		return damage("it is encrypted")
	case chunk.at < 4 || chunk.at > end || chunk.values < 0:
		return damage("it is outside of the file")
	}
	if err := checkCodec(chunk.codec); err != nil {
		return err
	}
	c.in.Reset(io.NewSectionReader(c.pages.source, chunk.at, end-chunk.at))
	c.codec, c.left, c.inPage, c.peeked = chunk.codec, chunk.values, 0, false
	c.dictionary.count = -1
	return nil
}

// peek reads the levels of the next value. It returns false at the end of the row group.
func (c *parquetColumn) peek() (bool, error) {
	if c.peeked {
		return true, nil
	}
	for c.inPage == 0 {
		if c.left == 0 {
			return false, nil
		}
		if err := c.nextPage(); err != nil {
			return false, unexpected(err)
		}
	}
	c.inPage--
	repetition, err := c.levels[0].next()
	if err != nil {
		return false, err
	}
	definition, err := c.levels[1].next()
	if err != nil {
		return false, err
	}
	c.peeked, c.repetition, c.definition = true, int(repetition), int(definition) //nolint:gosec // of up to 8 bits
	if c.repetition > c.field.repetition || c.definition > c.field.definition {
		return false, damage("a level is higher than the schema has")
	}
	return true, nil
}

// take reads the value that was peeked, which is valid until the next take. It is nil if it is not there.
func (c *parquetColumn) take() ([]byte, error) {
	c.peeked, c.inRow = false, true
	if c.definition < c.field.definition {
		return nil, nil
	}
	return c.values.next()
}

func (c *parquetColumn) nextPage() error {
	h, err := c.pages.page(c.in, c.codec, &c.page)
	if err != nil {
		return err
	}
	switch h.kind {
	case dictionaryPage:
		if c.dictionary.count >= 0 {
			return damage("it has two dictionaries")
		}
		return c.dictionary.fill(&c.page, c.field, h)
	case dataPage, dataPageV2:
		if h.values > c.left {
			return damage("its pages have more values than it says")
		}
		c.inPage, c.left = h.values, c.left-h.values
		at, err := c.readLevels(h)
		if err != nil {
			return err
		}
		c.values, err = newValueReader(c, h, at)
		return err
	}
	return nil
}

// encodingBitPacked is of the levels of very old files.
const encodingBitPacked = 4

// readLevels finds the levels of a page, and returns where its values begin.
func (c *parquetColumn) readLevels(h pageHeader) (at int64, err error) {
	for i, most := range [2]int{c.field.repetition, c.field.definition} {
		length, width := h.lengths[i], bits.Len(uint(most))
		switch {
		case h.kind == dataPageV2:
		case most == 0:
			length = 0
		case h.encodings[i] == encodingBitPacked:
			length = (h.values*int64(width) + 7) / 8
		case h.encodings[i] == encodingRLE:
			prefix, err := c.page.view(at, 4)
			if err != nil {
				return 0, err
			}
			length, at = int64(binary.LittleEndian.Uint32(prefix)), at+4
		default:
			return 0, damage("its levels have an encoding that is none of levels")
		}
		if length > c.page.size-at {
			return 0, errShort
		}
		c.levels[i] = runs{bitReader: bitReader{cursor: c.page.cursor(at, at+length)}, width: width}
		if h.kind == dataPage && h.encodings[i] == encodingBitPacked {
			c.levels[i].reversed, c.levels[i].packed, c.levels[i].run = true, true, h.values
		}
		at += length
	}
	return at, nil
}
