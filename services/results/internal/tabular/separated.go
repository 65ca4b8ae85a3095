package tabular

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// copyDelimiter is the delimiter of the copy.
const copyDelimiter = ','

// separated reads csv or tsv.
type separated struct {
	*window
	rowParser
	number int64 // of the row; empty lines are counted too
	rowAt  int64 // offset in the file
	line   int64 // of the row
	guess  bool  // another encoding, if a row is not UTF-8
}

// readSeparated reads csv or tsv. Rows are copied unless the text is the file itself.
func (t *textFile) readSeparated(delimiter byte, c *chunker) (Layout, error) {
	var layout Layout
	w, err := t.open()
	if err != nil {
		return layout, err
	}
	s := &separated{window: w, rowParser: rowParser{textRow: textRow{delimiter: delimiter}, encoding: t.encoding}, guess: !t.settled}
	s.delimit(t.options.Delimiter)
	layout.Delimiter = string(rune(s.delimiter))
	if err := s.readHeader(&layout, t.options.HeaderRow, c); err != nil {
		return layout, err
	}
	copies := &copier{chunker: c, to: t.copied, written: t.written, layout: layout}
	defer func() { t.written = copies.written }()
	for {
		if err := s.next(); errors.Is(err, io.EOF) {
			layout.Columns = copies.layout.Columns
			return layout, nil
		} else if err != nil {
			return layout, err
		}
		if s.empty() {
			c.skipped++
			continue
		}
		if len(c.titles.rows) < titleRows {
			filled, first := filledCells(len(s.cells), func(i int) bool { return s.cells[i].from == s.cells[i].to })
			c.titles.add(s.number, filled, first)
		}
		line := s.line
		if s.wrong != "" {
			line += s.problemLine()
			if err := c.bad.add(message(c.place, line, s.wrong)); err != nil {
				return layout, err
			}
		} else {
			for i := range min(s.count, s.width) {
				layout.Columns[i].measure(s.data[s.cells[i].from:s.cells[i].to], s.cells[i].quotes)
			}
		}
		if layout.Copied = t.changed; layout.Copied {
			err = copies.copy(line, s.texts(s.width), s.reason(c.place, line))
		} else {
			err = c.add(s.rowAt, s.offset-s.rowAt, s.line)
		}
		if err != nil {
			return layout, err
		}
	}
}

// delimiters are what may separate cells, in the order of preference. Excel's line may also name a colon.
const delimiters = ",;\t|"

// delimiterRows is how many rows decide the delimiter.
const delimiterRows = 20

// delimit decides the delimiter (spec: file-delimiter). An Excel line such as sep=; names it, and is skipped. Without this line and
// without an option it is the one with which most of the first rows have as many cells as one another, and more than one.
func (s *separated) delimit(option string) {
	if rest, ok := bytes.CutPrefix(s.unread, []byte("sep=")); ok && len(rest) > 0 && strings.IndexByte(delimiters+":", rest[0]) >= 0 {
		if n := emptyLines(rest[1:]); n > 0 {
			s.delimiter = rest[0]
			s.skip(len("sep=") + 1 + n)
			s.number = int64(bytes.Count(rest[1:][:n], []byte{'\n'}))
			option = cmp.Or(option, string(rest[:1]))
		}
	}
	if len(option) == 1 {
		s.delimiter = option[0]
		return
	}
	best, cells := s.agreement(s.delimiter)
	for _, other := range []byte(delimiters) {
		if rows, n := s.agreement(other); rows > best || rows == best && n > cells {
			s.delimiter, best, cells = other, rows, n
		}
	}
}

// agreement is how many of the first rows have one number of cells, more than one, and this number.
func (s *separated) agreement(delimiter byte) (rows, cells int) {
	counts := map[int]int{}
	var parsed []cell
	for data, i := s.unread, 0; i < delimiterRows; i++ {
		data = data[emptyLines(data):]
		if len(data) == 0 {
			break
		}
		var count, next int
		var p problem
		if parsed, count, _, next, p = parseRecord(parsed[:0], data, delimiter, s.ended); p == openQuote || p == unfinished {
			break
		} else if p == none {
			counts[count]++
		} else {
			next = bytes.IndexByte(data, '\n') + 1
			if next == 0 {
				break
			}
		}
		data = data[next:]
	}
	for count, n := range counts {
		if count > 1 && (n > rows || n == rows && count > cells) {
			rows, cells = n, count
		}
	}
	return rows, cells
}

// readHeader reads the row with the names of the columns, and passes over those above it.
func (s *separated) readHeader(layout *Layout, at int64, c *chunker) error {
	above := int64(0)
	for {
		if err := s.next(); errors.Is(err, io.EOF) {
			return errNoRows
		} else if err != nil {
			return err
		}
		if s.empty() {
			c.skipped++
			continue
		}
		if s.wrong != "" {
			return unusable("Line", s.line+s.problemLine(), "%s", s.wrong)
		}
		if s.number >= at {
			break
		}
		above++
	}
	filled, first := filledCells(len(s.cells), func(i int) bool { return s.cells[i].from == s.cells[i].to })
	c.titles.add(s.number, filled, first)
	for len(s.cells) > MaxColumns && s.cells[len(s.cells)-1].from == s.cells[len(s.cells)-1].to {
		s.cells = s.cells[:len(s.cells)-1]
	}
	s.width = len(s.cells)
	names := make([]string, s.width)
	record := string(s.data)
	for i, cell := range s.cells {
		names[i] = cell.text(record)
	}
	if above > 0 {
		layout.note("%s above the header %s skipped.", counted(above, "row"), was(above))
	}
	columns, err := header("Line", s.line, s.count, names)
	layout.Columns = columns
	return err
}

