package tabular

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"
)

// What a Parquet file may take of memory, whatever its pages say (spec: file-parquet).
const (
	footerBytes = 8 << 20
	pagesBytes  = 96 << 20 // of the largest pages of all columns, which are in memory together
	valueBytes  = 6        // that a value takes beside its page: its levels and its place in the dictionary
	headerBytes = 8 << 20  // of a page's header, which may have the smallest and the largest value
)

const (
	noParquet      = "Not a Parquet file (.parquet)."
	damagedParquet = "The Parquet file is damaged, or is of a kind that cannot be read."
)

// readParquet reads a Parquet file.
func readParquet(src *io.SectionReader, to io.Writer, c *chunker) (layout Layout, err error) {
	c.place = "Row"
	s := &source{ctx: c.ctx, file: src, left: -1}
	defer func() {
		if r := recover(); r != nil { // the library panics on some damaged files
			layout, err = Layout{}, s.problem(errors.New("panic"), damagedParquet)
		}
	}()
	size := src.Size()
	var end [8]byte
	if size < 12 {
		return Layout{}, &UnusableError{noParquet}
	}
	if _, err := s.ReadAt(end[:], size-8); err != nil {
		return Layout{}, s.problem(err, noParquet)
	}
	switch {
	case string(end[4:]) == "PARE":
		return Layout{}, &UnusableError{"The Parquet file is encrypted."}
	case string(end[4:]) != "PAR1":
		return Layout{}, &UnusableError{noParquet}
	case binary.LittleEndian.Uint32(end[:]) > footerBytes:
		return Layout{}, &UnusableError{"The footer of the Parquet file is larger than 8 MiB."}
	}
	file, err := parquet.OpenFile(s, size,
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return Layout{}, s.problem(err, damagedParquet)
	}
	fields, leaves, err := parquetFields(file.Metadata().Schema)
	if err != nil {
		return Layout{}, s.problem(err, damagedParquet)
	}
	if err := checkPages(s, file.Metadata(), leaves); err != nil {
		return Layout{}, s.problem(err, damagedParquet)
	}
	copies := &copier{chunker: c, to: to}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if err := copies.header(0, names); err != nil {
		return Layout{}, withoutRow(err)
	}
	table := &parquetTable{fields: fields, columns: make([][]parquet.Value, leaves), copies: copies}
	for _, group := range file.RowGroups() {
		if group.NumRows() == 0 {
			continue
		}
		if err := table.read(group.Rows()); err != nil {
			var mine own
			if errors.As(err, &mine) && s.fault == nil {
				return Layout{}, mine.error
			}
			return Layout{}, s.problem(err, damagedParquet)
		}
	}
	return copies.layout, nil
}

// withoutRow is a problem of the header, which is no row.
func withoutRow(err error) error {
	var u *UnusableError
	if errors.As(err, &u) {
		return &UnusableError{"Columns: " + u.Text[len("Row 0: "):]}
	}
	return err
}

// parquetTable reads rows.
type parquetTable struct {
	fields  []*parquetField
	columns [][]parquet.Value // of the row, by leaf
	copies  *copier
	number  int64 // of the row
	cells   []string
	text    []byte
}

func (t *parquetTable) read(rows parquet.Rows) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	batch := make([]parquet.Row, 16)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			t.number++
			if err := t.row(row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}

func (t *parquetTable) row(row parquet.Row) error {
	for i := range t.columns {
		t.columns[i] = t.columns[i][:0]
	}
	for _, v := range row {
		t.columns[v.Column()] = append(t.columns[v.Column()], v)
	}
	t.cells = t.cells[:0]
	total := 0
	for _, f := range t.fields {
		t.text = f.append(t.text[:0], t.columns, false)
		if total += len(t.text); total > MaxRowBytes {
			return own{unusable("Row", t.number, "a row may have 1 MiB.")}
		}
		t.cells = append(t.cells, string(t.text))
	}
	if err := t.copies.row(t.number, t.cells); err != nil {
		return own{err}
	}
	return nil
}

