package tabular

import (
	"bytes"
	"errors"
	"io"

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

// readLines reads jsonl.
func readLines(src io.Reader, c *chunker) (Layout, error) {
	w, err := newWindow(src)
	if err != nil {
		return Layout{}, err
	}
	var layout Layout
	var o objectParser
	known := map[string]int{}
	var line int64
	names := 0            // bytes
	lastLine := []int64{} // of each column
	member := func(key string, value strictjson.Value, text []byte) error {
		i, ok := known[key]
		if !ok {
			if len(bytes.TrimSpace([]byte(key))) == 0 {
				return unusable("Line", line, "a key is empty.")
			}
			if i = len(layout.Columns); i == MaxColumns {
				return tooManyColumns("Line", line, MaxColumns+1)
			}
			if names += len(key); names > MaxRowBytes {
				return namesTooLarge("Line", line)
			}
			if err := checkName("Line", line, i, key); err != nil {
				return err
			}
			known[key] = i
			layout.Columns, lastLine = append(layout.Columns, Column{Name: key}), append(lastLine, 0)
		}
		if lastLine[i] == line {
			return unusable("Line", line, "a key occurs twice.")
		}
		lastLine[i] = line
		column := &layout.Columns[i]
		if len(text) > 0 {
			column.meet(typedOf(kindOfJSON(value), string(text)), column.Filled == 0)
		}
		column.measure(text, 0)
		return nil
	}
	for {
		var text []byte
		if text, line, err = w.nextLine(); errors.Is(err, io.EOF) {
			if c.rows > 0 && len(layout.Columns) == 0 {
				return Layout{}, &UnusableError{"The file has no columns."}
			}
			return layout, nil
		} else if err != nil {
			return Layout{}, err
		}
		if blank(text) {
			continue
		}
		if err := checkUTF8(text, line); err != nil {
			return Layout{}, err
		}
		if err := o.parse(text, member); err != nil {
			return Layout{}, lineProblem(err, text, line)
		}
		if err := c.add(w.offset-int64(len(text)), int64(len(text)), line); err != nil {
			return Layout{}, err
		}
	}
}

// lineProblem translates an error of parse to a problem of the file.
func lineProblem(err error, text []byte, line int64) error {
	if already, ok := errors.AsType[*UnusableError](err); ok {
		return already
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return unusable("Line", line, "a NUL character that is in no string. Remove it.")
	}
	return unusable("Line", line, "not a JSON object.")
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

// lines parses the lines of a chunk.
func (l Layout) lines(data []byte) ([]Row, error) {
	known := make(map[string]int, len(l.Columns))
	for i, c := range l.Columns {
		known[c.Name] = i
	}
	var rows []Row
	var o objectParser
	for line := range bytes.Lines(data) {
		if blank(line) {
			continue
		}
		row := Row{Cells: make([]string, len(l.Columns)), JSON: make([]strictjson.Value, len(l.Columns))}
		err := o.parse(line, func(key string, value strictjson.Value, text []byte) error {
			i, ok := known[key]
			if !ok {
				return errors.New("not the keys that were read")
			}
			row.Cells[i], row.JSON[i] = string(text), value.Clone()
			return nil
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
