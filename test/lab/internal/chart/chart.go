// Package chart draws tables of bars and diagrams as SVG. The colours follow the reader's light or dark theme.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"slices"
)

// Bars is a table of horizontal bars: a row for each thing that is compared, a column for each figure. Every column has a
// scale of its own, from 0.
type Bars struct {
	Title   string
	Note    string
	Columns []string
	Rows    []Row
}

// Row is the bars of one thing.
type Row struct {
	Name   string
	Values []float64
	Kind   Kind
}

// Kind is the look of a row.
type Kind string

// The subject of the picture is coloured, what it competes with is grey, and a limit is only outlined.
const (
	Subject    Kind = "subject"
	Competitor Kind = "competitor"
	Limit      Kind = "limit"
)

// The measures of the drawing.
const (
	width, margin          = 760.0, 24.0
	left, top              = 230.0, 92.0
	columnGap, rowHeight   = 16.0, 34.0
	barHeight, numberWidth = 20.0, 56.0
)

// style has the colours of both themes. Lines of a diagram have the colours of bars.
const style = `<style>` +
	`text{fill:#1f2328}.bg{fill:#fff}.muted{fill:#59636e}.competitor{fill:#afb8c1}.subject{fill:#0072b2}` +
	`.limit{fill:none;stroke:#59636e;stroke-dasharray:4 3}.axis{stroke:#d1d9e0}` +
	`.line{fill:none;stroke-width:2;stroke-linejoin:round}.line.competitor{stroke:#818b98}.line.subject{stroke:#0072b2}` +
	`@media (prefers-color-scheme:dark){` +
	`text{fill:#e6edf3}.bg{fill:#0d1117}.muted{fill:#9198a1}.competitor{fill:#656c76}.subject{fill:#56b4e9}.limit{stroke:#9198a1}` +
	`.axis{stroke:#3d444d}.line.subject{stroke:#56b4e9}` +
	`}.line.subject,.line.competitor{fill:none}</style>`

// SVG is the drawing.
func (t Bars) SVG() []byte {
	var b bytes.Buffer
	height := top + rowHeight*float64(len(t.Rows)) + 8
	begin(&b, height, t.Title, t.Note)
	for j, row := range t.Rows {
		text(&b, margin, top+rowHeight*float64(j)+barHeight-5, weight(row), row.Name)
	}
	columnWidth := (width - left) / float64(max(1, len(t.Columns)))
	for i, name := range t.Columns {
		x := left + float64(i)*columnWidth
		text(&b, x, top-12, `font-weight="600"`, name)
		for j, row := range t.Rows {
			if i >= len(row.Values) {
				continue
			}
			y := top + rowHeight*float64(j)
			length := (columnWidth - columnGap - numberWidth) * row.Values[i] / t.most(i)
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%g" rx="2" class="%s"/>`+"\n", x, y, length, barHeight, row.Kind)
			text(&b, x+length+6, y+barHeight-5, weight(row), Thousands(row.Values[i]))
		}
	}
	fmt.Fprintln(&b, `</svg>`)
	return b.Bytes()
}

// begin begins a drawing with its heading.
func begin(b *bytes.Buffer, height float64, title, note string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" `+
		`font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	fmt.Fprintf(b, "%s\n"+`<rect width="%g" height="%g" rx="6" class="bg"/>`+"\n", style, width, height)
	text(b, margin, 34, `font-size="16" font-weight="600"`, title)
	text(b, margin, 54, `class="muted"`, note)
}

func weight(r Row) string {
	if r.Kind == Subject {
		return `font-weight="600"`
	}
	return ""
}

// most is the highest value of a column.
func (t Bars) most(column int) float64 {
	highest := 1e-9
	for _, row := range t.Rows {
		if column < len(row.Values) {
			highest = max(highest, row.Values[column])
		}
	}
	return highest
}

func text(b *bytes.Buffer, x, y float64, attributes, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(s))
}

// Thousands writes a whole number with a comma after each three digits.
func Thousands(v float64) string {
	digits := []byte(fmt.Sprintf("%.0f", v))
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = slices.Insert(digits, i, ',')
	}
	return string(digits)
}
