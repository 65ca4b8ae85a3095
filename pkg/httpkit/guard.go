package httpkit

import (
	"bytes"
	"context"
	"errors"
	"net"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/telemetry"
)

// exchange is one request and its answer.
type exchange struct {
	server    *Server
	fctx      *fasthttp.RequestCtx
	conn      *conn // nil when the request did not come through Run, as in App().Test
	headers   headers
	body      incoming
	requestID string
	method    string // bounded: a known one, or OTHER
	route     string // the pattern, or unknown
	began     time.Time
	ctx       context.Context //nolint:containedctx // an exchange is one request, and ends with it
	span      trace.Span
	streaming bool // the answer is still being made when the handler has returned
}

type exchangeKey struct{}

func exchangeOf(c *fiber.Ctx) *exchange {
	x, _ := c.Context().UserValue(exchangeKey{}).(*exchange)
	return x
}

// guard is everything around Fiber: what must hold for requests that match no route too.
func (s *Server) guard(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(fctx *fasthttp.RequestCtx) {
		c, _ := fctx.Conn().(*conn)
		if c != nil {
			if !c.begin() {
				fctx.SetConnectionClose()
				return
			}
			defer c.state.Store(answering)
		}
		x := s.open(fctx, c)
		if refusal := x.enter(); refusal != nil {
			writeError(&fctx.Response, refusal)
		} else {
			x.run(next)
		}
		x.exit()
		if !x.streaming {
			x.done(nil)
		}
	}
}

// run is the last line against panics: handlers' own end in the route middleware, and fasthttp has none.
func (x *exchange) run(next fasthttp.RequestHandler) {
	defer func() {
		if v := recover(); v != nil {
			x.answerError(&panicked{value: v, stack: debug.Stack()})
		}
	}()
	next(x.fctx)
}

func (s *Server) open(fctx *fasthttp.RequestCtx, c *conn) *exchange {
	h := &fctx.Request.Header
	id := h.Peek(fiber.HeaderXRequestID)
	x := &exchange{}
	if c != nil {
		x = &c.exchange
	}
	*x = exchange{
		server:    s,
		fctx:      fctx,
		conn:      c,
		body:      incoming{conn: c, stream: fctx.RequestBodyStream(), length: h.ContentLength()},
		requestID: string(id),
		method:    boundedMethod(h.Method()),
		route:     unknownRoute,
		began:     s.deps.Now(),
	}
	if !saneRequestID(id) {
		x.requestID = s.deps.NewID()
	}
	x.ctx = telemetry.WithRequestID(s.run.base, x.requestID)
	x.ctx, x.span = s.observe.start(x.ctx, x.method, carrier{h})
	fctx.SetUserValue(exchangeKey{}, x)
	fctx.Response.Header.Set(fiber.HeaderXRequestID, x.requestID)
	return x
}

// enter is the checks before routing, first failure first.
func (x *exchange) enter() *apierr.Error {
	h := &x.fctx.Request.Header
	facts, ok := inspect(h)
	if !ok {
		x.close() // where the request ends is anyone's guess
		return apierr.Malformed()
	}
	x.headers = facts
	if facts.length > x.server.cfg.BodyLimit {
		x.body.length, x.body.left = facts.length, true
	}
	if facts.close {
		x.fctx.SetConnectionClose()
	}
	switch v := x.server.tracker.admit(); v {
	case admitted:
		if x.conn != nil {
			x.conn.inFlight = true // given back when the answer is out
		} else {
			defer x.server.tracker.leave()
		}
	default:
		x.server.observe.shed(v)
		return apierr.Unavailable()
	}
	path, ok := rawPath(h.RequestURI())
	if !ok {
		return apierr.Malformed()
	}
	// Fiber answers unknown methods by itself, in plain text.
	if x.method == otherMethod || !bytes.Equal(path, x.fctx.URI().PathOriginal()) {
		return apierr.RouteNotFound()
	}
	return nil
}

// exit sees to it that an unread body is not taken for the next request, and that clients leave a stopping server.
func (x *exchange) exit() {
	switch {
	case x.server.stopping():
		x.close()
	case x.body.atEnd():
	case x.body.small() && x.body.discard() == nil:
	default:
		x.close()
	}
}

// close ends the connection after this answer, which still arrives when the client is sending.
func (x *exchange) close() {
	x.fctx.SetConnectionClose()
	if x.conn != nil {
		x.conn.linger = true
	}
}

// unparsed answers what fasthttp could not parse. Its error echoes what was sent, so it is neither sent nor logged.
//
// The contract has no word for these; the bodies are those of a malformed request, the statuses the plain HTTP ones:
// 431 headers over the limit, 408 a request that did not arrive in time, 400 anything else.
func (s *Server) unparsed(fctx *fasthttp.RequestCtx, err error) {
	c, _ := fctx.Conn().(*conn)
	if c != nil {
		if !c.begin() {
			return
		}
		defer c.state.Store(answering)
		if !c.received { // a connection that was opened in advance, and not used
			_ = c.Conn.Close()
			return
		}
		c.linger = true
	}
	began := s.deps.Now()
	answer := apierr.Malformed()
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &small):
		answer.Status = fasthttp.StatusRequestHeaderFieldsTooLarge
	case isTimeout(err):
		answer = requestTimeout()
	}
	id := s.deps.NewID()
	fctx.Response.Reset()
	fctx.Response.Header.Set(fiber.HeaderXRequestID, id)
	writeError(&fctx.Response, answer)
	s.observe.unparsed(telemetry.WithRequestID(s.run.base, id), answer.Status, s.deps.Now().Sub(began))
}

// requestTimeout is a request that did not arrive whole in time. It is not in the catalogue because it is no answer of an
// operation: the connection ends with it.
func requestTimeout() *apierr.Error {
	err := apierr.Malformed()
	err.Status = fasthttp.StatusRequestTimeout
	return err
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func saneRequestID(id []byte) bool {
	if len(id) == 0 || len(id) > 128 {
		return false
	}
	for _, c := range id {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// otherMethod stands for methods that HTTP does not define, so that labels stay few.
const otherMethod = "OTHER"

func boundedMethod(m []byte) string {
	for _, known := range fiber.DefaultMethods {
		if string(m) == known {
			return known
		}
	}
	return otherMethod
}
