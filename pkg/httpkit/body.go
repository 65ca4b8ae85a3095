package httpkit

import (
	"bytes"
	"errors"
	"io"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/fair"
)

// Kind is what a request's content type says its body is.
type Kind uint8

// The kinds of a body (spec: parsed-content-types, absent-body).
const (
	Absent Kind = iota // no content type and no body
	JSON
	Text
	Octets // application/octet-stream, which only ReadOctets takes
)

// Body is a request's body as it was sent. Bytes belong to the handler. A body of kind JSON may have no bytes, which is
// for the caller to refuse.
type Body struct {
	Kind  Kind
	Bytes []byte
}

// ReadBody reads the body, at most Config.BodyLimit bytes of it (spec: body-limit, body-limit-of-chunked-bodies). Its
// errors are of the catalogue: 415, which takes precedence over 413 (spec: unparsed-content-types); 400 for a body that
// breaks off; 408 for a body that does not arrive within ReadTimeout; 431 for chunk extensions over the limit of headers; and
// 503 at once when the bodies of other requests leave no room, or too many requests are in flight or arriving
// (spec: overload, arriving-bodies). A handler of another method than GET and HEAD begins with ReadBody: before, a request with
// a body is not in flight.
//
// A body over the limit is neither read nor kept: the response is sent at once, and the connection discards a bounded
// number of bytes before it closes. So a client that is still sending sees the response and not a reset.
func ReadBody(c *fiber.Ctx) (Body, error) {
	return readBody(c, func(k Kind) bool { return k != Octets })
}

// ReadOctets is ReadBody for a body that has to be application/octet-stream, with any bytes or none.
func ReadOctets(c *fiber.Ctx) ([]byte, error) {
	b, err := readBody(c, func(k Kind) bool { return k == Octets })
	return b.Bytes, err
}

func readBody(c *fiber.Ctx, takes func(Kind) bool) (Body, error) {
	x := exchangeOf(c)
	kind, err := x.bodyKind()
	if err == nil && !takes(kind) {
		err = apierr.UnsupportedMediaType()
	}
	if err != nil {
		return Body{}, err
	}
	limit := x.server.cfg.BodyLimit
	if kind == Absent {
		limit = 0
	}
	awaited := x.awaitsBody()
	b, err := x.body.readAll(limit)
	x.arrivalEnds()
	switch {
	case err == nil && awaited:
		if refusal := x.admit(); refusal != nil {
			return Body{}, refusal
		}
	case x.arrival.refused != notShed:
		err = x.shed(x.arrival.refused)
	case errors.Is(err, errNoRoom):
		err = x.shed(shedBodies)
	case kind == Absent && errors.Is(err, apierr.BodyTooLarge()):
		err = apierr.UnsupportedMediaType()
	}
	return Body{Kind: kind, Bytes: b}, err
}

// errNoRoom is a body that would exceed Config.MaxBodyBytes.
var errNoRoom = errors.New("too many bytes of bodies are held")

// uncounted is how many bytes of each body do not count towards Config.MaxBodyBytes, so that large bodies never cause the
// refusal of small ones.
const uncounted = 16 << 10

const (
	// largeBody is the least size of a body that CheckLarge bounds, in bytes.
	largeBody = 64 << 10
	// bytesOfCheck is how much of Config.MaxBodyBytes allows one more large body to be checked at the same time. Checking 1 MiB
	// takes some 16 MiB, and the memory of the process is a multiple of Config.MaxBodyBytes.
	bytesOfCheck = 8 << 20
)

// CheckLarge bounds how many large bodies are checked at once: while its problems are listed, a body of 1 MiB takes 16 times
// its size. For a body of n bytes that is large, CheckLarge waits for its turn, which ends with done, or when the error of the
// handler has become the response. The requests that wait are few, because their bodies count towards Config.MaxBodyBytes.
func CheckLarge(c *fiber.Ctx, n int) (done func()) {
	x := exchangeOf(c)
	if n >= largeBody {
		account := fair.Account(x.ctx)
		if x.server.tracker.turns.Take(x.ctx, account, fair.Preferred) == nil {
			x.checksFor = &account
		}
	}
	return x.endCheck
}

// endCheck ends the turn of CheckLarge, if the request has it.
func (x *exchange) endCheck() {
	if x.checksFor != nil {
		x.server.tracker.turns.Give(*x.checksFor)
		x.checksFor = nil
	}
}

// Turns are for work that keeps a processor busy for milliseconds, as checking large bodies does. Accounts have theirs one after the
// other (spec: turns-of-work).
func (s *Server) Turns() *fair.Queue { return s.tracker.turns }

// bodyKind reads the headers alone. A Content-Encoding other than identity is refused, so that no body grows by
// decompression (spec: content-encoding).
func (x *exchange) bodyKind() (Kind, error) {
	h := &x.fctx.Request.Header
	if x.headers.encoded || x.headers.contentTypes > 1 {
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
	case bytes.EqualFold(media, []byte("application/octet-stream")):
		return Octets, nil
	}
	return Absent, apierr.UnsupportedMediaType()
}

// withoutBody runs after the headers of a request and before fasthttp begins to read its body. It reports a length of 0 to
// fasthttp, which then waits for no part of the body. enter restores the original length.
func withoutBody(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if h.ContentLength() > 0 {
		h.SetContentLength(0)
	}
	return fasthttp.RequestConfig{}
}

// incoming is the body of a request while it arrives. It makes up for two properties of fasthttp's stream (1.73): after
// the last chunk, a further Read would read the next request; and a body that breaks off ends with EOF too. incoming
// tells a whole body from a broken one by its length, or, with chunks, by whether the client has ended the connection.
type incoming struct {
	conn   *conn     // nil in App().Test
	stream io.Reader // nil without a body
	length int       // -1 with chunks
	left   bool      // unread on the connection: its Content-Length exceeds the limit
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
	var n int
	var err error
	if b.length < 0 && b.conn != nil {
		n, err = b.conn.framing.read(b.stream, p)
	} else {
		n, err = b.stream.Read(p)
	}
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

// arrived skips a body that nobody read, and tells whether the body had arrived whole, with the headers.
func (b *incoming) arrived() bool {
	if b.length < 0 || b.left {
		return false
	}
	if b.conn != nil {
		b.conn.exchange.arrival.refused = shedArriving // from here on, reading does not wait
	}
	_, err := io.Copy(io.Discard, b)
	return err == nil
}

// readAll reads at most one byte more than the limit. It never holds more than about twice what has arrived: a client can
// claim any length in Content-Length.
func (b *incoming) readAll(limit int) ([]byte, error) {
	if b.length > limit {
		return nil, apierr.BodyTooLarge()
	}
	size, first := b.length, uncounted
	if size < 0 {
		size, first = limit+1, 512 // the length is unknown
	}
	buf := make([]byte, 0, min(size, first))
	for {
		n, err := b.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > limit:
			return nil, apierr.BodyTooLarge()
		case b.atEnd():
			return buf, nil
		case err != nil:
			if b.conn != nil && b.conn.framing.exceeded {
				return nil, headersTooLarge()
			}
			return nil, brokenRequest(err)
		}
		if len(buf) == cap(buf) {
			room := min(2*cap(buf), size)
			if counted := min(room, limit) - max(cap(buf), uncounted); counted > 0 && b.conn != nil && !b.conn.hold(int64(counted)) {
				return nil, errNoRoom
			}
			buf = append(make([]byte, 0, room), buf...)
		}
	}
}
