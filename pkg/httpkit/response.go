package httpkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/apierr"
)

// JSONType is the media type of JSON bodies (spec: media-types).
const JSONType = "application/json; charset=utf-8"

// Send responds with a finished body. It always returns nil. The body must not be changed afterwards.
func Send(c *fiber.Ctx, status int, contentType string, body []byte) error {
	r := c.Response()
	r.SetStatusCode(status)
	r.Header.SetContentType(contentType)
	r.SetBodyRaw(body)
	return nil
}

// SendStream responds 200 with a body that is made while it is sent, in chunks. It owns the body and closes it. An error
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
	c.Response().SetBodyStream(&outgoing{x: x, buffered: buffered, closer: body}, -1)
	return nil
}

// outgoing is a streamed response body. The exchange ends when the body is closed, not when the handler returns.
type outgoing struct {
	x        *exchange
	buffered *bufio.Reader
	closer   io.Closer
	err      error // of the last Read
}

func (o *outgoing) Read(p []byte) (n int, err error) {
	n, o.err = o.buffered.Read(p)
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

// writeError replaces what the handler has written, except the headers that every response has.
func writeError(r *fasthttp.Response, e *apierr.Error) {
	id, closing := string(r.Header.Peek(fiber.HeaderXRequestID)), r.Header.ConnectionClose()
	r.Reset()
	r.Header.SetNoDefaultContentType(true)
	r.Header.Set(fiber.HeaderXRequestID, id)
	if closing {
		r.Header.SetConnectionClose()
	}
	r.SetStatusCode(e.Status)
	r.Header.SetContentType(JSONType)
	if e.Status == fasthttp.StatusUnauthorized {
		r.Header.Set(fiber.HeaderWWWAuthenticate, "Bearer") // spec: www-authenticate
	}
	r.SetBodyRaw(e.Body())
}
