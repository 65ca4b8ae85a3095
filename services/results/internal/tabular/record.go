package tabular

import "bytes"

// A record of csv or tsv is a line of cells. A cell that begins with a quote ends with the next single quote; two quotes in it
// stand for one, and line breaks are kept as they are. A quote inside any other cell is text (spec: file-csv).
// encoding/csv can't be used: it changes CRLF in cells to LF, and holds a cell whose quote is not closed to the end of the file.

// cell is where the text of a cell is in a record.
type cell struct {
	from, to int
	quotes   int // pairs of quotes that stand for one
}

func (c cell) text(record string) string {
	text := record[c.from:c.to]
	if c.quotes == 0 {
		return text
	}
	b := make([]byte, 0, len(text)-c.quotes)
	for i := 0; i < len(text); i++ {
		b = append(b, text[i])
		if text[i] == '"' {
			i++
		}
	}
	return string(b)
}

// problem is why a record could not be parsed.
type problem int

const (
	none        problem = iota
	unfinished          // the record does not end in the data
	openQuote           // the quoted cell that begins at the returned offset does not end in the data
	behindQuote         // text follows a closing quote; it begins at the returned offset
)

// parsedCells is how many cells of a record are kept: one more than the most columns, for the reason of a bad row in the copy.
const parsedCells = MaxColumns + 1

// parseRecord parses the record with which data begins, and appends its first parsedCells cells. count is how many cells the
// record has; end and next are the offsets before and after its line break. ended says that data ends with the file. With a
// problem, end is the offset of the problem, and next that of the cell that has it.
func parseRecord(cells []cell, data []byte, delimiter byte, ended bool) (_ []cell, count, end, next int, p problem) {
	line := -1 // where the next line break is; looked for only once, as a row may have many cells
	for at := 0; ; count++ {
		var c cell
		if at < len(data) && data[at] == '"' {
			c.from = at + 1
			for i := c.from; ; i += 2 {
				quote := bytes.IndexByte(data[i:], '"')
				if quote < 0 || i+quote+1 == len(data) && !ended {
					return cells, count, at, at, openQuote
				}
				i += quote
				if i+1 == len(data) || data[i+1] != '"' {
					c.to, at = i, i+1
					break
				}
				c.quotes++
			}
			if at < len(data) && data[at] != delimiter && data[at] != '\n' {
				if data[at] == '\r' && at+1 == len(data) && !ended {
					return cells, count, at, 0, unfinished
				}
				if data[at] != '\r' || at+1 < len(data) && data[at+1] != '\n' {
					return cells, count, at, c.from - 1, behindQuote
				}
			}
			end = at
			if at < len(data) && data[at] == '\r' {
				at++
			}
		} else {
			if line < at {
				if line = bytes.IndexByte(data[at:], '\n'); line >= 0 {
					line += at
				} else {
					line = len(data)
				}
			}
			c.from, c.to = at, line
			if i := bytes.IndexByte(data[at:line], delimiter); i >= 0 {
				c.to = at + i
			}
			at, end = c.to, c.to
			if at == len(data) && !ended {
				return cells, count, at, 0, unfinished
			}
			if at == line && at > c.from && data[at-1] == '\r' {
				c.to, end = c.to-1, end-1
			}
		}
		if count < parsedCells {
			cells = append(cells, c)
		}
		if at == len(data) || data[at] == '\n' {
			return cells, count + 1, end, min(at+1, len(data)), none
		}
		at++ // the delimiter
	}
}

// emptyLines is the length of the empty lines with which data begins.
func emptyLines(data []byte) int {
	n := 0
	for {
		switch rest := data[n:]; {
		case len(rest) > 0 && rest[0] == '\n':
			n++
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			n += 2
		default:
			return n
		}
	}
}
