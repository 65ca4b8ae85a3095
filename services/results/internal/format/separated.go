package format

import (
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Separated writes rows of csv and tsv: the same cells with other separators (spec: csv-cells, tsv-cells). encoding/csv can't be used:
// it rewrites line breaks inside cells and quotes cells that need no quotes.
type Separated struct {
	begin     string
	delimiter byte
	end       string // of a row
	quoted    string // what a cell has that is quoted; "": no cell is
	safe      bool
}

// NewSeparated is how csv or tsv is written.
func NewSeparated(f contract.Format, style api.TextStyle) Separated {
	s := Separated{delimiter: ',', end: "\r\n", quoted: quotedCSV, safe: style.Safe}
	if f == contract.TSV {
		s = Separated{delimiter: '\t', end: "\n", safe: style.Safe}
	}
	if style.Delimiter != "" {
		s.delimiter, s.quoted = style.Delimiter[0], string(style.Delimiter)+"\"\r\n"
	}
	if style.BOM {
		s.begin = "\ufeff"
	}
	return s
}

// Begin appends what is before the header.
func (s *Separated) Begin(b []byte) []byte { return append(b, s.begin...) }

// Next appends what is between two cells.
func (s *Separated) Next(b []byte) []byte { return append(b, s.delimiter) }

// End ends a row.
func (s *Separated) End(b []byte) []byte { return append(b, s.end...) }

// Text appends a cell that is a text.
func (s *Separated) Text(b []byte, text string) []byte {
	if s.safe && isFormula(text) {
		text = "'" + text
	}
	if s.quoted == "" {
		return AppendTSV(b, text)
	}
	return appendQuoted(b, text, s.quoted)
}

// isFormula tells whether a spreadsheet could take a text for a formula (spec: rows-for-people).
func isFormula(text string) bool {
	return text != "" && strings.IndexByte("=+-@\t\r", text[0]) >= 0 && !IsNumber(text)
}

// Cell appends a cell of an answer.
func (s *Separated) Cell(b []byte, c *prism.Cell) []byte {
	switch c.Kind {
	case prism.NumberCell:
		return prism.AppendNumber(b, c.Number)
	case prism.TextCell:
		return s.Text(b, c.Label)
	case prism.NullCell: // an empty value is an empty cell
	}
	return b
}

// Header appends the header row of csv and tsv. The other formats have none.
func (e *Encoder) Header(b []byte) []byte {
	if e.format != contract.CSV && e.format != contract.TSV {
		return b
	}
	b = e.text.Begin(b)
	for i, name := range prism.ReservedNames() {
		if i > 0 {
			b = e.text.Next(b)
		}
		b = e.text.Text(b, name)
	}
	for _, f := range e.table.Latest.Fields {
		b = e.text.Text(e.text.Next(b), f.Key)
	}
	for _, c := range e.table.Lens.Columns {
		b = e.text.Text(e.text.Next(b), c.Name)
	}
	return e.text.End(b)
}

// separated appends a row of csv or tsv.
func (e *Encoder) separated(b []byte, r *prism.Result, cells []prism.Cell) []byte {
	b, _ = r.ID.AppendText(b) // never fails
	b = e.text.Next(b)
	if r.Ref != nil {
		b = e.text.Text(b, *r.Ref)
	}
	b = strconv.AppendInt(e.text.Next(b), int64(r.Version), 10)
	b = append(e.text.Next(b), r.Status...)
	b = e.text.Next(b)
	if text := errorText(r); text != nil {
		b = e.text.Text(b, *text)
	}
	b = prism.AppendTime(e.text.Next(b), r.CreatedAt)
	for i, f := range e.table.Latest.Fields {
		value, _ := Field(r, f.Key, i)
		b = e.text.Text(e.text.Next(b), value)
	}
	for i := range cells {
		b = e.text.Cell(e.text.Next(b), &cells[i])
	}
	return e.text.End(b)
}

// End appends what follows the last row, which is nothing.
func (*Encoder) End(b []byte) ([]byte, error) { return b, nil }

// AppendCSV quotes a cell that holds a comma, a quote or a line break, with quotes doubled; every other cell, and every
// byte inside the quotes, is unchanged (spec: csv-cells).
func AppendCSV(b []byte, text string) []byte { return appendQuoted(b, text, quotedCSV) }

// quotedCSV is what a cell of csv has that is quoted.
const quotedCSV = ",\"\r\n"

func appendQuoted(b []byte, text, quoted string) []byte {
	if !strings.ContainsAny(text, quoted) {
		return append(b, text...)
	}
	b = append(b, '"')
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			break
		}
		b = append(b, text[:i]...)
		b = append(b, '"', '"')
		text = text[i+1:]
	}
	b = append(b, text...)
	return append(b, '"')
}

// AppendTSV replaces each tab, LF, CR or CRLF by one space (spec: tsv-cells). Format tsv has no quotes.
func AppendTSV(b []byte, text string) []byte {
	for {
		i := strings.IndexAny(text, "\t\r\n")
		if i < 0 {
			return append(b, text...)
		}
		b = append(b, text[:i]...)
		b = append(b, ' ')
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		text = text[i+1:]
	}
}

// IsNumber tells whether a cell is nothing but a number in digits, such as -12.5 or 1e9.
func IsNumber(text string) bool {
	digits := func() bool {
		rest := strings.TrimLeft(text, "0123456789")
		some := len(rest) < len(text)
		text = rest
		return some
	}
	text = strings.TrimPrefix(text, "-")
	whole := digits()
	if strings.HasPrefix(text, ".") {
		text = text[1:]
		whole = digits() || whole
	}
	if !whole || text == "" || text[0] != 'e' && text[0] != 'E' {
		return whole && text == ""
	}
	if text = text[1:]; text != "" && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	return digits() && text == ""
}
