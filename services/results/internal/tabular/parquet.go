package tabular

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
)

// footerBytes is how large the metadata of a Parquet file may be (spec: file-parquet).
const footerBytes = 8 << 20

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
	// The library trusts what a file says of itself, so all of it is checked first.
	fields, leaves, err := checkParquet(s, size-8-int64(binary.LittleEndian.Uint32(end[:])), size-8)
	if err != nil {
		return Layout{}, s.problem(err, damagedParquet)
	}
	file, err := parquet.OpenFile(s, size,
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
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
	table := &parquetTable{
		fields: fields, columns: make([][]parquet.Value, len(leaves)), copies: copies, batch: make([]parquet.Row, rowsAtOnce(leaves)),
	}
	for _, group := range file.RowGroups() {
		if group.NumRows() == 0 {
			continue
		}
		if err := table.read(group.Rows()); err != nil {
			return Layout{}, s.problem(err, damagedParquet)
		}
	}
	return copies.layout, nil
}

// withoutRow replaces "Row 0" in a problem of the header, which is no row.
func withoutRow(err error) error {
	var u *UnusableError
	if errors.As(err, &u) {
		return &UnusableError{"Columns: " + u.Text[len("Row 0: "):]}
	}
	return err
}

// parquetTable copies rows.
type parquetTable struct {
	fields  []*parquetField
	columns [][]parquet.Value // of the row, by leaf
	copies  *copier
	number  int64 // of the row
	cells   []string
	text    []byte
	batch   []parquet.Row
}

// rowsAtOnce is how many rows are read together: fewer where they are long.
func rowsAtOnce(leaves []*parquetField) int64 {
	const most, bytes = 16, 16 << 20
	row := int64(1)
	for _, leaf := range leaves {
		row += leaf.longest * cellBytes
	}
	return min(most, 1+bytes/row)
}

func (t *parquetTable) read(rows parquet.Rows) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		n, err := rows.ReadRows(t.batch)
		for _, row := range t.batch[:n] {
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
			return rowTooLarge("Row", t.number)
		}
		t.cells = append(t.cells, string(t.text))
	}
	if err := t.copies.row(t.number, t.cells); err != nil {
		return ownError{err}
	}
	return nil
}
