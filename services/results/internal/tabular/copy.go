package tabular

import (
	"io"
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
}

// header sets the columns to the cells of the first row. The row's number is for messages.
func (c *copier) header(number int64, names []string) (err error) {
	c.layout.Copied = true
	c.layout.Columns, err = header(c.place, number, len(names), names[:min(len(names), MaxColumns)])
	return err
}

// row copies a row, which has as many cells as the header, or fewer.
func (c *copier) row(number int64, cells []typed) error {
	if len(cells) > len(c.layout.Columns) {
		return ragged(c.place, number, len(cells), len(c.layout.Columns))
	}
	b := c.record[:0]
	for i := range c.layout.Columns {
		if i > 0 {
			b = append(b, copyDelimiter)
		}
		if i >= len(cells) {
			continue
		}
		text := cells[i].Text
		if text == "" {
			continue
		}
		if !utf8.ValidString(text) {
			return unusable(c.place, number, "not UTF-8.")
		}
		column := &c.layout.Columns[i]
		column.meet(cells[i], column.Filled == 0)
		column.measure([]byte(text), 0)
		if cells[i].Exact != "" {
			text += exactMark + cells[i].Exact
		}
		b = format.AppendCSV(b, text)
		if len(b) > MaxRowBytes {
			return rowTooLarge(c.place, number)
		}
	}
	if len(b) == 0 {
		b = append(b, `""`...) // an empty line is no row
	}
	b = append(b, '\n')
	c.record = b
	if _, err := c.to.Write(c.record); err != nil {
		return err
	}
	at := c.written
	c.written += int64(len(c.record))
	return c.add(at, int64(len(c.record)), number)
}
