package httpkit

import (
	"errors"
	"io"
)

// framing bounds the chunk extensions of a body: they count as header bytes (spec: chunk-extensions). fasthttp skips an
// extension of any length in one Read of the body. So framing counts what the connection receives while a chunked body is
// read and what the body delivers. The difference is what is buffered, the size lines of the chunks, at most one for each
// Read, and their extensions.
type framing struct {
	room     int  // how many more bytes the connection may receive
	bounded  bool // while a chunked body is read
	exceeded bool
}

const (
	// sizeLine is how many bytes of a chunk are neither data nor extension: the size in hexadecimal and two line ends.
	sizeLine = 16 + 2 + 2
	// chunkStep bounds one Read, and so how far an extension can exceed the limit.
	chunkStep = 8 << 10
)

var errExtensions = errors.New("chunk extensions exceed the limit of headers")

// read reads from a chunked body.
func (f *framing) read(body io.Reader, p []byte) (n int, err error) {
	p = p[:min(len(p), chunkStep)]
	f.room += len(p) + sizeLine
	f.bounded = true
	n, err = body.Read(p)
	f.bounded = false
	f.room -= len(p) - n
	return n, err
}

// received accounts for n bytes that the connection has received.
func (f *framing) received(n int) { f.room -= n }

// full tells whether the connection may receive no further byte of the body.
func (f *framing) full() bool {
	f.exceeded = f.bounded && f.room <= 0
	return f.exceeded
}
