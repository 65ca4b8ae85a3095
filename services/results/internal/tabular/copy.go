package tabular

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/services/results/internal/format"
)

// copier checks the rows of a format that has no lines, and writes them to the copy (spec: file-copies).
type copier struct {
	*chunker
	to      io.Writer
	layout  Layout
	written int64
	record  []byte
	texts   []string
}

// header sets the columns to the cells of the first row. The row's number is for messages.
func (c *copier) header(number int64, names []string) (err error) {
	c.layout.Copied = true
	filled, first := filledCells(len(names), func(i int) bool { return names[i] == "" })
	c.titles.add(number, filled, first)
	c.layout.Columns, err = header(c.place, number, len(names), names)
	return err
}

// row copies a row, which may have fewer cells than there are columns. A column without a name begins where a row has more.
func (c *copier) row(number int64, cells []typed) error {
	reason := ""
	if len(cells) > MaxColumns {
		reason = message(c.place, number, fmt.Sprintf("%d cells, but a file may have %d columns.", len(cells), MaxColumns))
		cells = cells[:MaxColumns]
	}
	filled, first := filledCells(len(cells), func(i int) bool { return cells[i].Text == "" })
	c.titles.add(number, filled, first)
	c.texts = c.texts[:0]
	for _, cell := range cells {
		if !utf8.ValidString(cell.Text) && reason == "" {
			reason = message(c.place, number, "not UTF-8.")
		}
		c.texts = append(c.texts, strings.ToValidUTF8(cell.Text, string(utf8.RuneError)))
	}
	for len(c.layout.Columns) < len(cells) {
		c.layout.Columns = append(c.layout.Columns, Column{})
	}
	if reason != "" {
		if err := c.bad.add(reason); err != nil {
			return err
		}
		return c.copy(number, c.texts, reason)
	}
	for i, cell := range cells {
		if cell.Text == "" {
			continue
		}
		column := &c.layout.Columns[i]
		column.meet(cell, column.Filled == 0)
		column.measure([]byte(cell.Text), 0)
		if cell.Exact != "" {
			c.texts[i] += exactMark + cell.Exact
		}
	}
	return c.copy(number, c.texts, "")
}

// copy writes a row to the copy. A bad row has one cell more than there can be columns, its reason.
func (c *copier) copy(number int64, cells []string, reason string) error {
	b := c.record[:0]
	for i, text := range cells {
		if i > 0 {
			b = append(b, copyDelimiter)
		}
		if text == "" {
			continue
		}
		if b = format.AppendCSV(b, text); len(b) > MaxRowBytes {
			if reason == "" {
				return rowTooLarge(c.place, number)
			}
			return c.copy(number, nil, reason) // the quotes of a bad row are doubled
		}
	}
	if reason != "" {
		for range MaxColumns - max(len(cells), 1) + 1 {
			b = append(b, copyDelimiter)
		}
		b = format.AppendCSV(b, reason)
	}
	if len(b) == 0 {
		b = append(b, `""`...) // an empty line is no row
	}
	return c.write(number, append(b, '\n'))
}

// write writes the bytes of a row to the copy.
func (c *copier) write(number int64, row []byte) error {
	c.record = row
	if _, err := c.to.Write(row); err != nil {
		return err
	}
	at := c.written
	c.written += int64(len(row))
	return c.add(at, int64(len(row)), number)
}
