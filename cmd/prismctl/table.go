package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// row is one line of a table. color paints it; it may be empty.
type row struct {
	cells []string
	color color
}

// columns are the columns of a list.
type columns struct {
	// all are the names of the cells of a row, which csv and wide show.
	all string
	// narrow are the columns that fit into 80 characters. NAME:TITLE has a title of its own. A column that ends in ~ is a text,
	// which is cut to the width of the terminal. A time is shown as its age.
	narrow string
}

// wide are all columns.
func (c columns) wide(rows []row) []row {
	titles := row{color: bold}
	for _, name := range strings.Fields(c.all) {
		titles.cells = append(titles.cells, titleOf(name))
	}
	return append([]row{titles}, rows...)
}

// short are the narrow columns, cut to a width; 0 is any.
func (c columns) short(rows []row, now time.Time, width int) []row {
	all := strings.Fields(c.all)
	titles := row{color: bold}
	short := make([]row, len(rows))
	var texts []int
	for i, spec := range strings.Fields(c.narrow) {
		spec, text := strings.CutSuffix(spec, "~")
		if text {
			texts = append(texts, i)
		}
		name, title, _ := strings.Cut(spec, ":")
		titles.cells = append(titles.cells, titleOf(cmp.Or(title, name)))
		at := slices.Index(all, name)
		for r := range rows {
			cell := rows[r].cells[at]
			if strings.HasSuffix(name, "_at") || name == "at" {
				cell = ago(cell, now)
			}
			short[r].cells, short[r].color = append(short[r].cells, cell), rows[r].color
		}
	}
	short = append([]row{titles}, short...)
	cut(short, texts, width)
	return short
}

func titleOf(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "_", " ")) }

// ago is how long ago a time of the API is, in its largest unit. A text that is no time stays as it is.
func ago(text string, now time.Time) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	d, form := now.Sub(at), "%d%s ago"
	if d < 0 {
		d, form = -d, "in %d%s"
	}
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"y", 365 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}} {
		if d >= unit.length {
			return fmt.Sprintf(form, d/unit.length, unit.name)
		}
	}
	return fmt.Sprintf(form, d/time.Second, "s")
}

// The space between columns, and the narrowest a text is cut to.
const (
	gap      = 2
	shortest = 8
)

// cut shortens the texts of columns, the widest first, until the rows fit into a width or the texts are as short as they may be.
// A width of 0 is any.
func cut(rows []row, texts []int, width int) {
	if width == 0 || len(rows) == 0 {
		return
	}
	widths := widen(nil, rows)
	total := -gap
	for _, width := range widths {
		total += width + gap
	}
	for ; total > width; total-- {
		widest := -1
		for _, i := range texts {
			if widths[i] > shortest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for _, r := range rows {
		for _, i := range texts {
			if text := []rune(printable(r.cells[i])); len(text) > widths[i] {
				r.cells[i] = string(text[:widths[i]-1]) + "…"
			}
		}
	}
}

// table writes aligned rows.
func table(p *printer, rows []row) error { return aligned(p, rows, widen(nil, rows)) }

// tableBelow writes an empty line and a table, below other output.
func tableBelow(p *printer, rows []row) error {
	if _, err := fmt.Fprintln(p); err != nil {
		return err
	}
	return table(p, rows)
}

// widen makes columns as wide as rows need.
func widen(widths []int, rows []row) []int {
	for _, r := range rows {
		for i, cell := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(printable(cell)))
		}
	}
	return widths
}

// aligned writes rows in columns of these widths.
func aligned(p *printer, rows []row, widths []int) error {
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r.cells {
			cell = printable(cell)
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap))
		}
		if _, err := fmt.Fprintln(p, p.paint(r.color, strings.TrimRight(line.String(), " "))); err != nil {
			return err
		}
	}
	return nil
}
