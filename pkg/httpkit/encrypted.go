package httpkit

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/mtls"
)

// maxTLSAge is how long a TLS connection is used. The clients end theirs after a minute; this bound ends those of a client that
// keeps on using a certificate, or an authority, that has expired or was replaced.
const maxTLSAge = 2 * time.Minute

// recordHandshake is the first byte of TLS. No method of HTTP begins with it.
const recordHandshake = 0x16

// encryption is how a server speaks TLS.
type encryption struct {
	identity      *mtls.Identity
	plainToo      bool
	headerTimeout time.Duration // Config.HeaderTimeout, which bounds the handshake too
	readTimeout   time.Duration // Config.ReadTimeout
	maxAge        time.Duration
	now           func() time.Time
	base          func() context.Context // ends with the server
}

// channel is a socket that becomes a TLS connection, or in permissive mode stays in plain text. Its first byte decides.
type channel struct {
	net.Conn // the socket
	*encryption

	ends time.Time // when the connection is too old; zero in plain text
	over atomic.Pointer[net.Conn]
}

// openChannel decides what requests arrive over, and makes the handshake. It runs in fasthttp's goroutine. Until it returns nil
// no other goroutine writes: cut closes the socket without a notice, since a write to a tls.Conn would wait for the handshake.
func (c *conn) openChannel() error {
	ch := c.channel
	first := make([]byte, 1)
	if _, err := ch.Conn.Read(first); err != nil {
		return err
	}
	var over net.Conn = &replayed{ch.Conn, first}
	if first[0] != recordHandshake {
		if !ch.plainToo {
			ch.identity.Warn("refused a call in plain HTTP: give the caller an https:// address and PRISM_INTERNAL_TLS_DIR, "+
				"or set PRISM_INTERNAL_TLS_MODE=permissive", ch.RemoteAddr().String(), nil)
			if c.notice != nil {
				_, _ = ch.Conn.Write(c.notice())
			}
			c.turnAway()
			return io.EOF
		}
		ch.over.Store(&over)
		return nil
	}
	end := time.Now().Add(ch.headerTimeout)
	if err := errors.Join(c.SetReadDeadline(end), ch.SetWriteDeadline(end)); err != nil {
		return err
	}
	secure := tls.Server(over, ch.identity.Server())
	if err := secure.HandshakeContext(ch.base()); err != nil {
		if c.state.Load() != cut {
			ch.identity.Warn("a TLS handshake failed: check PRISM_INTERNAL_TLS_DIR of both services", ch.RemoteAddr().String(), err)
			c.turnAway()
		}
		return io.EOF
	}
	if err := c.SetReadDeadline(time.Now().Add(ch.readTimeout)); err != nil {
		return err
	}
	over, ch.ends = secure, ch.now().Add(ch.maxAge)
	ch.over.Store(&over)
	return nil
}

// turnAway half-closes the connection and reads on. Otherwise a request that is still arriving would cause a reset, and the
// client could not read why it was refused.
func (c *conn) turnAway() {
	c.closeWrite()
	c.drain(noticePause)
}

// opened tells whether requests can arrive, and so whether a notice can be sent.
func (c *conn) opened() bool { return c.channel == nil || c.channel.over.Load() != nil }

// outdated tells whether the connection ends with this response.
func (c *conn) outdated() bool {
	return c.channel != nil && !c.channel.ends.IsZero() && c.channel.now().After(c.channel.ends)
}

// Read reads from the socket until the channel is open.
func (c *channel) Read(p []byte) (int, error) {
	if over := c.over.Load(); over != nil {
		return (*over).Read(p)
	}
	return c.Conn.Read(p)
}

// Write writes nothing until the channel is open.
func (c *channel) Write(p []byte) (int, error) {
	if over := c.over.Load(); over != nil {
		return (*over).Write(p)
	}
	return 0, net.ErrClosed
}

// CloseWrite half-closes what is open. Close, which may be called by any goroutine, closes the socket alone.
func (c *channel) CloseWrite() error {
	target := c.Conn
	if over := c.over.Load(); over != nil {
		target = *over
	}
	return halfClose(target)
}

// replayed is a socket whose first byte was read already.
type replayed struct {
	net.Conn
	first []byte
}

func (r *replayed) Read(p []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	return r.Conn.Read(p)
}

// CloseWrite half-closes the socket.
func (r *replayed) CloseWrite() error { return halfClose(r.Conn) }
