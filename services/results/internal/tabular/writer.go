package tabular

import (
	"fmt"
	"io"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/format"
)

// Writer writes rows of a file with columns that were added to them.
type Writer interface {
	// Row writes a row and its added cells: their labels, or in jsonl their keys.
	Row(original Row, added []prism.Cell) error
	// Close writes the end of the table. It does not close what the Writer writes to.
	Close() error
}

// NewWriter begins a table of the columns of a file and added ones, whose names must differ.
func NewWriter(f prism.RowsFormat, style api.TextStyle, to io.Writer, columns, added []Column) (Writer, error) {
	all := slices.Concat(columns, added)
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	switch f {
	case prism.RowsCSV, prism.RowsTSV:
		return newTextWriter(f, style, to, names)
	case prism.RowsJSONL:
		w := &lineWriter{to: to}
		for _, name := range names {
			w.names = append(w.names, append(strictjson.AppendString(nil, name), ':'))
		}
		return w, nil
	case prism.RowsXLSX:
		return newSheetWriter(to, all, sheetRows)
	case prism.RowsParquet: // see NewParquet
	}
	return nil, fmt.Errorf("tabular: unknown format %q", f)
}

// ContentType is the media type of a format of rows (spec: run-rows-formats).
func ContentType(f prism.RowsFormat) string {
	switch f { //nolint:exhaustive // the others are formats of results too
	case prism.RowsXLSX:
		return api.WorkbookMedia.Type
	case prism.RowsParquet:
		return api.ParquetMedia.Type
	}
	return format.ContentType(contract.Format(f))
}

// textWriter writes csv and tsv (spec: csv-cells, tsv-cells).
type textWriter struct {
	format.Separated
	to     io.Writer
	buffer []byte
}

func newTextWriter(f prism.RowsFormat, style api.TextStyle, to io.Writer, names []string) (Writer, error) {
	w := &textWriter{to: to, Separated: format.NewSeparated(contract.Format(f), style)}
	w.buffer = w.Begin(nil)
	return w, w.write(Row{Cells: names}, nil)
}

func (w *textWriter) Row(original Row, added []prism.Cell) error {
	w.buffer = w.buffer[:0]
	return w.write(original, added)
}

// write writes a row behind what is in the buffer.
func (w *textWriter) write(original Row, added []prism.Cell) error {
	b := w.buffer
	for _, text := range original.Cells {
		b = w.Next(w.Text(b, text))
	}
	for i := range added {
		b = w.Next(w.Cell(b, &added[i]))
	}
	w.buffer = w.End(b[:len(b)-1]) // a table has one column or more
	_, err := w.to.Write(w.buffer)
	return err
}

func (*textWriter) Close() error { return nil }

// lineWriter writes jsonl (spec: jsonl-rows). Values of a file of jsonl are written as they came.
type lineWriter struct {
	to     io.Writer
	names  [][]byte // as JSON strings with their colon
	buffer []byte
}

func (w *lineWriter) Row(original Row, added []prism.Cell) error {
	b := w.buffer[:0]
	for i, name := range w.names {
		b = append(append(b, ','), name...)
		if i >= len(original.Cells) {
			b = format.AppendValue(b, added[i-len(original.Cells)])
			continue
		}
		switch {
		case original.JSON == nil:
			b = strictjson.AppendString(b, original.Cells[i])
		case original.Absent(i):
			b = append(b, "null"...)
		default:
			b = append(b, original.JSON[i]...)
		}
	}
	b[0] = '{' // in place of the comma: a table has one column or more
	b = append(b, "}\n"...)
	w.buffer = b
	_, err := w.to.Write(w.buffer)
	return err
}

func (*lineWriter) Close() error { return nil }
