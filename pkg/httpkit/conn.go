package httpkit

import (
	"container/list"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/fair"
)

// The states of a connection (see the package's doc).
const (
	waiting int32 = iota
	reading
	handling
	responding
	cut
)

// Bounds of reading from a connection that is closed while the client may still send. Without the reading the kernel
// replies to what still arrives with a reset, and most clients then drop the response that they got.
const (
	lingerBytes = 16 << 20
	lingerPause = 2 * time.Second // without a byte
	lingerTotal = 10 * time.Second
)

// noticePause is how long a connection is read behind a notice: longer than a request takes that was sent when the notice
// was on the way.
const noticePause = 250 * time.Millisecond

// writeStep is how many bytes are written under one deadline, so that a slow client is not taken for a stuck one.
const writeStep = 64 << 10

// conn is a connection under fasthttp, which calls it from one goroutine. Other goroutines call only cut and hurry, and close
// the embedded Conn.
type conn struct {
	net.Conn
	tracker       *tracker
	address       netip.Addr    // of the socket's other end, as bounds count it
	stall         time.Duration // of one write
	stopStall     time.Duration // Config.StopStall
	headerTimeout time.Duration // Config.HeaderTimeout
	notice        func() []byte // what cut sends, unless nil (Config.ClosingNotice)
	channel       *channel      // is Conn, when the server speaks TLS, else nil

	state     atomic.Int32
	cutting   sync.Mutex // held while cut sends the notice; Close waits for it
	inFlight  bool       // the tracker counts a request
	heldBytes int64      // bytes of a body that the tracker counts
	received  bool       // at least one byte
	ended     bool       // the client has half-closed the connection
	linger    bool       // Close waits until the client has read the last response
	framing   framing    // of the body that is being read

	exchange exchange  // the current one, or the last
	began    time.Time // the first byte of the request

	refusedUntil time.Time // the end of a connection beyond Config.MaxConnections, else zero

	// Guarded by the mutex of the tracker.
	resident bool          // has one of Config.MaxConnections places
	entry    *list.Element // in the list of idle connections
	since    time.Time     // idle
}

// begin moves to handling. It fails when the server has cut the connection.
func (c *conn) begin() bool {
	if c.state.Load() == responding { // a pipelined request: fasthttp has read it already
		c.endRequest()
		c.began = time.Now()
		c.state.Store(handling)
		return true
	}
	return c.state.CompareAndSwap(reading, handling) || c.state.CompareAndSwap(waiting, handling)
}

// endRequest ends a request when its response was sent, or can no longer be sent.
func (c *conn) endRequest() {
	if c.inFlight {
		c.inFlight = false
		fair.Leave(c.exchange.ctx)
		c.tracker.uncount()
	}
	if c.heldBytes > 0 {
		c.tracker.heldBytes.Add(-c.heldBytes)
		c.heldBytes = 0
	}
}

// hold counts n more bytes of the request's body, until the request ends. It fails when Config.MaxBodyBytes is exceeded.
func (c *conn) hold(n int64) bool {
	t := c.tracker
	for held := t.heldBytes.Load(); held+n <= t.maxHeld; held = t.heldBytes.Load() {
		if t.heldBytes.CompareAndSwap(held, held+n) {
			c.heldBytes += n
			return true
		}
	}
	return false
}

// cut closes the connection if it is in the state. With a notice, the connection is half-closed behind the notice, and
// Read discards what still arrives, so that the kernel does not answer it with a reset.
func (c *conn) cut(state int32) bool {
	c.cutting.Lock()
	defer c.cutting.Unlock()
	if !c.state.CompareAndSwap(state, cut) {
		return false
	}
	if c.notice == nil || !c.opened() {
		_ = c.Conn.Close()
		return true
	}
	_ = c.SetWriteDeadline(time.Now().Add(c.stall)) // the send buffer of an idle connection has room
	_, _ = c.Conn.Write(c.notice())
	c.closeWrite()
	_ = c.Conn.SetReadDeadline(time.Now().Add(noticePause))
	return true
}

func (c *conn) closeWrite() { _ = halfClose(c.Conn) }

// halfClose ends what is sent on a connection, if the connection can do so. What arrives is still read.
func halfClose(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Read ends the request before: fasthttp reads on only after it has flushed the response.
func (c *conn) Read(p []byte) (int, error) {
	switch c.state.Load() {
	case responding:
		c.endRequest()
		c.tracker.markIdle(c)
		if c.tracker.closed.Load() {
			_ = c.cut(waiting)
		}
	case waiting: // for its first request
		c.tracker.markIdle(c)
		if !c.opened() {
			if err := c.openChannel(); err != nil {
				if c.state.Load() == cut {
					err = io.EOF
				}
				return 0, err
			}
		}
	case reading: // the rest of the headers
		if err := c.SetReadDeadline(c.began.Add(c.headerTimeout)); err != nil {
			return 0, err
		}
	case handling:
		if err := c.exchange.awaitBody(); err != nil {
			return 0, err
		}
	}
	if c.framing.full() {
		return 0, errExtensions
	}
	n, err := c.Conn.Read(p)
	c.framing.received(n)
	if c.state.Load() == cut {
		if c.notice != nil {
			c.drain(noticePause)
		}
		return 0, io.EOF
	}
	if n > 0 {
		c.received = true
		c.exchange.arrival.arrived += n
		if c.state.CompareAndSwap(waiting, reading) {
			c.began = time.Now()
		}
	}
	if errors.Is(err, io.EOF) {
		c.ended = true
	}
	return n, err
}

// Write fails when the client takes nothing for the stall time, which is shorter while the server stops.
func (c *conn) Write(p []byte) (int, error) {
	if c.state.Load() == cut {
		return 0, net.ErrClosed
	}
	written := 0
	for {
		step := p[written:min(len(p), written+writeStep)]
		if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
			return written, err
		}
		// The deadline is set before refusing is read, and Run sets refusing before it shortens the deadlines of all
		// connections: one of them shortens this one.
		if c.tracker.refusing.Load() {
			c.hurry()
		}
		n, err := c.Conn.Write(step)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// hurry leaves the client Config.StopStall for the current write.
func (c *conn) hurry() { _ = c.SetWriteDeadline(time.Now().Add(c.stopStall)) }

// SetReadDeadline sets no deadline behind refusedUntil.
func (c *conn) SetReadDeadline(t time.Time) error {
	if !c.refusedUntil.IsZero() && t.After(c.refusedUntil) {
		t = c.refusedUntil
	}
	return c.Conn.SetReadDeadline(t)
}

// Close ends the request and closes. When the client may still be sending, Close first waits until the client has read the
// last response.
func (c *conn) Close() error {
	c.endRequest()
	if c.linger && c.state.Load() != cut {
		c.closeWrite()
		c.drain(lingerPause)
	}
	c.cutting.Lock() // else a request that arrives while the connection is cut could close the connection before the notice
	err := c.Conn.Close()
	c.cutting.Unlock()
	c.tracker.remove(c)
	return err
}

// drain discards what still arrives on a half-closed connection, until the client closes too, within bounds.
func (c *conn) drain(pause time.Duration) {
	end := time.Now().Add(lingerTotal)
	buf := make([]byte, 4<<10)
	for total := 0; total < lingerBytes; {
		deadline := time.Now().Add(pause)
		if deadline.After(end) {
			deadline = end
		}
		if c.SetReadDeadline(deadline) != nil {
			return
		}
		n, err := c.Conn.Read(buf)
		if err != nil {
			return
		}
		total += n
	}
}
