package httpkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/apierr"
)

// JSONType is the media type of JSON bodies (spec: media-types).
const JSONType = "application/json; charset=utf-8"

// retryAfter is the pause that a 503 asks for, in seconds: bounds are free again as soon as a call ends.
const retryAfter = "1"

// Send responds with a finished body. It always returns nil. The body must not be changed afterwards.
func Send(c *fiber.Ctx, status int, contentType string, body []byte) error {
	r := c.Response()
	r.SetStatusCode(status)
	r.Header.SetContentType(contentType)
	r.SetBodyRaw(body)
	return nil
}

// SendStream responds 200 with a body that is made while it is sent: in chunks, or to HTTP/1.0 until the connection ends
// (spec: http-1-0). It owns the body and closes it. An error
// before the first byte is returned. A later error breaks the connection before the last chunk, so that no client takes a
// part for the whole. After a client disconnect the next write ends the stream.
func SendStream(c *fiber.Ctx, contentType string, body io.ReadCloser) error {
	x := exchangeOf(c)
	buffered := bufio.NewReader(body)
	if _, err := buffered.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return errors.Join(fmt.Errorf("stream: %w", err), body.Close())
	}
	c.Response().SetStatusCode(fasthttp.StatusOK)
	c.Response().Header.SetContentType(contentType)
	if x.method == fiber.MethodHead {
		// fasthttp sends the end of the chunks also without a body, and so a line in front of the next response.
		return body.Close()
	}
	x.streaming = true
	o := &outgoing{x: x, buffered: buffered, closer: body}
	if c.Request().Header.IsHTTP11() {
		c.Response().SetBodyStream(o, -1)
		return nil
	}
	// fasthttp would send chunks, so the response is written here, after the handler.
	c.Response().Header.SetConnectionClose()
	head := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\n")
	for key, value := range c.Response().Header.All() {
		head = fmt.Appendf(head, "%s: %s\r\n", key, value)
	}
	c.Context().HijackSetNoResponse(true)
	c.Context().Hijack(func(net.Conn) { o.writeTo(x.conn, append(head, "\r\n"...)) })
	return nil
}

// writeTo writes head and body to the connection, which is closed afterwards: with a reset if the body is not whole.
func (o *outgoing) writeTo(c *conn, head []byte) {
	_, err := c.Write(head)
	if err == nil {
		_, err = io.Copy(c, o)
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok && err != nil {
		_ = tcp.SetLinger(0)
		c.linger = false
	}
	_ = o.Close()
}

// outgoing is a streamed response body. The exchange ends when the body is closed, not when the handler returns.
type outgoing struct {
	x        *exchange
	buffered *bufio.Reader
	closer   io.Closer
	err      error // of the last Read
}

func (o *outgoing) Read(p []byte) (n int, err error) {
	o.err = recovered(func() error {
		n, err = o.buffered.Read(p)
		return err
	})
	return n, o.err
}

func (o *outgoing) Close() error {
	err := o.closer.Close()
	switch {
	case o.err == nil:
		err = errors.New("stream broke off: the client left")
	case !errors.Is(o.err, io.EOF):
		err = fmt.Errorf("stream broke off: %w", o.err)
	}
	if o.x.streaming {
		o.x.done(err)
	}
	return nil
}

// respondError is the one place where errors become responses. An error that is not of the catalogue is logged and becomes
// the 500 (spec: error-internal).
func (x *exchange) respondError(err error) {
	known, level, message := apierr.Internal(), slog.LevelError, "request failed"
	if errors.As(err, &known) {
		level, message = slog.LevelWarn, "request refused"
	}
	// The cause, such as a dependency that is away, is for the operator.
	if known.Status >= fasthttp.StatusInternalServerError && err.Error() != known.Error() {
		attrs := []slog.Attr{slog.String("route", x.route), slog.String("method", x.method), slog.String("error", err.Error())}
		var p *panicked
		if errors.As(err, &p) {
			attrs = append(attrs, slog.String("stack", string(p.stack)))
		}
		x.server.deps.Log.LogAttrs(x.ctx, level, message, attrs...)
	}
	writeError(&x.fctx.Response, known)
}

// setStandardHeaders sets the headers that every response has (spec: request-id, nosniff, no-store).
func setStandardHeaders(h *fasthttp.ResponseHeader, requestID string) {
	h.Set(fiber.HeaderXRequestID, requestID)
	h.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	h.Set(fiber.HeaderCacheControl, "no-store")
}

// writeError replaces what the handler has written, except the headers that every response has.
func writeError(r *fasthttp.Response, e *apierr.Error) {
	id, closing := string(r.Header.Peek(fiber.HeaderXRequestID)), r.Header.ConnectionClose()
	r.Reset()
	r.Header.SetNoDefaultContentType(true)
	setStandardHeaders(&r.Header, id)
	if closing {
		r.Header.SetConnectionClose()
	}
	r.SetStatusCode(e.Status)
	r.Header.SetContentType(JSONType)
	if e.Status == fasthttp.StatusUnauthorized {
		r.Header.Set(fiber.HeaderWWWAuthenticate, "Bearer") // spec: www-authenticate
	}
	if e.Status == fasthttp.StatusServiceUnavailable {
		r.Header.Set(fiber.HeaderRetryAfter, retryAfter) // spec: retry-after-of-a-503
	}
	r.SetBodyRaw(e.Body())
}
