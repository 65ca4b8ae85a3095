package tabular

import (
	"fmt"
	"io"

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
func NewWriter(f prism.RowsFormat, to io.Writer, columns []Column, added []string) (Writer, error) {
	names := make([]string, 0, len(columns)+len(added))
	for _, c := range columns {
		names = append(names, c.Name)
	}
	names = append(names, added...)
	switch f {
	case prism.RowsCSV:
		return newTextWriter(to, names, textWriter{cell: format.AppendCSV, separator: ",", end: "\r\n"})
	case prism.RowsTSV:
		return newTextWriter(to, names, textWriter{cell: format.AppendTSV, separator: "\t", end: "\n"})
	case prism.RowsJSONL:
		w := &lineWriter{to: to}
		for _, name := range names {
			w.names = append(w.names, append(strictjson.AppendString(nil, name), ':'))
		}
		return w, nil
	case prism.RowsXLSX:
		return newSheetWriter(to, names, sheetRows)
	}
	return nil, fmt.Errorf("tabular: unknown format %q", f)
}

// ContentType is the media type of a format of rows (spec: run-rows-formats).
func ContentType(f prism.RowsFormat) string {
	if f == prism.RowsXLSX {
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	return format.ContentType(contract.Format(f))
}

// textWriter writes csv and tsv (spec: csv-cells, tsv-cells).
type textWriter struct {
	to             io.Writer
	cell           func(b []byte, text string) []byte
	separator, end string
	buffer         []byte
}

func newTextWriter(to io.Writer, names []string, w textWriter) (Writer, error) {
	w.to = to
	return &w, w.Row(Row{Cells: names}, nil)
}

func (w *textWriter) Row(original Row, added []prism.Cell) error {
	b := w.buffer[:0]
	for _, text := range original.Cells {
		b = append(w.cell(b, text), w.separator...)
	}
	for _, c := range added {
		switch c.Kind {
		case prism.NumberCell:
			b = prism.AppendNumber(b, c.Number)
		case prism.TextCell:
			b = w.cell(b, c.Label)
		case prism.NullCell: // an empty value is an empty cell
		}
		b = append(b, w.separator...)
	}
	b = append(b[:len(b)-len(w.separator)], w.end...) // a table has one column or more
	w.buffer = b
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
