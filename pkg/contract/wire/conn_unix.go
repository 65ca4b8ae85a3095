//go:build unix

package wire

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// checked is a connection that looks before it sends: a server that went away while the connection was idle took
// nothing of what would be sent now, so the call may use another one.
type checked struct {
	net.Conn
	raw  syscall.RawConn
	used bool // something was sent and its answer read: the next write begins a request
}

func newChecked(conn net.Conn) net.Conn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return conn
	}
	return &checked{Conn: conn, raw: raw}
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.used = c.used || n > 0
	return n, err
}

func (c *checked) Write(b []byte) (int, error) {
	if c.used {
		c.used = false
		if err := c.alive(); err != nil {
			return 0, errors.Join(errStale, err)
		}
	}
	return c.Conn.Write(b)
}

// alive fails when the other side has closed, or has sent what nobody asked for.
func (c *checked) alive() error {
	n, err := peek(c.raw)
	if n > 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// open fails when the other side has closed.
func open(conn net.Conn) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	if _, err := peek(raw); errors.Is(err, io.EOF) {
		return err
	}
	return nil // a fault comes back from what is sent
}

// peek looks, without waiting, whether a byte is there to be read, or io.EOF.
func peek(raw syscall.RawConn) (n int, fault error) {
	err := raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, fault = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case n == 0 && fault == nil:
			fault = io.EOF
		case errors.Is(fault, syscall.EAGAIN), errors.Is(fault, syscall.EWOULDBLOCK):
			fault = nil
		}
	})
	return n, errors.Join(err, fault)
}
