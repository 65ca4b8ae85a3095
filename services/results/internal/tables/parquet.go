package tables

import (
	"fmt"
	"io"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// errNoRoom is a table of Parquet for which the budget of responses has no room: nothing was sent of it (spec: parquet-row-groups).
var errNoRoom = fmt.Errorf("%w: no room for a row group", contract.ErrUnavailable)

// parquetExport writes an export as a table of Parquet: the columns of jsonl, with its keys (spec: parquet-columns).
type parquetExport struct {
	fields []prism.Field
	table  *tabular.Parquet
	parser answerjson.Parser
	cells  []prism.Cell
	buffer []byte // what the table writes goes behind it
}

func newParquet(t format.Table, raw bool, room func(held int) bool) (*parquetExport, error) {
	columns := []tabular.ParquetColumn{
		{Name: "result_id"},
		{Name: "ref"},
		{Name: "version", Type: tabular.ParquetDouble},
		{Name: "status", Type: tabular.ParquetKey},
		{Name: "error"},
		{Name: "created_at", Type: tabular.ParquetUTC},
	}
	for _, f := range t.Latest.Fields {
		columns = append(columns, tabular.ParquetColumn{Name: f.Key})
	}
	for _, c := range t.Lens.Columns {
		columns = append(columns, tabular.ParquetColumn{Name: c.Name, Type: typeOfColumn(c)})
	}
	x := &parquetExport{fields: t.Latest.Fields}
	var err error
	x.table, err = beginParquet(x, columns, raw, room)
	return x, err
}

// beginParquet begins a table if there is room for its first row group.
func beginParquet(to io.Writer, columns []tabular.ParquetColumn, raw bool, room func(held int) bool) (*tabular.Parquet, error) {
	name := ""
	if raw {
		name = freeName("raw", columns)
	}
	t, err := tabular.NewParquet(to, columns, name, room)
	if err == nil && !room(t.Least()+store.PageBytes) {
		return nil, errNoRoom
	}
	return t, err
}

// freeName is a name with the prefix prism_ as often as a column has it.
func freeName(name string, columns []tabular.ParquetColumn) string {
	for i := 0; i < len(columns); i++ {
		if columns[i].Name == name {
			name, i = "prism_"+name, -1
		}
	}
	return name
}

// typeOfColumn is the type of a column of a Lens.
func typeOfColumn(c prism.Column) tabular.ParquetType {
	if c.Show == prism.ShowAnswer {
		return tabular.ParquetKey
	}
	return tabular.ParquetDouble
}

// Write implements io.Writer for the table.
func (x *parquetExport) Write(b []byte) (int, error) {
	x.buffer = append(x.buffer, b...)
	return len(b), nil
}

// Grow makes room for what the table writes next, so that the buffer is not copied while it grows.
func (x *parquetExport) Grow(n int) {
	if cap(x.buffer)-len(x.buffer) < n {
		x.buffer = append(make([]byte, 0, len(x.buffer)+n), x.buffer...)
	}
}

// Held is how many bytes the table holds in memory, without what it has written.
func (x *parquetExport) HeldBytes() int { return x.table.HeldBytes() }

// Header appends what the table begins with.
func (x *parquetExport) Header(b []byte) []byte { return append(b, x.buffer...) }

// Row appends what a row adds to the table: nothing until a row group ends.
func (x *parquetExport) Row(b []byte, r format.Row) (_ []byte, err error) {
	var answers prism.Answers
	var raw *prism.Answers
	if r.Result.Status != prism.Failed {
		if answers, err = x.parser.Parse(r.Result.Answers); err != nil {
			return b, fmt.Errorf("result %s: %w", r.Result.ID, err)
		}
		raw = &answers
	}
	x.cells = append(x.cells[:0], textCell(r.Result.ID.String()), optionalCell(r.Result.Ref), numberCell(float64(r.Result.Version)),
		textCell(string(r.Result.Status)), prism.Cell{}, numberCell(float64(r.Result.CreatedAt.UnixMilli())))
	if raw == nil {
		x.cells[4] = textCell(r.Result.Error)
	}
	for i, f := range x.fields {
		cell := prism.Cell{}
		if value, ok := format.Field(&r.Result, f.Key, i); ok {
			cell = textCell(value)
		}
		x.cells = append(x.cells, cell)
	}
	x.cells = r.Plan.Cells(x.cells, answers)
	x.buffer = b
	err = x.table.Row(x.cells, raw)
	return x.buffer, err
}

// End appends the end of the table.
func (x *parquetExport) End(b []byte) ([]byte, error) {
	x.buffer = b
	err := x.table.Close()
	return x.buffer, err
}

func numberCell(n float64) prism.Cell { return prism.Cell{Kind: prism.NumberCell, Number: n} }

func optionalCell(text *string) prism.Cell {
	if text == nil {
		return prism.Cell{}
	}
	return textCell(*text)
}
