package httpkit

import (
	"bytes"
	"errors"
	"io"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/apierr"
)

// Kind is what a request's content type says its body is.
type Kind uint8

// The kinds of decisions 1.
const (
	Absent Kind = iota // no content type and no body
	JSON
	Text
)

// Body is a request's body as it was sent. Bytes belong to the handler. A body of kind JSON may have no bytes, which is
// for the caller to refuse.
type Body struct {
	Kind  Kind
	Bytes []byte
}

// ReadBody reads the body, at most Config.BodyLimit bytes of it. Its errors are public ones: 415 before 413 (decisions
// 1), 400 for one that breaks off, 408 for one that does not arrive within ReadTimeout, and 503 at once where the bodies in
// flight leave no room for it (decisions 9).
//
// What is over the limit is neither read nor kept here: the answer goes out at once, and the connection discards a bounded
// rest before it closes, so that a client that is still sending sees the answer and not a reset.
func ReadBody(c *fiber.Ctx) (Body, error) {
	x := exchangeOf(c)
	kind, err := x.bodyKind()
	if err != nil {
		return Body{}, err
	}
	if kind == Absent {
		if x.body.length > 0 {
			return Body{}, apierr.UnsupportedMediaType()
		}
		var one [1]byte
		n, err := io.ReadFull(&x.body, one[:])
		switch {
		case n > 0:
			return Body{}, apierr.UnsupportedMediaType()
		case errors.Is(err, io.EOF):
			return Body{}, nil
		}
		return Body{}, brokenBody(err)
	}
	b, err := x.body.readAll(x.server.cfg.BodyLimit)
	if errors.Is(err, errNoRoom) {
		x.server.observe.shed(shedBodies)
		err = apierr.Unavailable()
	}
	return Body{Kind: kind, Bytes: b}, err
}

// errNoRoom is a body for which the bodies before it leave no room.
var errNoRoom = errors.New("too many bytes of bodies are held")

// uncounted is how much of each body is not held against Config.MaxBodyBytes, so that no number of large bodies has small
// ones refused.
const uncounted = 16 << 10

// bodyKind goes by the headers alone. Any Content-Encoding is refused: what is not decompressed cannot be a bomb.
func (x *exchange) bodyKind() (Kind, error) {
	h := &x.fctx.Request.Header
	if len(h.ContentEncoding()) > 0 || x.headers.contentTypes > 1 {
		return Absent, apierr.UnsupportedMediaType()
	}
	media, _, _ := bytes.Cut(h.ContentType(), []byte(";"))
	media = bytes.Trim(media, " \t")
	switch {
	case len(h.ContentType()) == 0:
		return Absent, nil
	case bytes.EqualFold(media, []byte("application/json")):
		return JSON, nil
	case bytes.EqualFold(media, []byte("text/plain")):
		return Text, nil
	}
	return Absent, apierr.UnsupportedMediaType()
}

func brokenBody(err error) error {
	if isTimeout(err) {
		return requestTimeout()
	}
	return apierr.Malformed()
}

// prefetched is how much of a body with a Content-Length fasthttp has read before the handler runs.
const prefetched = 8 << 10

// withoutBody runs between a request's headers and its body, which fasthttp begins to read before the handler runs. Of a
// body that is over the limit by its own word nothing need arrive, so fasthttp is told of none; enter knows better.
func (s *Server) withoutBody(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if h.ContentLength() > s.cfg.BodyLimit {
		h.SetContentLength(0)
	}
	return fasthttp.RequestConfig{}
}

// incoming is a request's body on the wire. fasthttp's own stream must not be read after its end, since with chunks it
// would read on into the next request. And it says EOF both at the end and where a body breaks off: with a length the
// length tells them apart, with chunks whether the connection has ended, which the last chunk does not wait for.
type incoming struct {
	conn   *conn     // nil when there is none to ask
	stream io.Reader // nil without a body
	length int       // -1 with chunks
	left   bool      // on the wire: it is over the limit by its own word
	read   int
	err    error // of the last read, io.EOF at the end
}

func (b *incoming) Read(p []byte) (int, error) {
	if b.stream == nil || b.length == 0 {
		return 0, io.EOF
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.stream.Read(p)
	b.read += n
	switch {
	case b.length > 0 && b.read == b.length:
		err = io.EOF
	case errors.Is(err, io.EOF) && (b.length > 0 || b.conn != nil && b.conn.ended):
		err = io.ErrUnexpectedEOF
	}
	b.err = err
	if n > 0 && errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}

func (b *incoming) atEnd() bool {
	return !b.left && (b.stream == nil || b.length == 0 || errors.Is(b.err, io.EOF))
}

// small tells whether what is left is here already, so that discarding it cannot wait.
func (b *incoming) small() bool { return b.length > 0 && b.length <= prefetched }

func (b *incoming) discard() error {
	_, err := io.Copy(io.Discard, b)
	return err
}

// readAll never holds more than the limit, and never more than about twice what has arrived: a claimed length costs the
// claimant nothing.
func (b *incoming) readAll(limit int) ([]byte, error) {
	size, first := b.length, uncounted
	if size < 0 {
		size, first = limit, 512 // nobody knows
	}
	if size > limit {
		return nil, apierr.BodyTooLarge()
	}
	buf := make([]byte, 0, min(size, first))
	for {
		if len(buf) == limit {
			var one [1]byte
			n, err := io.ReadFull(b, one[:])
			switch {
			case n > 0:
				return nil, apierr.BodyTooLarge()
			case errors.Is(err, io.EOF):
				return buf, nil
			}
			return nil, brokenBody(err)
		}
		if len(buf) == cap(buf) {
			room := min(2*cap(buf), size)
			if !b.hold(room - max(cap(buf), uncounted)) {
				return nil, errNoRoom
			}
			grown := make([]byte, len(buf), room)
			copy(grown, buf)
			buf = grown
		}
		n, err := b.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case b.atEnd():
			return buf, nil
		case err != nil:
			return nil, brokenBody(err)
		}
	}
}

// hold counts n more bytes in memory.
func (b *incoming) hold(n int) bool { return n <= 0 || b.conn == nil || b.conn.hold(n) }