// checkPages reads the headers of all pages, and refuses those that take more memory than there is. A page that is compressed is
// expanded without being kept, because a library trusts the size in its header.
func checkPages(s *source, metadata *parquetformat.FileMetaData, leaves int) error {
	largest := make([]int64, leaves)
	for _, group := range metadata.RowGroups {
		if len(group.Columns) != leaves {
			return errors.New("a row group lacks columns")
		}
		for i, column := range group.Columns {
			m := column.MetaData
			at := m.DataPageOffset
			if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < at {
				at = m.DictionaryPageOffset
			}
			var dictionary, page int64
			for values := int64(0); values < m.NumValues; {
				header, length, err := pageHeader(s, at)
				if err != nil {
					return err
				}
				held := int64(header.UncompressedPageSize)
				body, count, err := pageBody(header)
				if err != nil {
					return err
				}
				values += count
				if header.Type == parquetformat.DictionaryPage {
					dictionary = max(dictionary, held)
				} else {
					page = max(page, held+valueBytes*count)
				}
				largest[i] = max(largest[i], dictionary+page)
				if total(largest) > pagesBytes {
					return &UnusableError{"The pages of the Parquet file are too large to be read; write smaller ones."}
				}
				if header.CompressedPageSize < int32(body) { //nolint:gosec // body is below 2^31, see pageBody
					return errors.New("a page is too short")
				}
				content := io.NewSectionReader(s, at+length+body, int64(header.CompressedPageSize)-body)
				if v := header.DataPageHeaderV2; !v.Valid || !v.V.IsCompressed.Valid || v.V.IsCompressed.V {
					if err := checkExpanded(m.Codec, content, held-body); err != nil {
						return err
					}
				}
				at += length + int64(header.CompressedPageSize)
			}
		}
	}
	return nil
}

func total(sizes []int64) (sum int64) {
	for _, n := range sizes {
		sum += n
	}
	return sum
}

// pageHeader is the header of the page at a place, and the length of the header.
func pageHeader(s *source, at int64) (header parquetformat.PageHeader, length int64, err error) {
	r := &countingReader{from: io.NewSectionReader(s, at, headerBytes)}
	if err = thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(r)).Decode(&header); err != nil {
		return header, 0, err
	}
	if header.CompressedPageSize < 0 || header.UncompressedPageSize < 0 {
		return header, 0, errors.New("a page has a negative size")
	}
	return header, r.count, nil
}

// pageBody is how many bytes of a page come before those that are compressed, and how many values it has.
func pageBody(h parquetformat.PageHeader) (before, values int64, err error) {
	var encoding parquetformat.Encoding
	switch {
	case h.DataPageHeaderV2.Valid:
		v := h.DataPageHeaderV2.V
		before, values = int64(v.RepetitionLevelsByteLength)+int64(v.DefinitionLevelsByteLength), int64(v.NumValues)
		encoding = v.Encoding
		if v.RepetitionLevelsByteLength < 0 || v.DefinitionLevelsByteLength < 0 {
			return 0, 0, errors.New("a page has levels of a negative length")
		}
	case h.DataPageHeader.Valid:
		values, encoding = int64(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	}
	if encoding == parquetformat.DeltaByteArray { // a page of 1 MiB may expand to TiB
		return 0, 0, &UnusableError{"The Parquet file is encoded as DELTA_BYTE_ARRAY; write it with PLAIN or a dictionary."}
	}
	if values < 0 || values == 0 && h.Type != parquetformat.DictionaryPage && h.Type != parquetformat.IndexPage {
		return 0, 0, errors.New("a page has no values")
	}
	return before, values, nil
}

// checkExpanded checks that content expands to no more bytes than most.
func checkExpanded(codec parquetformat.CompressionCodec, content *io.SectionReader, most int64) error {
	var expanded io.Reader
	switch codec {
	case parquetformat.Uncompressed:
		return nil
	case parquetformat.Snappy:
		var start [binary.MaxVarintLen64]byte
		n, _ := content.ReadAt(start[:], 0)
		if size, n := binary.Uvarint(start[:n]); n <= 0 || size > uint64(most) { //nolint:gosec // most is not negative
			return errors.New("a page expands to more than it says")
		}
		return nil
	case parquetformat.Gzip:
		r, err := gzip.NewReader(content)
		if err != nil {
			return err
		}
		expanded = r
	case parquetformat.Zstd:
		r, err := zstd.NewReader(content,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(pagesBytes), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		defer r.Close()
		expanded = r
	default:
		const text = "The Parquet file is compressed with %s; write it with SNAPPY, GZIP, ZSTD or no compression."
		return &UnusableError{fmt.Sprintf(text, codec)}
	}
	n, err := io.Copy(io.Discard, io.LimitReader(expanded, most+1))
	if err == nil && n > most {
		err = errors.New("a page expands to more than it says")
	}
	return err
}

// countingReader reads small pieces of a file through a buffer, and counts what was taken.
type countingReader struct {
	from   *io.SectionReader
	count  int64
	buffer []byte // not taken yet
	at     int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	if len(r.buffer) == 0 {
		buffer := make([]byte, 512)
		n, err := r.from.ReadAt(buffer, r.at)
		if n == 0 {
			return 0, err
		}
		r.buffer, r.at = buffer[:n], r.at+int64(n)
	}
	n := copy(p, r.buffer)
	r.buffer, r.count = r.buffer[n:], r.count+int64(n)
	return n, nil
}

// ReadByte implements io.ByteReader, so that the decoder needs no buffer of its own.
func (r *countingReader) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}
