package tabular

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const textCR = "lines end in CR, where they must end in LF or CRLF."

// copyDelimiter is the delimiter of the copy.
const copyDelimiter = ','

// separated reads csv or tsv.
type separated struct {
	*window
	delimiter  byte
	cells      []cell // of the record, at most MaxColumns
	count      int    // how many cells the record has
	record     []byte // without its line break
	recordAt   int64  // offset in the file
	recordLine int64
}

// readSeparated reads csv or tsv. delimiter is the format's default; the file may have another one.
func readSeparated(src io.Reader, delimiter byte, c *chunker) (Layout, error) {
	w, err := newWindow(src)
	if err != nil {
		return Layout{}, err
	}
	s := &separated{window: w, delimiter: delimiter}
	s.delimit()
	if err := s.next(); errors.Is(err, io.EOF) {
		return Layout{}, errNoRows
	} else if err != nil {
		return Layout{}, err
	}
	if s.hasCR() {
		return Layout{}, unusable("Line", s.recordLine, textCR)
	}
	layout := Layout{Delimiter: string(rune(s.delimiter))}
	if layout.Columns, err = header("Line", s.recordLine, s.count, s.texts()); err != nil {
		return Layout{}, err
	}
	for {
		if err := s.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return layout, err
		}
		if s.count != len(layout.Columns) {
			return Layout{}, ragged("Line", s.recordLine, s.count, len(layout.Columns))
		}
		for i, cell := range s.cells {
			layout.Columns[i].measure(s.record[cell.from:cell.to], cell.quotes)
		}
		if err := c.add(s.recordAt, s.offset-s.recordAt, s.recordLine); err != nil {
			return Layout{}, err
		}
	}
}

// delimit decides the delimiter (spec: file-delimiter). An Excel line such as sep=; names it, and is skipped. Without this line,
// csv has the comma or the semicolon, whichever occurs more often in the header outside of quotes.
func (s *separated) delimit() {
	if rest, ok := bytes.CutPrefix(s.unread, []byte("sep=")); ok && len(rest) > 0 && strings.IndexByte(",;|\t:", rest[0]) >= 0 {
		if n := emptyLines(rest[1:]); n > 0 {
			s.delimiter = rest[0]
			s.skip(len("sep=") + 1 + n)
			return
		}
	}
	if s.delimiter != ',' {
		return
	}
	commas, semicolons, quoted := 0, 0, false
	for _, b := range s.unread[emptyLines(s.unread):] {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == ',':
			commas++
		case b == ';':
			semicolons++
		}
		if b == '\n' && !quoted {
			break
		}
	}
	if semicolons > commas {
		s.delimiter = ';'
	}
}

// next reads the next record: io.EOF if there is none.
func (s *separated) next() error {
	for {
		n := emptyLines(s.unread)
		s.skip(n)
		if len(s.unread) == 0 && s.ended {
			return io.EOF
		}
		var end, next int
		var p problem
		s.cells, s.count, end, next, p = parseRecord(s.cells[:0], s.unread, s.delimiter, s.ended)
		if p == none && end > MaxRowBytes || p != none && p != behindQuote && s.full() && len(s.unread) > MaxRowBytes {
			return s.tooLarge(end, p)
		}
		switch {
		case p == behindQuote && s.unread[end] == '\r':
			return s.problemAt(end, textCR)
		case p == behindQuote:
			return s.problemAt(end, "text follows the closing quote of a cell.")
		case p == openQuote && s.ended:
			return s.problemAt(end, "a quoted cell is not closed.")
		case p != none:
			if err := s.fill(); err != nil {
				return err
			}
			continue
		case end == 0: // a CR at the end of the file
			s.skip(next)
			continue
		}
		s.record, s.recordAt, s.recordLine = s.unread[:end], s.offset, s.line
		s.skip(next)
		return checkUTF8(s.record, s.recordLine)
	}
}

// problemAt is a problem at the offset n of the record that begins the window.
func (s *separated) problemAt(n int, text string) error {
	if err := checkUTF8(s.unread[:n], s.line); err != nil {
		return err
	}
	return unusable("Line", s.line+int64(bytes.Count(s.unread[:n], []byte{'\n'})), "%s", text)
}

func (s *separated) tooLarge(at int, p problem) error {
	if p == openQuote {
		return s.problemAt(at, "a quoted cell is not closed within 1 MiB.")
	}
	return rowTooLarge("Line", s.line)
}

// hasCR tells whether an unquoted cell of the record has a CR.
func (s *separated) hasCR() bool {
	return slices.ContainsFunc(s.cells, func(c cell) bool {
		quoted := c.from > 0 && s.record[c.from-1] == '"'
		return !quoted && bytes.IndexByte(s.record[c.from:c.to], '\r') >= 0
	})
}

func (s *separated) texts() []string {
	record := string(s.record)
	texts := make([]string, len(s.cells))
	for i, c := range s.cells {
		texts[i] = c.text(record)
	}
	return texts
}

// records parses the records of a chunk.
func (l Layout) records(data []byte, delimiter byte) ([]Row, error) {
	var rows []Row
	var cells []cell
	for {
		data = data[emptyLines(data):]
		if len(data) == 0 {
			return rows, nil
		}
		var count, end, next int
		var p problem
		cells, count, end, next, p = parseRecord(cells[:0], data, delimiter, true)
		if p != none || count != len(l.Columns) {
			return nil, errors.New("not the records that were read")
		}
		record := string(data[:end])
		row := Row{Cells: make([]string, count)}
		for i, c := range cells {
			row.Cells[i] = c.text(record)
			if l.Copied {
				row.takeExact(i)
			}
		}
		rows, data = append(rows, row), data[next:]
	}
}

// header checks the names of columns, and makes columns of them. names has at most MaxColumns of the count names.
func header(place string, number int64, count int, names []string) ([]Column, error) {
	if count > MaxColumns {
		return nil, tooManyColumns(place, number, count)
	}
	columns, seen, bytes := make([]Column, count), make(map[string]int, count), 0
	for i, name := range names {
		if bytes += len(name); bytes > MaxRowBytes {
			return nil, namesTooLarge(place, number)
		}
		if strings.TrimSpace(name) == "" {
			return nil, unusable(place, number, "column %d has no name.", i+1)
		}
		if err := checkName(place, number, i, name); err != nil {
			return nil, err
		}
		if first, twice := seen[name]; twice {
			return nil, unusable(place, number, "columns %d and %d have the same name.", first+1, i+1)
		}
		seen[name] = i
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

func ragged(place string, number int64, cells, columns int) error {
	noun := "cells"
	if cells == 1 {
		noun = "cell"
	}
	return unusable(place, number, "%d %s, but the header has %d.", cells, noun, columns)
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
