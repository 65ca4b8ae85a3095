package httpkit

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/telemetry"
)

// exchange is one request and its response.
type exchange struct {
	server    *Server
	fctx      *fasthttp.RequestCtx
	conn      *conn // nil in App().Test
	headers   headers
	body      incoming
	arrival   arrival
	method    string          // a method of HTTP, or otherMethod
	route     string          // the pattern of the route, or unknownRoute
	ctx       context.Context //nolint:containedctx // an exchange is one request, and ends with it
	span      trace.Span
	streaming bool    // the response body is made after the handler returned
	checksFor *string // the account whose turn of CheckLarge it has; nil: none
	extend    func(*apierr.Error) []byte
}

type exchangeKey struct{}

func exchangeOf(c *fiber.Ctx) *exchange {
	x, _ := c.Context().UserValue(exchangeKey{}).(*exchange)
	return x
}

// guard wraps Fiber's handler in everything that also holds for requests that match no route.
func (s *Server) guard(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(fctx *fasthttp.RequestCtx) {
		c, _ := fctx.Conn().(*conn)
		if c != nil {
			if !c.begin() {
				fctx.SetConnectionClose()
				return
			}
			defer c.state.Store(responding)
		}
		x := s.open(fctx, c)
		if refusal := x.enter(); refusal != nil {
			writeError(&fctx.Response, refusal)
		} else if err := recovered(func() error { next(fctx); return nil }); err != nil {
			x.respondError(err) // a panic outside of handlers, from which fasthttp does not recover
		}
		x.endCheck()
		x.exit()
		x.arrivalEnds()
		if !x.streaming {
			x.done(nil)
		}
	}
}

func (s *Server) open(fctx *fasthttp.RequestCtx, c *conn) *exchange {
	h := &fctx.Request.Header
	id := string(h.Peek(fiber.HeaderXRequestID))
	if !saneRequestID(id) {
		id = s.deps.NewID()
	}
	x := &exchange{}
	if c != nil {
		x = &c.exchange
		// The headers' buffer may hold as many bytes of the body as the limit.
		c.framing = framing{room: 2 * s.cfg.HeaderLimit}
	}
	*x = exchange{
		server: s,
		fctx:   fctx,
		conn:   c,
		body:   incoming{conn: c, stream: fctx.RequestBodyStream(), length: h.ContentLength()},
		method: boundedMethod(h.Method()),
		route:  unknownRoute,
	}
	x.ctx, x.span = s.observe.start(fair.With(telemetry.WithRequestID(s.run.Load().base, id), ""), x.method, carrier{h})
	fctx.SetUserValue(exchangeKey{}, x)
	setStandardHeaders(&fctx.Response.Header, id)
	return x
}

// enter is the checks before routing, first failure first.
func (x *exchange) enter() *apierr.Error {
	h := &x.fctx.Request.Header
	facts, ok := inspect(h)
	if !ok {
		x.close() // the end of the request is not known
		return apierr.Malformed()
	}
	x.headers = facts
	if facts.length > 0 { // which fasthttp was not told (see withoutBody)
		x.body.length, x.body.left = facts.length, facts.length > x.server.cfg.BodyLimit
		if !x.body.left {
			h.SetContentLength(facts.length)
		}
	}
	if facts.close {
		x.fctx.SetConnectionClose()
	}
	if !x.awaitsBody() {
		if err := x.admit(); err != nil {
			return err
		}
	} else if reason := x.unwelcome(); reason != notShed {
		return x.shed(reason)
	}
	path, ok := rawPath(h.RequestURI())
	if !ok {
		return apierr.Malformed()
	}
	// Fiber responds to unknown methods by itself, in plain text.
	if x.method == otherMethod || !bytes.Equal(path, x.fctx.URI().PathOriginal()) {
		return apierr.RouteNotFound()
	}
	return nil
}

// awaitsBody tells whether ReadBody admits the request, when the body has arrived whole (spec: arriving-bodies). Handlers of
// GET and HEAD read no body.
func (x *exchange) awaitsBody() bool {
	return !x.body.atEnd() && !ReadOnly(x.method)
}

// ReadOnly tells whether requests with the method change nothing.
func ReadOnly(method string) bool { return method == fiber.MethodGet || method == fiber.MethodHead }