// next reads the next row: io.EOF if there is none.
func (s *separated) next() error {
	for {
		n := emptyLines(s.unread)
		s.number += int64(bytes.Count(s.unread[:n], []byte{'\n'}))
		s.skip(n)
		if len(s.unread) == 0 && s.ended {
			return io.EOF
		}
		ok, err := false, error(nil)
		if len(s.unread) > 0 {
			ok, err = s.parse(s.unread, s.ended, s.full())
		}
		if err != nil && s.wrong != "" {
			return unusable("Line", s.window.line+int64(bytes.Count(s.unread[:s.openedAt], []byte{'\n'})), "a quoted cell is not closed within 1 MiB.")
		} else if err != nil {
			return rowTooLarge("Line", s.window.line)
		}
		if !ok {
			if err := s.fill(); err != nil {
				return err
			}
			continue
		}
		s.rowAt, s.line = s.offset, s.window.line
		s.skip(s.rowParser.next)
		if len(s.data) == 0 && s.wrong == "" { // a CR at the end of the file
			continue
		}
		if s.number++; s.guess && s.wrong != "" && s.wrong == s.noText() {
			return errOtherEncoding
		}
		return nil
	}
}

// reason is why a row is bad, with its line: "" if it is not.
func (r *textRow) reason(place string, line int64) string {
	if r.wrong == "" {
		return ""
	}
	return message(place, line, r.wrong)
}

// records parses the rows of a chunk.
func (l Layout) records(data []byte, delimiter byte, line int64) ([]Row, error) {
	var rows []Row
	all := data
	p := rowParser{textRow: textRow{delimiter: delimiter}, width: len(l.Columns) + len(l.Dropped)}
	columns := l.places()
	width := p.width
	if l.Copied {
		p.copied, p.width = true, 0 // rows of the copy may end early, or have the reason why they are bad behind all columns
	}
	for {
		if data = data[emptyLines(data):]; len(data) == 0 {
			return rows, nil
		}
		if ok, err := p.parse(data, true, true); !ok || err != nil {
			return nil, errOtherRows
		}
		if !l.Copied && p.empty() {
			data = data[p.next:]
			continue
		}
		row := Row{Cells: p.texts(width)}
		if p.wrong != "" {
			row.Invalid = p.reason("Line", line+int64(bytes.Count(all[:len(all)-len(data)], []byte{'\n'}))+p.problemLine())
		}
		switch {
		case !l.Copied:
		case p.count == parsedCells:
			row.Invalid = p.cells[MaxColumns].text(string(p.data))
		case p.count > width || p.wrong != "":
			return nil, errOtherRows
		}
		for i, place := range columns { // no place is before its column
			row.Cells[i] = row.Cells[place]
			if l.Copied {
				row.takeExact(i)
			}
		}
		row.Cells = row.Cells[:len(columns)]
		rows, data = append(rows, row), data[p.next:]
	}
}

// places are the places of the columns among the cells of a row.
func (l Layout) places() []int {
	places := make([]int, 0, len(l.Columns))
	for i := range len(l.Columns) + len(l.Dropped) {
		if !slices.Contains(l.Dropped, i) {
			places = append(places, i)
		}
	}
	return places
}

// header checks the names of columns, and makes columns of them. names has at most MaxColumns of the count names.
func header(place string, number int64, count int, names []string) ([]Column, error) {
	if len(names) > MaxColumns {
		return nil, tooManyColumns(place, number, count)
	}
	columns, bytes := make([]Column, len(names)), 0
	for i, name := range names {
		if bytes += len(name); bytes > MaxRowBytes {
			return nil, namesTooLarge(place, number)
		}
		name = strings.TrimSpace(name)
		if err := checkName(place, number, i, name); err != nil {
			return nil, err
		}
		columns[i].Name = name
	}
	return columns, nil
}

func namesTooLarge(place string, number int64) error {
	return unusable(place, number, "the names of the columns may have 1 MiB.")
}

// checkName refuses the name of a column that no run could name, as create calls take no such string (spec: file-columns).
func checkName(place string, number int64, column int, name string) error {
	switch {
	case strings.IndexByte(name, 0) >= 0:
		return unusable(place, number, "the name of column %d has a NUL character. Remove it, and save the file as UTF-8.", column+1)
	case !utf8.ValidString(name):
		return unusable(place, number, "the name of column %d is no Unicode text. Rename it.", column+1)
	case utf8.RuneCountInString(name) > maxNameCharacters:
		return unusable(place, number, "the name of column %d has more than %d characters. Shorten it.", column+1, maxNameCharacters)
	}
	return nil
}

func tooManyColumns(place string, number int64, count int) error {
	return unusable(place, number, "%d columns, but a file may have %d.", count, MaxColumns)
}

// ragged is why a row with so many cells is bad.
func ragged(cells, columns int) string {
	return fmt.Sprintf("%s, but the header has %d.", counted(int64(cells), "cell"), columns)
}

// measure counts a cell with this many doubled quotes, each of which is one character.
func (c *Column) measure(text []byte, quotes int) {
	if len(text) > 0 {
		c.Filled++
		if int64(len(text)) > c.Longest {
			c.Longest = max(c.Longest, int64(utf8.RuneCount(text)-quotes))
		}
	}
}
