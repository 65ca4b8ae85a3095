// Package digits shortens numbers for people: at most four significant digits.
package digits

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/prism-results/prism/client"
)

// Short writes a number with at most four significant digits and without an exponent.
func Short(f float64) string {
	return strconv.FormatFloat(Round(f), 'f', -1, 64)
}

// Round rounds a number to four significant digits.
func Round(f float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64) // reads what FormatFloat wrote
	return short
}

// Rows rounds the numbers of csv and tsv rows. Only Lens columns hold numbers: a field or an option label that looks like
// a number is text.
type Rows struct {
	format  client.Format
	style   client.TextStyle
	numeric map[string]bool // the names of the columns that hold numbers
	columns []bool          // whether each column holds numbers; nil before the header row
}

// NewRows rounds rows in csv or tsv, the header row first. numeric has the names of the columns that hold numbers.
func NewRows(f client.Format, style client.TextStyle, numeric map[string]bool) *Rows {
	return &Rows{format: f, style: style, numeric: numeric}
}

// Row returns a complete row with shorter numbers.
func (r *Rows) Row(row []byte) []byte {
	content := bytes.TrimRight(row, "\r\n")
	cells := Cells(content, r.format, r.style)
	header := r.columns == nil
	for i, cell := range cells {
		if header {
			r.columns = append(r.columns, r.numeric[strings.TrimPrefix(string(cell), "'")]) // a Lens column's name needs no quotes
		} else if i < len(r.columns) && r.columns[i] {
			if f, err := strconv.ParseFloat(string(cell), 64); err == nil {
				cells[i] = []byte(Short(f))
			}
		}
	}
	return append(bytes.Join(cells, separator(r.format, r.style)), row[len(content):]...)
}

// Quoted tells whether a cell may be quoted: in csv, and in tsv with a delimiter of its own.
func Quoted(f client.Format, style client.TextStyle) bool {
	return f == client.CSV || f == client.TSV && style.Delimiter != ""
}

// Cells splits a row into cells, with their quotes.
func Cells(row []byte, f client.Format, style client.TextStyle) (cells [][]byte) {
	begin, quoted, quotes, between := 0, false, Quoted(f, style), separator(f, style)[0]
	for i, b := range row {
		switch {
		case b == '"' && quotes:
			quoted = !quoted
		case b == between && !quoted:
			cells = append(cells, row[begin:i])
			begin = i + 1
		}
	}
	return append(cells, row[begin:])
}

func separator(f client.Format, style client.TextStyle) []byte {
	switch {
	case style.Delimiter != "":
		return []byte(style.Delimiter)
	case f == client.TSV:
		return []byte("\t")
	}
	return []byte(",")
}
