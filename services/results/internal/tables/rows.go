package tables

import (
	"io"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// Rows writes the rows of a run: the columns of their file, what came of each row, and the columns of the Lens.
type Rows struct {
	plan    *lens.Plan
	writer  tabular.Writer
	parquet *parquetRows // the writer of a table of Parquet
	cells   []prism.Cell
	// answersFirst has the columns of the Lens before the others that are added.
	answersFirst bool
}

// NewRows begins a table of rows, whose file has columns. room is as of NewEncoder.
func NewRows(
	to io.Writer, f prism.RowsFormat, style api.TextStyle, raw bool, columns []tabular.Column, l prism.Lens, p *lens.Plan, room func(held int) bool,
) (*Rows, error) {
	w := &Rows{plan: p, answersFirst: f == prism.RowsXLSX}
	added := addedColumns(columns, l)
	if w.answersFirst {
		added = withHeadings(columns, append(sheetColumns(l), rowColumns("Prism row", "Prism result ID", "Prism status", "Prism error")...))
	}
	var err error
	if f == prism.RowsParquet {
		w.parquet, err = newParquetRows(to, columns, added, l, raw, room)
	} else {
		w.writer, err = tabular.NewWriter(f, style, to, columns, added)
	}
	return w, err
}

// Outcome is what came of a row. Result is zero without one.
type Outcome struct {
	Number  int64
	Result  prism.ResultID
	Status  prism.RowStatus
	Message *string
	Answers *prism.Answers // nil unless the result is ok
}

// Row writes a row.
func (w *Rows) Row(original tabular.Row, o Outcome) error {
	own := [...]prism.Cell{numberCell(float64(o.Number)), {}, textCell(string(o.Status)), optionalCell(o.Message)}
	if !o.Result.IsZero() {
		own[1] = textCell(o.Result.String())
	}
	var answers prism.Answers
	if o.Answers != nil {
		answers = *o.Answers
	}
	if w.answersFirst {
		w.cells = append(w.plan.Apply(w.cells[:0], answers), own[:]...)
	} else {
		w.cells = w.plan.Apply(append(w.cells[:0], own[:]...), answers)
	}
	if w.parquet != nil {
		return w.parquet.row(original, w.cells, o.Answers)
	}
	return w.writer.Row(original, w.cells)
}

// Close writes the end of the table.
func (w *Rows) Close() error {
	if w.parquet != nil {
		return w.parquet.table.Close()
	}
	return w.writer.Close()
}

// HeldBytes is how many bytes the writer holds in memory, without what it has written.
func (w *Rows) HeldBytes() int {
	if w.parquet != nil {
		return w.parquet.table.HeldBytes()
	}
	return HeldBytes(w.writer)
}

// addedColumns are the columns that are added to those of a file (spec: run-rows-columns).
func addedColumns(columns []tabular.Column, l prism.Lens) []tabular.Column {
	return withFreeNames(columns, append(rowColumns("prism_row", "prism_result_id", "prism_status", "prism_error"), lensColumns(l)...))
}

// rowColumns are those of what came of a row.
func rowColumns(row, id, status, failure string) []tabular.Column {
	return []tabular.Column{{Name: row}, {Name: id, Longest: 36}, {Name: status}, {Name: failure, Longest: 40}}
}

// lensColumns are the columns of a Lens.
func lensColumns(l prism.Lens) (columns []tabular.Column) {
	for _, c := range l.Columns {
		column := tabular.Column{Name: c.Name, Longest: 12}
		if c.Show == prism.ShowProbability || c.Show == prism.ShowConfidence {
			column.Look = tabular.LookPercent
		}
		columns = append(columns, column)
	}
	return columns
}

// withFreeNames gives added columns the prefix prism_ as often as a column before them has their name.
func withFreeNames(columns, added []tabular.Column) []tabular.Column {
	taken := map[string]bool{}
	for _, c := range columns {
		taken[c.Name] = true
	}
	for i := range added {
		for taken[added[i].Name] {
			added[i].Name = "prism_" + added[i].Name
		}
		taken[added[i].Name] = true
	}
	return added
}

// parquetRows writes the rows of a run as a table of Parquet: numbers, booleans and dates of the file's columns keep their type, as in a
// workbook (spec: parquet-rows).
type parquetRows struct {
	table *tabular.Parquet
	kinds []tabular.Kind // of the columns of the file
	cells []prism.Cell
}

func newParquetRows(
	to io.Writer, columns, added []tabular.Column, l prism.Lens, raw bool, room func(held int) bool,
) (*parquetRows, error) {
	w := &parquetRows{}
	var all []tabular.ParquetColumn
	for _, c := range columns {
		w.kinds = append(w.kinds, c.Kind)
		all = append(all, tabular.ParquetColumn{Name: c.Name, Type: c.Kind.Parquet()})
	}
	types := []tabular.ParquetType{tabular.ParquetDouble, tabular.ParquetText, tabular.ParquetKey, tabular.ParquetText} // of rowColumns
	for _, c := range l.Columns {
		types = append(types, typeOfColumn(c))
	}
	for i, c := range added {
		all = append(all, tabular.ParquetColumn{Name: c.Name, Type: types[i]})
	}
	var err error
	w.table, err = beginParquet(to, all, raw, room)
	return w, err
}

func (w *parquetRows) row(original tabular.Row, added []prism.Cell, raw *prism.Answers) error {
	w.cells = w.cells[:0]
	for i, kind := range w.kinds {
		w.cells = append(w.cells, original.Cell(i, kind))
	}
	w.cells = append(w.cells, added...)
	return w.table.Row(w.cells, raw)
}
