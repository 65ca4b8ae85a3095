package httpkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/fair"
)

const (
	// streamBytes is what a stream counts at least towards Config.MaxResponseBytes.
	streamBytes = 256 << 10
	// streamBuffer is the kernel's send buffer of a stream's connection without TLS. The kernel would let it grow to several MiB, which a
	// client that stops reading keeps; and a slow client of a buffer that large seems to take nothing for a long time.
	streamBuffer = 256 << 10
)

// SendStream responds 200 with a body that is made while it is sent: in chunks, or to HTTP/1.0 until the connection ends
// (spec: http-1-0). It owns the body and closes it. An error before the first byte is returned, and so is the 503 if as many
// streams are sent as may be (Config.MaxStreams), or Config.MaxResponseBytes leaves no room. A later error breaks the connection
// before the last chunk, so that no client takes a part for the whole. After a client disconnect the next write ends the stream.
// A body with a method HeldBytes() int tells how many bytes it holds in memory.
func SendStream(c *fiber.Ctx, contentType string, body io.ReadCloser) error {
	x := exchangeOf(c)
	return stream(c, contentType, &outgoing{x: x, body: body, places: x.server.tracker.streams, full: shedStreams, least: streamBytes})
}

// stream sends a body as SendStream does.
func stream(c *fiber.Ctx, contentType string, o *outgoing) error {
	x, body := o.x, o.body
	if err := o.begin(); err != nil {
		return errors.Join(err, body.Close())
	}
	c.Response().SetStatusCode(fasthttp.StatusOK)
	c.Response().Header.SetContentType(contentType)
	if x.method == fiber.MethodHead {
		// fasthttp sends the end of the chunks also without a body, and so a line in front of the next response.
		return o.Close()
	}
	x.streaming = true
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

// SendEvents is SendStream of server-sent events, which have places of their own (Config.MaxEventStreams) and hold little. A proxy
// must pass them on as they come: nginx collects a response in its buffers unless X-Accel-Buffering forbids it.
func SendEvents(c *fiber.Ctx, body io.ReadCloser) error {
	c.Set("X-Accel-Buffering", "no")
	x := exchangeOf(c)
	return stream(c, "text/event-stream", &outgoing{x: x, body: body, places: x.server.tracker.events, full: shedEvents})
}

// TakeEventPlace takes a place of SendEvents for a response that waits before it is sent, until free is called; the 503 if there is none.
func TakeEventPlace(c *fiber.Ctx) (free func(), err error) {
	x := exchangeOf(c)
	places, account := x.server.tracker.events, fair.Account(x.ctx)
	if !places.Take(account, fair.Preferred) {
		return nil, x.shed(shedEvents)
	}
	return func() { places.Give(account) }, nil
}

// HeldBytes tells how many bytes a body of SendStream holds in memory; 0 for a body without a method HeldBytes.
func HeldBytes(body io.Reader) int {
	if b, ok := body.(interface{ HeldBytes() int }); ok {
		return b.HeldBytes()
	}
	return 0
}

// outgoing is a streamed response body. The exchange ends when the body is closed, not when the handler returns.
type outgoing struct {
	x        *exchange
	body     io.ReadCloser
	places   streamPlaces
	full     shedReason // why a stream without a place is refused
	least    int        // bytes that it counts at least towards Config.MaxResponseBytes
	buffered *bufio.Reader
	account  string       // for whom the stream has a place
	idle     atomic.Int64 // since when the client takes what was read, in Unix nanoseconds; 0 while Read reads
	err      error        // of the last Read
}

// begin takes a place among the streams and reads the first bytes. An error gives the place back.
func (o *outgoing) begin() error {
	t := o.x.server.tracker
	o.account = fair.Account(o.x.ctx)
	if !o.places.take(o) {
		return o.x.shed(o.full)
	}
	if !fair.Reserve(o.x.ctx, o.least, false) {
		o.places.give(o)
		return o.x.shed(shedAnswers)
	}
	if o.x.conn != nil {
		if tcp, ok := o.x.conn.Conn.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(streamBuffer)
		}
	}
	o.buffered = bufio.NewReader(o.body)
	if _, err := o.buffered.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		o.places.give(o)
		return fmt.Errorf("stream: %w", err)
	}
	o.idle.Store(t.now().UnixNano())
	return nil
}

// cut ends the connection. The stream then fails at its next write.
func (o *outgoing) cut() {
	if o.x.conn != nil {
		_ = o.x.conn.Conn.Close()
	}
}

func (o *outgoing) Read(p []byte) (n int, err error) {
	o.idle.Store(0)
	o.err = recovered(func() error {
		n, err = o.buffered.Read(p)
		return err
	})
	fair.Reserve(o.x.ctx, HeldBytes(o.body), true) // what is there cannot be refused any more
	o.idle.Store(o.x.server.tracker.now().UnixNano())
	return n, o.err
}

func (o *outgoing) Close() error {
	err := o.body.Close()
	o.places.give(o)
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
