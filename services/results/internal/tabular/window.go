package tabular

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// windowBytes is more than the largest row, so that a row that does not fit is too large.
const windowBytes = 2 * MaxRowBytes

// window is the part of a text file that is in memory.
type window struct {
	src    io.Reader
	buffer []byte
	unread []byte // the end of buffer, which is not consumed yet
	offset int64  // of unread in the file
	line   int64  // of unread in the file; the first is 1
	ended  bool   // unread is all that is left of the file
}

// newWindow reads the beginning of a file, and skips its byte-order mark.
func newWindow(src io.Reader) (*window, error) {
	w := &window{src: src, buffer: make([]byte, 0, windowBytes), line: 1}
	if err := w.fill(); err != nil {
		return nil, err
	}
	start := w.unread[:min(len(w.unread), 4)]
	if bytes.HasPrefix(start, []byte{0xff, 0xfe}) || bytes.HasPrefix(start, []byte{0xfe, 0xff}) || wide(start) {
		return nil, notUTF8(1)
	}
	if bytes.HasPrefix(start, []byte("\ufeff")) {
		w.unread, w.offset = w.unread[3:], 3
	}
	return w, nil
}

// wide tells whether a file that begins with 4 bytes is in UTF-16 or UTF-32 without a byte-order mark. ASCII then has zeros in every
// other byte; a zero elsewhere is a NUL character.
func wide(start []byte) bool {
	return len(start) == 4 && (start[0] == 0 && start[2] == 0 || start[1] == 0 && start[3] == 0)
}

// fill reads until the window is full or the file ends.
func (w *window) fill() error {
	w.buffer = append(w.buffer[:0], w.unread...)
	n, err := io.ReadFull(w.src, w.buffer[len(w.buffer):cap(w.buffer)])
	w.buffer = w.buffer[:len(w.buffer)+n]
	w.unread = w.buffer
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		w.ended, err = true, nil
	}
	return err
}

// full tells whether fill has nothing to add.
func (w *window) full() bool { return w.ended || len(w.unread) == cap(w.buffer) }

// skip consumes the next n bytes.
func (w *window) skip(n int) {
	w.line += int64(bytes.Count(w.unread[:n], []byte{'\n'}))
	w.unread, w.offset = w.unread[n:], w.offset+int64(n)
}

// checkUTF8 checks text whose first line has a number.
func checkUTF8(text []byte, line int64) error {
	if utf8.Valid(text) {
		return nil
	}
	for {
		if r, n := utf8.DecodeRune(text); r == utf8.RuneError && n < 2 {
			return notUTF8(line)
		} else if r == '\n' {
			line++
			text = text[n:]
		} else {
			text = text[n:]
		}
	}
}

func notUTF8(line int64) error { return unusable("Line", line, "not UTF-8.") }
