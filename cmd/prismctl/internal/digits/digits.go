// Package digits shortens numbers for people: at most four significant digits.
package digits

import (
	"bytes"
	"strconv"

	"github.com/prism-results/prism/client"
)

// Short writes a number with at most four significant digits and without an exponent.
func Short(f float64) string {
	return strconv.FormatFloat(Round(f), 'f', -1, 64)
}

// Round rounds a number to four significant digits.
func Round(f float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64)
	if err != nil {
		return f
	}
	return short
}

// Answers rounds the numbers of a result's Lens columns.
func Answers(answers client.Answers) client.Answers {
	short := make(client.Answers, len(answers))
	for i, one := range answers {
		if f, ok := one.Value.(float64); ok {
			one.Value = Round(f)
		}
		short[i] = one
	}
	return short
}

// Rows rounds the numbers of csv and tsv rows. Only Lens columns hold numbers: a field or an option label that looks like
// a number is text.
type Rows struct {
	separator byte
	names     map[string]bool // Lens columns that show a number
	columns   []bool          // by their place in the row; nil until the header row
}

// NewRows is for the rows of a prism in csv or tsv, the header row first.
func NewRows(p client.Prism, f client.Format) *Rows {
	r := &Rows{separator: ',', names: map[string]bool{}}
	if f == client.TSV {
		r.separator = '\t'
	}
	for _, c := range p.Lens.Columns {
		r.names[c.Name] = c.Show != client.ShowAnswer
	}
	return r
}

// Row returns a complete row with shorter numbers.
func (r *Rows) Row(row []byte) []byte {
	content := bytes.TrimRight(row, "\r\n")
	end := row[len(content):]
	header := r.columns == nil
	short := make([]byte, 0, len(row))
	for i, cell := range r.cells(content) {
		if i > 0 {
			short = append(short, r.separator)
		}
		switch {
		case header:
			r.columns = append(r.columns, r.names[string(cell)]) // a Lens column's name needs no quotes
		case i < len(r.columns) && r.columns[i]:
			if f, err := strconv.ParseFloat(string(cell), 64); err == nil {
				cell = []byte(Short(f))
			}
		}
		short = append(short, cell...)
	}
	return append(short, end...)
}

// One rounds the numbers of a table with one row.
func One(p client.Prism, f client.Format, table []byte) []byte {
	r := NewRows(p, f)
	header := bytes.IndexByte(table, '\n') + 1
	return append(r.Row(table[:header]), r.Row(table[header:])...)
}

// cells splits a row into cells as they are written. Only csv has quotes; in tsv they are text.
func (r *Rows) cells(row []byte) (cells [][]byte) {
	begin, quoted := 0, false
	for i, b := range row {
		switch {
		case b == '"' && r.separator == ',':
			quoted = !quoted
		case b == r.separator && !quoted:
			cells = append(cells, row[begin:i])
			begin = i + 1
		}
	}
	return append(cells, row[begin:])
}
