package tabular

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	parquetformat "github.com/parquet-go/parquet-go/format"
)

// plainDictionary is the encoding of dictionaries, and of indexes into them, in older files.
const plainDictionary = parquetformat.PlainDictionary //nolint:staticcheck // deprecated, for writers

// page is what the header of a page of any type says.
type page struct {
	leaf       *parquetField
	dictionary bool
	v1         bool // a data page of version 1: its levels are compressed together with its values
	compressed bool
	size       int64 // bytes of the page after decompression
	held       int64 // size, or its bytes in the file if these are more
	values     int64
	encoding   parquetformat.Encoding
	levels     [2]levels   // of repetition and of definition
	rows       *rowCounter // of the column so far
}

// rowCounter counts the values of each row of a column by their levels of repetition.
type rowCounter struct {
	left    int64 // values of the page whose levels are not known
	last    int64 // values so far of the last row
	longest int64 // values of the longest
	started bool  // a row starts in the page
}

// add takes note of values with a level of repetition, which is 0 where a row starts.
func (r *rowCounter) add(level byte, count int64) {
	count = min(count, r.left) // others are padding
	r.left -= count
	switch {
	case count == 0:
	case level == 0:
		r.last, r.started = 1, true
	default:
		r.last += count
	}
	r.longest = max(r.longest, r.last)
}

// levels are of the values of a page.
type levels struct {
	most     int // of a level
	encoding parquetformat.Encoding
	length   int64 // bytes; in version 1 unknown
}

// newPage reads the header of a page. It refuses a header that has more than the page's type needs, as the library might read
// that instead. r has the rows of the column before the page; check adds those of the page.
func newPage(h *parquetformat.PageHeader, leaf *parquetField, r *rowCounter) (page, error) {
	size := int64(h.UncompressedPageSize)
	p := page{leaf: leaf, compressed: true, size: size, held: max(size, int64(h.CompressedPageSize)), rows: r}
	v1, v2, dictionary := h.DataPageHeader, h.DataPageHeaderV2, h.DictionaryPageHeader
	switch {
	case h.Type == parquetformat.DataPage && v1.Valid && !dictionary.Valid:
		p.v1, p.values, p.encoding = true, int64(v1.V.NumValues), v1.V.Encoding
		p.levels[0].encoding, p.levels[1].encoding = v1.V.RepetitionLevelEncoding, v1.V.DefinitionLevelEncoding
	case h.Type == parquetformat.DataPageV2 && v2.Valid && !dictionary.Valid:
		p.compressed = !v2.V.IsCompressed.Valid || v2.V.IsCompressed.V
		p.values, p.encoding = int64(v2.V.NumValues), v2.V.Encoding
		p.levels[0] = levels{encoding: parquetformat.RLE, length: int64(v2.V.RepetitionLevelsByteLength)}
		p.levels[1] = levels{encoding: parquetformat.RLE, length: int64(v2.V.DefinitionLevelsByteLength)}
	case h.Type == parquetformat.DictionaryPage && dictionary.Valid:
		p.dictionary, p.values, p.encoding = true, int64(dictionary.V.NumValues), dictionary.V.Encoding
	default:
		return page{}, errors.New("a page of another kind")
	}
	p.rows.left, p.rows.started = p.values, leaf.repetition == 0
	if !p.dictionary {
		p.levels[0].most, p.levels[1].most = leaf.repetition, leaf.definition
	}
	switch {
	case p.levels[0].length < 0 || p.levels[1].length < 0:
		return page{}, errors.New("a page has levels of a negative length")
	case p.encoding == parquetformat.DeltaByteArray: // a page of 1 MiB may expand to TiB
		return page{}, &UnusableError{"The Parquet file is encoded as DELTA_BYTE_ARRAY; write it with PLAIN or a dictionary."}
	case p.values < 0 || p.values == 0 && !p.dictionary:
		return page{}, errors.New("a page has no values")
	case p.dictionary && (p.encoding != parquetformat.Plain && p.encoding != plainDictionary ||
		p.values*leaf.width > p.size):
		return page{}, errors.New("not a dictionary")
	}
	return p, nil
}

// memory is how many bytes the page takes.
func (p *page) memory() int64 {
	switch {
	case p.dictionary:
		return p.held
	case p.encoding == parquetformat.Plain, p.indexed():
		return p.held + p.values*valueBytes
	default: // the values are decoded into memory of their own
		return p.held + p.values*(valueBytes+p.leaf.width)
	}
}

// indexed tells whether the values of the page are indexes into a dictionary.
func (p *page) indexed() bool {
	return p.encoding == plainDictionary || p.encoding == parquetformat.RLEDictionary
}

// check checks that the page has no more than its header says. Other damage is for the library to find.
func (p *page) check(codec parquetformat.CompressionCodec, content io.Reader) (err error) {
	r := bufio.NewReader(content)
	if !p.v1 {
		if err := p.checkLevels(r); err != nil {
			return err
		}
		p.size -= p.levels[0].length + p.levels[1].length
	}
	if !p.compressed {
		codec = parquetformat.Uncompressed
	}
	expanded, err := expand(codec, r, p.size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, expanded.Close()) }()
	limited := &io.LimitedReader{R: expanded, N: max(0, p.size) + 1}
	r = bufio.NewReader(limited)
	if p.v1 {
		if err := p.checkLevels(r); err != nil {
			return err
		}
	}
	if err := p.checkValues(r); err != nil {
		return err
	}
	if _, err = io.Copy(io.Discard, r); err == nil && limited.N == 0 {
		err = errors.New("a page expands to more than it says")
	}
	return err
}

