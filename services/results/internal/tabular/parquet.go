package tabular

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

const (
	noParquet      = "Not a Parquet file (.parquet)."
	damagedParquet = "The metadata of the Parquet file are damaged."
)

// readParquet reads a Parquet file. A library would believe what a file says of itself, and a file of some bytes could take all
// memory (docs/adr/0017-own-parquet-reader.md).
func readParquet(src *io.SectionReader, to io.Writer, c *chunker) (Layout, error) {
	return readParquetIn(spaceMemory, src, to, c)
}

// readParquetIn is readParquet with so many bytes of pages in memory.
func readParquetIn(memory int64, src *io.SectionReader, to io.Writer, c *chunker) (Layout, error) {
	s := &source{ctx: c.ctx, file: src, left: -1}
	size := src.Size()
	var end [8]byte
	if size < 12 {
		return Layout{}, &UnusableError{noParquet}
	}
	if _, err := s.ReadAt(end[:], size-8); err != nil {
		return Layout{}, s.problem(err, noParquet)
	}
	footer := int64(binary.LittleEndian.Uint32(end[:]))
	switch {
	case string(end[4:]) == "PARE":
		return Layout{}, &UnusableError{"The Parquet file is encrypted."}
	case string(end[4:]) != "PAR1":
		return Layout{}, &UnusableError{noParquet}
	case footer > size-12:
		return Layout{}, &UnusableError{damagedParquet}
	}
	t := &parquetTable{copies: &copier{chunker: c, to: to}, end: size - 8 - footer, pages: newPageReader(s, size, memory)}
	defer t.pages.close()
	if err := t.read(io.NewSectionReader(s, t.end, footer)); err != nil {
		return Layout{}, s.problem(err, damagedParquet)
	}
	return t.copies.layout, nil
}

// parquetTable copies rows.
type parquetTable struct {
	copies *copier
	pages  *pageReader
	end    int64 // of the pages in the file
	fields []*parquetField
	row    parquetRow
	number int64 // of the row
	cells  []typed
	text   []byte
}

// read reads the metadata, and each row group when its place is known.
func (t *parquetTable) read(footer *io.SectionReader) error {
	m := thriftReader{from: bufio.NewReaderSize(footer, 64<<10), limit: footer.Size()}
	m.fields(thriftStruct, func(id int64, kind thriftKind) bool {
		switch {
		case id == 2 && t.fields == nil:
			m.fail(t.readSchema(&m, kind))
		case id == 4:
			m.elements(kind, func(kind thriftKind) {
				group := readRowGroup(&m, kind, len(t.row.columns))
				if m.err == nil && group.rows > 0 {
					m.fail(t.copy(group))
				}
			})
		default:
			return false
		}
		return true
	})
	return m.err
}

// What the columns take to read ahead.
const (
	aheadBytes            = 8 << 20
	leastAhead, mostAhead = 4 << 10, 64 << 10
)

func (t *parquetTable) readSchema(m *thriftReader, kind thriftKind) error {
	fields, leaves, err := readSchema(m, kind)
	if err != nil {
		return err
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if t.copies.layout.Columns, err = header("Row", 0, len(names), names); err != nil {
		return withoutRow(err)
	}
	t.copies.layout.Copied = true
	t.fields = fields
	ahead := max(leastAhead, min(mostAhead, aheadBytes/len(leaves)))
	for _, leaf := range leaves {
		c := &parquetColumn{field: leaf, pages: t.pages, in: bufio.NewReaderSize(nil, ahead)}
		c.page.space, c.dictionary.values.space, c.dictionary.ends.space = t.pages.space, t.pages.space, t.pages.space
		t.row.columns = append(t.row.columns, c)
	}
	return nil
}

// withoutRow replaces "Row 0" in a problem of the header, which is no row.
func withoutRow(err error) error {
	if u, ok := errors.AsType[*UnusableError](err); ok {
		return &UnusableError{"Columns: " + u.Text[len("Row 0: "):]}
	}
	return err
}

// copy copies the rows of a row group.
func (t *parquetTable) copy(group rowGroup) error {
	for i, c := range t.row.columns {
		if err := c.open(group.chunks[i], t.end); err != nil {
			t.row.failAt(i, err)
			return t.problem(t.number + 1)
		}
	}
	for range group.rows {
		t.number++
		if err := t.copyRow(); err != nil {
			return err
		}
	}
	t.row.finish()
	return t.problem(t.number)
}

func (t *parquetTable) copyRow() error {
	t.cells = t.cells[:0]
	total := 0
	for _, f := range t.fields {
		t.text = f.append(t.text[:0], &t.row, false)
		if total += len(t.text); total > MaxRowBytes {
			t.row.fail(errRowTooLarge)
		}
		t.cells = append(t.cells, typedOf(f.kind(), string(t.text)))
	}
	t.row.end()
	if err := t.problem(t.number); err != nil {
		return err
	}
	if err := t.copies.row(t.number, t.cells); err != nil {
		return ownError{err}
	}
	return nil
}

// problem is what is wrong with a row.
func (t *parquetTable) problem(number int64) error {
	err := t.row.err
	if reason, ok := errors.AsType[damage](err); ok {
		column := slices.IndexFunc(t.fields, func(f *parquetField) bool { return t.row.leaf < f.leaf+f.leaves })
		return unusable("Row", number, "column %d of the Parquet file cannot be read: %s.", column+1, reason)
	}
	if errors.Is(err, errRowTooLarge) {
		return rowTooLarge("Row", number)
	}
	return err
}
