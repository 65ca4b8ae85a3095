package tabular

import (
	"bytes"
	"errors"
	"io"
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
	if bytes.HasPrefix(w.unread, []byte("\ufeff")) {
		w.unread, w.offset = w.unread[3:], 3
	}
	return w, nil
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
