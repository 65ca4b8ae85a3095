package format

import (
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Header appends the header row of csv and tsv. The other formats have none.
func (e *Encoder) Header(b []byte) []byte {
	if e.format != contract.CSV && e.format != contract.TSV {
		return b
	}
	for i, name := range prism.ReservedNames() {
		if i > 0 {
			b = e.separator(b)
		}
		b = e.cell(b, name)
	}
	for _, f := range e.table.Latest.Fields {
		b = e.cell(e.separator(b), f.Key)
	}
	for _, c := range e.table.Lens.Columns {
		b = e.cell(e.separator(b), c.Name)
	}
	return e.lineEnd(b)
}

// separated appends a row of csv or tsv: the same cells with other separators. encoding/csv can't be used: it rewrites line
// breaks inside cells and quotes cells that need no quotes.
func (e *Encoder) separated(b []byte, r *prism.Result, cells []prism.Cell) []byte {
	b, _ = r.ID.AppendText(b) // never fails
	b = e.separator(b)
	if r.Ref != nil {
		b = e.cell(b, *r.Ref)
	}
	b = strconv.AppendInt(e.separator(b), int64(r.Version), 10)
	b = append(e.separator(b), r.Status...)
	b = e.separator(b)
	if text := errorText(r); text != nil {
		b = e.cell(b, *text)
	}
	b = prism.AppendTime(e.separator(b), r.CreatedAt)
	for i, f := range e.table.Latest.Fields {
		value, _ := field(r, f.Key, i)
		b = e.cell(e.separator(b), value)
	}
	for _, c := range cells {
		b = e.separator(b)
		switch c.Kind {
		case prism.NumberCell:
			b = prism.AppendNumber(b, c.Number)
		case prism.TextCell:
			b = e.cell(b, c.Label)
		case prism.NullCell: // an empty value is an empty cell
		}
	}
	return e.lineEnd(b)
}

func (e *Encoder) separator(b []byte) []byte {
	if e.format == contract.CSV {
		return append(b, ',')
	}
	return append(b, '\t')
}

func (e *Encoder) lineEnd(b []byte) []byte {
	if e.format == contract.CSV {
		b = append(b, '\r')
	}
	return append(b, '\n')
}

func (e *Encoder) cell(b []byte, text string) []byte {
	if e.format == contract.CSV {
		return AppendCSV(b, text)
	}
	return AppendTSV(b, text)
}

// AppendCSV quotes a cell that holds a comma, a quote or a line break, with quotes doubled; every other cell, and every
// byte inside the quotes, is unchanged (spec: csv-cells).
func AppendCSV(b []byte, text string) []byte {
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