// checkLevels reads the levels.
func (p *page) checkLevels(r io.Reader) error {
	for i, l := range p.levels {
		if p.v1 {
			if l.most == 0 {
				continue
			}
			var length [4]byte
			if _, err := io.ReadFull(r, length[:]); err != nil {
				return err
			}
			l.length = int64(binary.LittleEndian.Uint32(length[:]))
		}
		section := bufio.NewReader(io.LimitReader(r, l.length))
		if l.most > 0 {
			if l.encoding != parquetformat.RLE {
				return fmt.Errorf("levels are encoded as %s", l.encoding)
			}
			var each func(level byte, count int64)
			if i == 0 {
				each = p.rows.add
			}
			if err := checkRuns(section, bits.Len(uint(l.most)), p.values, each); err != nil {
				return err
			}
		}
		if _, err := io.Copy(io.Discard, section); err != nil {
			return err
		}
	}
	return nil
}

// checkValues reads as much of the values as is needed to count them.
func (p *page) checkValues(r *bufio.Reader) error {
	if p.indexed() {
		width, err := r.ReadByte()
		if err != nil {
			return unlessEnd(err)
		}
		return checkRuns(r, int(width), p.values, nil)
	}
	switch p.encoding {
	case parquetformat.Plain, parquetformat.ByteStreamSplit:
		return nil
	case parquetformat.RLE:
		_, _ = r.Discard(4) // its length
		return checkRuns(r, 1, p.values, nil)
	case parquetformat.DeltaBinaryPacked, parquetformat.DeltaLengthByteArray:
		var header [3]uint64 // values of a block, its parts, and all values
		for i := range header {
			header[i], _ = binary.ReadUvarint(r)
		}
		if header[2] > uint64(p.values) { //nolint:gosec // values are not negative
			return errValues
		}
		return nil
	default:
		return fmt.Errorf("values cannot be encoded as %s", p.encoding)
	}
}

var errValues = errors.New("a page has more values than it says")

// checkRuns checks that runs of the hybrid RLE and bit-packing encoding have no more values than the page, but for some padding:
// a run of a few bytes may have 2^31 values, all of which the library decodes. It calls each, unless that is nil, with the
// values, which then have at most 8 bits.
//
// Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
func checkRuns(r *bufio.Reader, width int, values int64, each func(value byte, count int64)) error {
	const padding = 1 << 10
	for left := uint64(values + padding); ; { //nolint:gosec // values are not negative
		head, err := binary.ReadUvarint(r)
		if err != nil {
			return unlessEnd(err)
		}
		run, packed := head>>1, head&1 == 1
		if run > left || packed && 8*run > left {
			return errValues
		}
		switch {
		case run == 0: // nothing follows
		case packed:
			left -= 8 * run
			err = unpack(r, width, int(run), each)
		default:
			left -= run
			err = repeat(r, (width+7)/8, int64(run), each)
		}
		if err != nil {
			return unlessEnd(err)
		}
	}
}

// repeat reads the value of an RLE run, which has this many bytes.
func repeat(r *bufio.Reader, length int, count int64, each func(value byte, count int64)) error {
	if each == nil {
		_, err := r.Discard(length)
		return err
	}
	value, err := r.ReadByte()
	if err == nil {
		each(value, count)
	}
	return err
}

// unpack reads a bit-packed run: groups of 8 values.
func unpack(r *bufio.Reader, width, groups int, each func(value byte, count int64)) error {
	if each == nil {
		_, err := r.Discard(width * groups)
		return err
	}
	for range groups {
		var group [8]byte
		if _, err := io.ReadFull(r, group[:width]); err != nil {
			return err
		}
		for i, b := 0, binary.LittleEndian.Uint64(group[:]); i < 8; i, b = i+1, b>>width {
			each(byte(b&(1<<width-1)), 1) //nolint:gosec // of at most 8 bits
		}
	}
	return nil
}

// unlessEnd is nil for the end of a page, and else the error.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// expand decompresses the content of a page. A codec that decompresses into memory fails if there are more bytes than most.
func expand(codec parquetformat.CompressionCodec, content io.Reader, most int64) (io.ReadCloser, error) {
	switch codec {
	case parquetformat.Uncompressed:
		return io.NopCloser(content), nil
	case parquetformat.Snappy:
		b, err := io.ReadAll(content)
		if err != nil {
			return nil, err
		}
		if n, err := snappy.DecodedLen(b); err != nil || int64(n) > most {
			return nil, errors.Join(err, errors.New("a page expands to more than it says"))
		}
		b, err = snappy.Decode(nil, b)
		return io.NopCloser(bytes.NewReader(b)), err
	case parquetformat.Gzip:
		return gzip.NewReader(content)
	case parquetformat.Zstd:
		r, err := zstd.NewReader(content,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(pagesBytes), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return r.IOReadCloser(), nil
	default:
		const text = "The Parquet file is compressed with %s; write it with SNAPPY, GZIP, ZSTD or no compression."
		return nil, &UnusableError{fmt.Sprintf(text, codec)}
	}
}
