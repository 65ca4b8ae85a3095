//go:build unix

package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
)

// checked looks at a kept connection before it sends a request. A server that closed the connection while it was idle has
// not taken the request, so the request may use another connection. Without this check every call that meets the restart of
// a service would be lost.
type checked struct {
	net.Conn
	raw    syscall.RawConn
	sent   bool // a part of the current request was sent
	reused bool // the connection has carried a response
	// noticed: a closing notice was read, perhaps together with a response, whose reader drops what follows the response. A
	// response whose body has the same text costs only a new connection.
	noticed bool
}

// closingNotice begins what a stopping server sends to an idle connection (httpkit.Config.ClosingNotice).
var closingNotice = []byte("HTTP/1.1 408 ")

// newChecked checks the socket below conn, which is the socket itself or TLS. What a server sends over TLS without being asked
// shows in the socket as well. Session tickets do not: they come before the first response, and our servers send none.
func newChecked(conn, socket net.Conn) net.Conn {
	tcp, ok := socket.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	return &checked{Conn: conn, raw: raw}
}

// Read reads a response. The next Write begins a request.
func (c *checked) Read(b []byte) (int, error) {
	c.sent, c.reused = false, true
	n, err := c.Conn.Read(b)
	c.noticed = c.noticed || bytes.Contains(b[:n], closingNotice)
	return n, err
}

// Write returns a notSentError when no byte of a request was sent.
func (c *checked) Write(b []byte) (int, error) {
	if c.sent {
		return c.Conn.Write(b)
	}
	if c.reused {
		if err := c.stillOpen(); err != nil {
			return 0, notSentError{err}
		}
	}
	n, err := c.Conn.Write(b)
	c.sent = n > 0
	if err != nil && n == 0 {
		err = notSentError{err}
	}
	return n, err
}

// stillOpen fails, without waiting, when the server has closed the connection or has sent something without being asked.
func (c *checked) stillOpen() (fault error) {
	if c.noticed {
		return io.EOF
	}
	err := c.raw.Control(func(fd uintptr) {
		var one [1]byte
		switch n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT); {
		case n > 0:
			fault = errors.New("wire: a response without a request")
		case err == nil:
			fault = io.EOF
		case !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EWOULDBLOCK):
			fault = err
		}
	})
	return errors.Join(err, fault)
}
