package tabular

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/prism-results/prism/pkg/strictjson"
)

// objectParser parses the lines of jsonl.
type objectParser struct {
	decoder *strictjson.Decoder
	line    bytes.Reader
	text    []byte // of the member's value
}

// parse calls member for each member of the object on a line of UTF-8, with the value as JSON and as the text of a cell. Both are
// valid until member returns. The key is not UTF-8 if it has an unpaired surrogate. As in the body of a call, strings may have NUL
// and unpaired surrogates, and nested objects a member twice (spec: nul-and-surrogates, duplicate-members).
func (o *objectParser) parse(line []byte, member func(key string, value strictjson.Value, text []byte) error) error {
	if bytes.IndexByte(line, 0) >= 0 {
		if bytes.Contains(line, []byte("\\\x00")) {
			return errNoObject // the escape would become another one
		}
		line = bytes.ReplaceAll(line, []byte{0}, []byte(`\u0000`)) // which is a NUL in a string, and damage elsewhere
	}
	o.line.Reset(line)
	// The library takes unpaired surrogates only together with bytes that are not UTF-8, which the line does not have.
	options := strictjson.JoinOptions(strictjson.AllowDuplicateNames(true), strictjson.AllowInvalidUTF8(true))
	if o.decoder == nil {
		o.decoder = strictjson.NewDecoder(&o.line, options)
	} else {
		o.decoder.Reset(&o.line, options)
	}
	if begin, err := o.decoder.ReadToken(); err != nil || begin.Kind() != '{' {
		return errors.Join(err, errNoObject)
	}
	for o.decoder.PeekKind() == '"' {
		name, err := o.decoder.ReadValue()
		if err != nil {
			return err
		}
		key := "\xff"
		if unquoted, err := strictjson.AppendUnquote(o.text[:0], name); err == nil {
			key = string(unquoted)
		}
		value, err := o.decoder.ReadValue()
		if err != nil {
			return err
		}
		o.text = appendText(o.text[:0], value)
		if err := member(key, value, o.text); err != nil {
			return err
		}
	}
	if _, err := o.decoder.ReadToken(); err != nil {
		return err
	}
	if _, err := o.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(err, errNoObject)
	}
	return nil
}

var errNoObject = errors.New("not a JSON object")

// appendText appends a value as the text of a cell: a string as it is, but U+FFFD for an unpaired surrogate, null as nothing,
// everything else as its JSON (spec: file-jsonl).
func appendText(b []byte, value strictjson.Value) []byte {
	switch value.Kind() {
	case '"':
		b, _ = strictjson.AppendUnquote(b, value) // the only error is an unpaired surrogate
		return b
	case 'n':
		return b
	default:
		return append(b, value...)
	}
}

// kindOfJSON is the kind of a value as a cell.
func kindOfJSON(value strictjson.Value) Kind {
	if k := value.Kind(); k == '0' {
		return Number
	} else if k == 't' || k == 'f' {
		return Boolean
	}
	return Text
}

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
			if !t.found {
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

// opensArray reports whether a text that begins with a bracket is an array of values on any lines, and not a line of jsonl that is
// an array: the first line has no end of the array with a further line behind it.
func opensArray(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == ']')
}

// nextElement consumes the next element of an array, and returns it with the number of its line: io.EOF if there is none. What
// follows the array is an element.
func (w *window) nextElement() (text []byte, line int64, err error) {
	for {
		rest := bytes.TrimLeft(w.unread, " \t\r\n,")
		if w.skip(len(w.unread) - len(rest)); len(rest) > 0 || w.ended {
			break
		}
		if err := w.fill(); err != nil {
			return nil, 0, err
		}
	}
	if len(w.unread) > 0 && w.unread[0] == ']' {
		w.skip(1)
		for {
			rest := bytes.TrimLeft(w.unread, " \t\r\n")
			if w.skip(len(w.unread) - len(rest)); len(rest) > 0 || w.ended {
				break
			}
			if err := w.fill(); err != nil {
				return nil, 0, err
			}
		}
	}
	if len(w.unread) == 0 {
		return nil, 0, io.EOF
	}
	n := elementLength(w.unread)
	if n < 0 && !w.full() {
		if err := w.fill(); err != nil {
			return nil, 0, err
		}
		n = elementLength(w.unread)
	}
	if n < 0 {
		n = len(w.unread)
	}
	if n > MaxRowBytes {
		return nil, 0, rowTooLarge("Line", w.line)
	}
	text, line = w.unread[:n], w.line
	w.skip(n)
	return text, line, nil
}

// elementLength is where the value ends with which a text begins: below 0 if it does not end there.
func elementLength(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth == 0 { // the end of the array
				return max(i, 1)
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case b == ',' && depth == 0:
			return max(i, 1)
		}
	}
	return -1
}

// nextLine consumes the next line, and returns it with its line break and its number: io.EOF if there is none.
func (w *window) nextLine() (text []byte, line int64, err error) {
	n := bytes.IndexByte(w.unread, '\n') + 1
	if n == 0 && !w.full() {
		if err := w.fill(); err != nil {
			return nil, 0, err
		}
		n = bytes.IndexByte(w.unread, '\n') + 1
	}
	if n == 0 {
		n = len(w.unread)
	}
	if n == 0 {
		return nil, 0, io.EOF
	}
	if row := bytes.TrimSuffix(w.unread[:n], []byte("\n")); len(bytes.TrimSuffix(row, []byte("\r"))) > MaxRowBytes {
		return nil, 0, rowTooLarge("Line", w.line)
	}
	text, line = w.unread[:n], w.line
	w.skip(n)
	return text, line, nil
}

// blank tells whether a line has nothing but white space of JSON.
func blank(line []byte) bool { return len(bytes.Trim(line, " \t\r\n")) == 0 }

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
