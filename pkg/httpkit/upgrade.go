package httpkit

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/telemetry"
)

// Upgrade answers 101 and hands the connection to serve, which carries calls over it until it returns. Requests that ask
// for nothing of the kind are answered as an unknown route.
func Upgrade(c *fiber.Ctx, protocol string, serve func(*Upgraded)) error {
	x := exchangeOf(c)
	if c.Get(fiber.HeaderUpgrade) != protocol || x.conn == nil {
		return apierr.RouteNotFound()
	}
	x.upgraded = true
	c.Status(fiber.StatusSwitchingProtocols)
	c.Set(fiber.HeaderConnection, fiber.HeaderUpgrade)
	c.Set(fiber.HeaderUpgrade, protocol)
	server, inner := x.server, x.conn
	c.Context().Hijack(func(in net.Conn) {
		inner.state.Store(upgraded)
		inner.settle()
		if server.tracker.closed.Load() { // the tracker has passed, or sees the state
			inner.stopReading()
		}
		inner.linger = true // calls that are under way when it ends would reset the connection
		serve(&Upgraded{in: in, conn: inner, server: server})
	})
	return nil
}

// Upgraded is a connection that carries many calls at once. What bounds and measures requests bounds and measures them
// too. It is not idle, so it keeps its place. When the server has drained, reading from it fails.
type Upgraded struct {
	in     io.Reader // what came behind the request's headers is in it
	conn   *conn
	server *Server
}

// Read reads what the client sent.
func (u *Upgraded) Read(p []byte) (int, error) { return u.in.Read(p) }

// Write fails when the client takes nothing for WriteTimeout.
func (u *Upgraded) Write(p []byte) (int, error) { return u.conn.Write(p) }

// Close says that nothing more is written, and ends reading.
func (u *Upgraded) Close() error {
	_ = u.conn.SetReadDeadline(time.Unix(1, 0)) // a connection that has ended needs none
	if half, ok := u.conn.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return u.conn.Conn.Close()
}

// Told is done when the server shall stop: clients should call on another connection.
func (u *Upgraded) Told() context.Context { return u.server.run.told }

// Call is one request on an upgraded connection.
type Call struct {
	server *Server
	route  string
	began  time.Time
	ctx    context.Context //nolint:containedctx // a call is one request, and ends with it
	span   trace.Span
	held   int64
}

// Begin takes a call in before its body, of so many bytes, is read. An unknown route is "". It returns the contract's 503 when the server has no
// room for it or stops. Every call that was taken in needs Do once and then Leave.
func (u *Upgraded) Begin(route, requestID string, headers propagation.TextMapCarrier, body int) (*Call, error) {
	s := u.server
	if !saneRequestID([]byte(requestID)) {
		requestID = s.deps.NewID()
	}
	c := &Call{server: s, route: cmp.Or(route, unknownRoute), began: s.deps.Now(), held: max(0, int64(body)-uncounted)}
	v := s.tracker.admit()
	if v == admitted && !s.tracker.hold(c.held) {
		s.tracker.leave()
		v = shedBodies
	}
	c.ctx, c.span = s.observe.start(telemetry.WithRequestID(s.run.base, requestID), fiber.MethodPost, headers)
	if v != admitted {
		s.observe.shed(v)
		c.done(fasthttp.StatusServiceUnavailable)
		return nil, apierr.Unavailable()
	}
	return c, nil
}

// Do handles the call and records the status that handle returns; 500 when it panics.
func (c *Call) Do(handle func(context.Context) int) (status int) {
	defer func() {
		if v := recover(); v != nil {
			status = fasthttp.StatusInternalServerError
			p := &panicked{value: v, stack: debug.Stack()}
			c.server.deps.Log.LogAttrs(c.ctx, slog.LevelError, "request failed", slog.String("route", c.route),
				slog.String("error", p.Error()), slog.String("stack", string(p.stack)))
		}
		c.done(status)
	}()
	return handle(c.ctx)
}

func (c *Call) done(status int) {
	c.server.observe.end(c.ctx, c.span, c.route, fiber.MethodPost, status, c.began, nil)
}

// Leave ends the call: its answer is out, or can no longer be sent.
func (c *Call) Leave() {
	c.server.tracker.release(c.held)
	c.server.tracker.leave()
}