// unwelcome tells why the request is refused, whatever its body is. A request on a connection beyond the bound is the last one.
func (x *exchange) unwelcome() shedReason {
	switch {
	case x.conn == nil: // in App().Test
	case !x.conn.refusedUntil.IsZero():
		x.close()
		return shedConns
	case x.server.tracker.refusing.Load():
		return shedStopping
	}
	return notShed
}

// account is for whom the request counts at every bound that callers share: the account that the function of ShareByAccount
// tells, else the client's address (spec: fair-shares).
func (x *exchange) account() string {
	if x.server.accountOf == nil {
		return ""
	}
	if account := x.server.accountOf(x.fctx); account != "" {
		return account
	}
	return x.client().String()
}

// admit counts the request as in flight until endRequest, or refuses the request.
func (x *exchange) admit() *apierr.Error {
	reason := x.unwelcome()
	if reason == notShed && x.conn != nil {
		class := fair.Yielding
		if ReadOnly(x.method) {
			class = fair.Preferred
		}
		account, t := x.account(), x.server.tracker
		reason = t.admit(account, class)
		x.conn.inFlight = reason == notShed
		if x.conn.inFlight {
			fair.Hold(x.ctx, account, t.places, t.answers)
		}
	}
	if reason != notShed {
		return x.shed(reason)
	}
	return nil
}

func (x *exchange) shed(reason shedReason) *apierr.Error {
	x.server.observe.shed(reason)
	return apierr.Unavailable()
}

// exit keeps an unread body from being read as the next request, and closes outdated connections and those of a stopping server.
func (x *exchange) exit() {
	switch {
	case x.server.stopping(), x.conn != nil && x.conn.outdated():
		x.close()
	case x.body.atEnd():
	case x.fctx.RequestBodyStream() != nil && x.body.arrived(): // the stream is nil after Fiber has read it
	default:
		x.close()
	}
}

// close ends the connection after this response. The response arrives also when the client is still sending.
func (x *exchange) close() {
	x.fctx.SetConnectionClose()
	if x.conn != nil {
		x.conn.linger = true
	}
}

// unparsed responds to what fasthttp could not parse. The error of fasthttp repeats what was sent, so it is neither sent nor
// logged (spec: values-are-never-repeated). The body is that of a malformed request. The status is 431 for headers over the
// limit, 408 for a request that did not arrive in time, and 400 for everything else.
func (s *Server) unparsed(fctx *fasthttp.RequestCtx, err error) {
	c, _ := fctx.Conn().(*conn)
	if c != nil {
		if !c.begin() {
			return
		}
		defer c.state.Store(responding)
		if !c.received { // a connection that was opened in advance, and not used
			_ = c.Conn.Close()
			return
		}
		c.linger = true
	}
	began := time.Now()
	response := brokenRequest(err)
	var small *fasthttp.ErrSmallBuffer
	if errors.As(err, &small) {
		response = headersTooLarge()
	}
	id := s.deps.NewID()
	fctx.Response.Reset()
	fctx.Response.Header.Set(fiber.HeaderXRequestID, id)
	writeError(&fctx.Response, response)
	s.observe.record(telemetry.WithRequestID(s.run.Load().base, id), unknownRoute, otherMethod, response.Status, began, nil)
}

// requestTimeout is a request that did not arrive whole in time. It is not in the catalogue because it belongs to no
// operation: the connection ends with it.
func requestTimeout() *apierr.Error {
	err := apierr.Malformed()
	err.Status = fasthttp.StatusRequestTimeout
	return err
}

// headersTooLarge is a request whose headers exceed HeaderLimit. Like requestTimeout, it is not in the catalogue.
func headersTooLarge() *apierr.Error {
	err := apierr.Malformed()
	err.Status = fasthttp.StatusRequestHeaderFieldsTooLarge
	return err
}

// brokenRequest is a request that broke off, or did not arrive in time.
func brokenRequest(err error) *apierr.Error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return requestTimeout()
	}
	return apierr.Malformed()
}

func saneRequestID(id string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return len(id) > 0 && len(id) <= 128 && strings.Trim(id, allowed) == ""
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
