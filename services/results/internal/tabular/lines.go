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

// parse calls member for each member of the object on a line, with the value as JSON and as the text of a cell. Both are valid
// until member returns.
func (o *objectParser) parse(line []byte, member func(key string, value strictjson.Value, text []byte) error) error {
	o.line.Reset(line)
	if o.decoder == nil {
		o.decoder = strictjson.NewDecoder(&o.line)
	} else {
		o.decoder.Reset(&o.line)
	}
	if begin, err := o.decoder.ReadToken(); err != nil || begin.Kind() != '{' {
		return errors.Join(err, errNoObject)
	}
	for o.decoder.PeekKind() == '"' {
		token, err := o.decoder.ReadToken()
		if err != nil {
			return err
		}
		key := token.String()
		value, err := o.decoder.ReadValue()
		if err != nil {
			return err
		}
		if o.text, err = appendText(o.text[:0], value); err != nil {
			return err
		}
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

// appendText appends a value as the text of a cell: a string as it is, null as nothing, everything else as its JSON
// (spec: file-jsonl).
func appendText(b []byte, value strictjson.Value) ([]byte, error) {
	switch value.Kind() {
	case '"':
		return strictjson.AppendUnquote(b, value)
	case 'n':
		return b, nil
	default:
		return append(b, value...), nil
	}
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
	names := 0 // bytes
	member := func(key string, _ strictjson.Value, text []byte) error {
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
			known[key] = i
			layout.Columns = append(layout.Columns, Column{Name: key})
		}
		layout.Columns[i].measure(text, 0)
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
		if bytes.IndexByte(text, 0) >= 0 {
			return Layout{}, notUTF8(line) // UTF-16 without a byte-order mark
		}
		if err := o.parse(text, member); err != nil {
			return Layout{}, lineProblem(err, line)
		}
		if err := c.add(w.offset-int64(len(text)), int64(len(text)), line); err != nil {
			return Layout{}, err
		}
	}
}

// lineProblem translates an error of parse to a problem of the file.
func lineProblem(err error, line int64) error {
	var already *UnusableError
	switch {
	case errors.As(err, &already):
		return already
	case errors.Is(err, strictjson.ErrDuplicateName):
		return unusable("Line", line, "a key occurs twice.")
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
