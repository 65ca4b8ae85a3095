package format

import (
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// separated is csv and tsv: the same cells with different separators. encoding/csv can't be used: it rewrites line breaks
// inside cells and quotes cells that need no quotes.
type separated struct {
	table     Table
	answers   answers
	separator byte
	lineEnd   string
	// cell appends the text of one cell, with the quotes or replacements that the format needs.
	cell func(b []byte, text string) []byte
}

func (s *separated) Header(b []byte) []byte {
	for i, name := range prism.ReservedNames() {
		if i > 0 {
			b = append(b, s.separator)
		}
		b = s.cell(b, name)
	}
	for _, f := range s.table.Latest.Fields {
		b = s.cell(append(b, s.separator), f.Key)
	}
	for _, c := range s.table.Lens.Columns {
		b = s.cell(append(b, s.separator), c.Name)
	}
	return append(b, s.lineEnd...)
}

func (s *separated) Row(b []byte, row Row) ([]byte, error) {
	cells, err := s.answers.of(row)
	if err != nil {
		return b, err
	}
	r := &row.Result
	b, _ = r.ID.AppendText(b) // never fails
	b = append(b, s.separator)
	if r.Ref != nil {
		b = s.cell(b, *r.Ref)
	}
	b = strconv.AppendInt(append(b, s.separator), int64(r.Version), 10)
	b = append(append(b, s.separator), r.Status...)
	b = append(b, s.separator)
	if text := errorText(r); text != nil {
		b = s.cell(b, *text)
	}
	b = prism.AppendTime(append(b, s.separator), r.CreatedAt)
	for i, f := range s.table.Latest.Fields {
		value, _ := field(r, f.Key, i)
		b = s.cell(append(b, s.separator), value)
	}
	for _, c := range cells {
		b = append(b, s.separator)
		switch c.Kind {
		case lens.Number:
			b = prism.AppendNumber(b, c.Number)
		case lens.Text:
			b = s.cell(b, c.Label)
		case lens.Null: // an empty value is an empty cell
		}
	}
	return append(b, s.lineEnd...), nil
}

// appendCSV quotes a cell that holds a comma, a quote or a line break, with quotes doubled; every other cell, and every
// byte inside the quotes, is unchanged (spec: csv-cells).
func appendCSV(b []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") {
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

// appendTSV replaces each tab, LF, CR or CRLF by one space (spec: tsv-cells). Format tsv has no quotes.
func appendTSV(b []byte, text string) []byte {
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
