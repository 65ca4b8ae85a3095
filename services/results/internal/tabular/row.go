package tabular

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
)

// textRow is a row of csv or tsv. Its bytes are those of the data that was parsed.
type textRow struct {
	data      []byte // without the line break
	cells     []cell // at most parsedCells
	count     int    // how many cells the row has
	next      int    // where the next row begins
	wrong     string // why the row is bad; "": it is not
	wrongAt   int    // where it is bad
	openedAt  int    // where the cell begins that is not read, if the row has one; else below 0
	delimiter byte
}

// rowParser parses rows of csv or tsv, both in the pass over a file and in its chunks, whose bytes end earlier: what a row is
// depends on its own bytes alone.
type rowParser struct {
	textRow
	encoding string // for messages
	width    int    // cells of the header; 0: the header itself
	copied   bool   // rows are those of the copy, which were checked
}

const (
	textOpenQuote   = "a quoted cell is not closed."
	textBehindQuote = "text follows the closing quote of a cell."
)

// parse parses the row with which data begins, which is not empty. It returns false if more data is needed; ended says that there
// is none. The error is errRowTooLarge.
func (p *rowParser) parse(data []byte, ended, full bool) (ok bool, err error) {
	var end int
	var problem problem
	p.wrong, p.openedAt = "", -1
	p.cells, p.count, end, p.next, problem = parseRecord(p.cells[:0], data, p.delimiter, ended)
	switch {
	case problem == none && end <= MaxRowBytes:
		p.data = data[:end]
		p.check()
		return true, nil
	case problem != behindQuote && !ended && !full:
		return false, nil
	case problem == unfinished || problem == none && bytes.IndexByte(data[:end], '\n') < 0:
		return false, errRowTooLarge
	case problem == none: // a quote that is not closed, up to another one
		p.count = slices.IndexFunc(p.cells, func(c cell) bool { return bytes.IndexByte(data[c.from:c.to], '\n') >= 0 })
		if p.count < 0 {
			return false, errRowTooLarge
		}
		p.next = p.cells[p.count].from - 1
	}
	p.openedAt, p.wrongAt, p.wrong = p.next, p.next, textOpenQuote
	if p.width == 0 { // no file has such a header
		return true, nil
	}
	switch {
	case problem == behindQuote && bytes.IndexByte(data[p.openedAt:end], '\n') < 0:
		p.wrong = textBehindQuote
		line := bytes.IndexByte(data[end:], '\n')
		if line < 0 && !ended && !full {
			return false, nil
		}
		if p.next = end + line + 1; line < 0 {
			p.next = len(data)
		}
	case !ended && !full:
		return false, nil
	default:
		// The next row may begin in a cell that is closed only in a later row: then that cell is the one that is not closed.
		if p.next = p.resume(data, ended); p.next < p.openedAt {
			p.cells, p.count, _, p.openedAt, _ = parseRecord(p.cells[:0], data[:p.next], p.delimiter, true)
			p.wrongAt = p.openedAt
		}
	}
	if p.data = bytes.TrimSuffix(bytes.TrimSuffix(data[:p.next], []byte("\n")), []byte("\r")); len(p.data) > MaxRowBytes {
		return false, errRowTooLarge
	}
	if at := invalidUTF8(p.data[:p.openedAt]); at >= 0 {
		p.wrong, p.wrongAt = p.noText(), at
	}
	return true, nil
}

// resume is where the first line begins that parses, behind a row with an open quote, or where a row of 1 MiB ends.
func (p *rowParser) resume(data []byte, ended bool) int {
	var cells []cell
	at := 0
	for {
		line := bytes.IndexByte(data[at:], '\n')
		if line < 0 || at+line > MaxRowBytes {
			if line < 0 && ended && len(data) <= MaxRowBytes || at == 0 {
				return len(data)
			}
			return at
		}
		if at += line + 1; at == len(data) {
			return at
		}
		if emptyLines(data[at:]) > 0 {
			continue
		}
		var count, end int
		var problem problem
		cells, count, end, _, problem = parseRecord(cells[:0], data[at:], p.delimiter, ended)
		if problem == none && end <= MaxRowBytes && (count == p.width || count > p.width && p.surplusEmpty(data[at:at+end], cells)) {
			return at
		}
	}
}

// check finds what is wrong with a row whose cells are parsed.
func (p *rowParser) check() {
	if p.copied {
		return
	}
	if at := invalidUTF8(p.data); at >= 0 {
		p.wrong, p.wrongAt = p.noText(), at
		return
	}
	if p.width == 0 || p.count == p.width || p.empty() || p.count > p.width && p.surplusEmpty(p.data, p.cells) {
		return
	}
	p.wrong, p.wrongAt = ragged(p.count, p.width), 0
}

// surplusEmpty reports whether the cells behind those of the header are empty.
func (p *rowParser) surplusEmpty(record []byte, cells []cell) bool {
	for _, c := range cells[p.width:] {
		if len(bytes.TrimSpace(record[c.from:c.to])) > 0 {
			return false
		}
	}
	rest := record[cells[len(cells)-1].to:]
	return len(cells) < parsedCells || len(bytes.Trim(rest, string([]byte{p.delimiter, ' ', '"'}))) == 0
}

// empty reports whether the row has no text.
func (r *textRow) empty() bool {
	for _, c := range r.cells {
		if c.from < c.to {
			return false
		}
	}
	return r.wrong == "" && len(r.cells) == r.count
}

func (p *rowParser) noText() string {
	if p.encoding == "" || p.encoding == prism.UTF8 {
		return "not UTF-8."
	}
	return fmt.Sprintf("a byte that is not %s.", p.encoding)
}

// invalidUTF8 is where a text stops to be UTF-8: below 0 if it does not.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for at := 0; ; {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n < 2 {
			return at
		}
		at += n
	}
}

// texts are the cells of the row for so many columns. Those of a bad row are what was read: what is behind the last column, and a
// cell that is not read, as it is in the file.
func (r *textRow) texts(width int) []string {
	texts := make([]string, width)
	record := string(r.data)
	for i := range min(width, len(r.cells), r.count) {
		texts[i] = r.cells[i].text(record)
	}
	if r.wrong == "" {
		return texts
	}
	switch {
	case r.openedAt >= 0:
		at := min(r.count, width-1)
		from := r.openedAt
		if r.count >= width {
			from = r.start(at)
		}
		texts[at] = record[from:]
	case r.count > width:
		texts[width-1] = record[r.start(width-1):]
	}
	for i, text := range texts {
		texts[i] = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	return texts
}

// start is where a cell begins, with its quote.
func (r *textRow) start(i int) int {
	from := r.cells[i].from
	if from > 0 && r.data[from-1] == '"' && (from == 1 || r.data[from-2] == r.delimiter) {
		from--
	}
	return from
}

// problemLine is how many lines into the row it is bad.
func (r *textRow) problemLine() int64 {
	return int64(bytes.Count(r.data[:min(r.wrongAt, len(r.data))], []byte{'\n'}))
}
