package tabular

import (
	"bytes"
	"io"
)

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
