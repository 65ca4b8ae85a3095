package tabular

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/prism-results/prism/pkg/strictjson"
)

// lineReader reads the objects of jsonl.
type lineReader struct {
	objectParser
	layout  Layout
	known   map[string]int
	names   int     // bytes
	touched []int64 // of each column: the last object that has it
	line    int64
	objects int64
	before  []Column
	changed []int // columns of before
	columns int   // before the line
}

// The reasons why a line is bad.
const (
	textNoObject = "not a JSON object."
	textKeyTwice = "a key occurs twice."
	textNoKey    = "a key is empty."
	textNUL      = "a NUL character that is in no string. Remove it."
)

// lineError tells why a line is bad.
type lineError string

func (e lineError) Error() string { return string(e) }

// readLines reads jsonl, or an array of objects (spec: file-jsonl).
func (t *textFile) readLines(c *chunker) (Layout, error) {
	w, err := t.open()
	if err != nil {
		return Layout{}, err
	}
	next := w.nextLine
	if rest := bytes.TrimLeft(w.unread, " \t\r\n"); len(rest) > 0 && rest[0] == '[' && opensArray(rest) {
		t.changed = true
		w.skip(len(w.unread) - len(rest) + 1)
		next = w.nextElement
	}
	r := &lineReader{known: map[string]int{}}
	copies := &copier{chunker: c, to: t.copied, written: t.written}
	defer func() { t.written = copies.written }()
	for {
		text, line, err := next()
		if errors.Is(err, io.EOF) {
			switch {
			case c.rows == 0 || len(r.layout.Columns) > 0:
			case c.bad.count > 0:
				return r.layout, c.bad.tooMany("No line can be read.")
			default:
				return r.layout, &UnusableError{"The file has no columns."}
			}
			return r.layout, nil
		} else if err != nil {
			return r.layout, err
		}
		if blank(text) {
			continue
		}
		reason := ""
		if invalidUTF8(text) >= 0 {
			if !t.settled {
				return r.layout, errOtherEncoding
			}
			reason = (&rowParser{encoding: t.encoding}).noText()
		} else if err := r.read(text, line); err != nil {
			bad, ok := errors.AsType[lineError](err)
			if !ok {
				return r.layout, err
			}
			reason = string(bad)
		}
		if reason != "" {
			if err := c.bad.add(message(c.place, line, reason)); err != nil {
				return r.layout, err
			}
			if t.changed {
				text = strictjson.AppendString(nil, message(c.place, line, reason))
			}
		}
		if !t.changed {
			err = c.add(w.offset-int64(len(text)), int64(len(text)), line)
		} else {
			err = copies.write(line, append(bytes.ReplaceAll(bytes.TrimRight(text, "\r\n"), []byte("\n"), []byte(" ")), '\n'))
		}
		if err != nil {
			return r.layout, err
		}
	}
}

// read reads the object on a line. A bad line changes no column.
func (r *lineReader) read(text []byte, line int64) error {
	r.line, r.columns = line, len(r.layout.Columns)
	r.objects++
	r.before, r.changed = r.before[:0], r.changed[:0]
	err := r.parse(text, r.member)
	if _, unusable := errors.AsType[*UnusableError](err); err == nil || unusable {
		return err
	}
	for i, column := range r.changed {
		r.layout.Columns[column] = r.before[i]
	}
	for _, c := range r.layout.Columns[r.columns:] {
		delete(r.known, c.Name)
		r.names -= len(c.Name)
	}
	r.layout.Columns, r.touched = r.layout.Columns[:r.columns], r.touched[:r.columns]
	return lineProblem(err, text)
}

// member takes a member of the line.
func (r *lineReader) member(key string, value strictjson.Value, text []byte) error {
	i, ok := r.known[key]
	if !ok {
		if len(bytes.TrimSpace([]byte(key))) == 0 {
			return lineError(textNoKey)
		}
		if i = len(r.layout.Columns); i == MaxColumns {
			return tooManyColumns("Line", r.line, MaxColumns+1)
		}
		if r.names += len(key); r.names > MaxRowBytes {
			return namesTooLarge("Line", r.line)
		}
		if err := checkName("Line", r.line, i, key); err != nil {
			return err
		}
		r.known[key] = i
		r.layout.Columns, r.touched = append(r.layout.Columns, Column{Name: key}), append(r.touched, 0)
	}
	if r.touched[i] == r.objects {
		return lineError(textKeyTwice)
	}
	r.touched[i] = r.objects
	if i < r.columns {
		r.before, r.changed = append(r.before, r.layout.Columns[i]), append(r.changed, i)
	}
	column := &r.layout.Columns[i]
	if len(text) > 0 {
		column.meet(typedOf(kindOfJSON(value), string(text)), column.Filled == 0)
	}
	column.measure(text, 0)
	return nil
}

// lineProblem is why a line cannot be parsed.
func lineProblem(err error, text []byte) error {
	if bad, ok := errors.AsType[lineError](err); ok {
		return bad
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return lineError(textNUL)
	}
	return lineError(textNoObject)
}

// lines parses the lines of a chunk, the first of which has a number.
func (l Layout) lines(data []byte, number int64) ([]Row, error) {
	known := make(map[string]int, len(l.Columns))
	for i, c := range l.Columns {
		known[c.Name] = i
	}
	var rows []Row
	var o objectParser
	number--
	for line := range bytes.Lines(data) {
		if number++; blank(line) {
			continue
		}
		row := Row{Cells: make([]string, len(l.Columns)), JSON: make([]strictjson.Value, len(l.Columns))}
		if l.Copied && line[0] == '"' {
			row.Invalid = string(appendText(nil, bytes.TrimSpace(line)))
			rows = append(rows, row)
			continue
		}
		if invalidUTF8(line) >= 0 {
			row.Invalid = message("Line", number, (&rowParser{}).noText())
			rows = append(rows, row)
			continue
		}
		var unknown []string // keys of a bad line
		err := o.parse(line, func(key string, value strictjson.Value, cell []byte) error {
			i, ok := known[key]
			switch {
			case !ok && len(bytes.TrimSpace([]byte(key))) == 0:
				return lineError(textNoKey)
			case !ok && slices.Contains(unknown, key):
				return lineError(textKeyTwice)
			case !ok:
				unknown = append(unknown, key)
				return nil
			case row.JSON[i] != nil:
				return lineError(textKeyTwice)
			}
			row.Cells[i], row.JSON[i] = string(cell), value.Clone()
			return nil
		})
		if err != nil {
			row = Row{Cells: make([]string, len(l.Columns)), JSON: make([]strictjson.Value, len(l.Columns))}
			row.Invalid = message("Line", number, lineProblem(err, line).Error())
		} else if len(unknown) > 0 {
			return nil, errOtherRows
		}
		rows = append(rows, row)
	}
	return rows, nil
}
