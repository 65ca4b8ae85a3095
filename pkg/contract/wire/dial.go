package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/prism-results/prism/pkg/mtls"
)

const (
	// dialTime bounds connecting: a service in the same cluster accepts at once or not at all.
	dialTime = time.Second
	// handshakeTime bounds the TLS handshake, for which the service needs the processor. It is the server's bound too.
	handshakeTime = 5 * time.Second
)

// dialer connects to a service, in plain text unless it has an identity.
type dialer struct {
	identity *mtls.Identity
	name     string // of the service, in its certificate
}

// dial returns the connection and the socket below it. It takes at most the timeout, if there is one. Its errors mean that
// nothing was sent.
func (d dialer) dial(ctx context.Context, addr string, timeout time.Duration) (conn, socket net.Conn, err error) {
	if timeout <= 0 {
		timeout = dialTime + handshakeTime
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	socket, err = (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, notSentError{err}
	}
	if d.identity == nil {
		return socket, socket, nil
	}
	ctx, cancel = context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	secure := tls.Client(socket, d.identity.Client(d.name))
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = socket.Close()
		d.warn(addr, err)
		return nil, nil, errors.Join(errHandshake, err)
	}
	return &unproven{Conn: secure, refused: func(err error) { d.warn(addr, err) }}, socket, nil
}

func (d dialer) warn(addr string, err error) {
	hint := "check PRISM_INTERNAL_TLS_DIR of both services"
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain {
		hint = "the service speaks plain HTTP: set PRISM_INTERNAL_TLS_DIR there, or give its address http://"
	}
	d.identity.Warn("no TLS connection: "+hint, addr, err)
}

// unproven is a TLS connection whose server may still refuse our certificate. In TLS 1.3 the client's handshake ends before the
// server has looked at the certificate: the refusal is an alert in place of the first response. A server that sends the alert
// has taken nothing, so the call gets the response of a server that refuses calls: fasthttp does not pass on an error here.
type unproven struct {
	net.Conn
	refused func(error)
	proven  bool
}

const refusal = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

func (c *unproven) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if fault, ok := errors.AsType[*net.OpError](err); ok && fault.Op == "remote error" && n == 0 && !c.proven {
		c.refused(err)
		return copy(b, refusal), nil
	}
	c.proven = c.proven || n > 0
	return n, err
}
