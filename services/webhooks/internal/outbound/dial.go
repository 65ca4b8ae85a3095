package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Resolver finds the addresses of a host; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// The errors of a dial, beside those of package net.
var (
	errForbidden  = errors.New("outbound: the address is not public")
	errUnresolved = errors.New("outbound: the host has no address")
)

// tlsError is a handshake that failed.
type tlsError struct{ error }

func (e tlsError) Unwrap() error { return e.error }

// addressTime bounds the wait for one address of a host, so that the next one is tried.
const addressTime = 5 * time.Second

// dialer dials hosts that users choose.
type dialer struct {
	allow    Networks
	resolver Resolver
	tls      *tls.Config
	net      net.Dialer
}

// addresses are the addresses of a host, if each of them may be dialled: in plain text only those that the operator allows.
func (d *dialer) addresses(ctx context.Context, host string, plain bool) ([]netip.Addr, error) {
	list, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errUnresolved
	}
	for i, a := range list {
		if a.Zone() != "" || !d.allow.Contains(a) && (plain || !Public(a)) {
			return nil, errForbidden
		}
		list[i] = a.Unmap()
	}
	return list, nil
}

// resolve asks the resolver once, or not at all if the host is an address.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if numeric(host) {
		return nil, errForbidden
	}
	list, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil {
		return list, nil
	}
	if timedOut(ctx, err) {
		return nil, err
	}
	return nil, errors.Join(errUnresolved, err)
}

// dial connects to a host. It tries one address after the other.
func (d *dialer) dial(ctx context.Context, address string, plain bool) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	list, err := d.addresses(ctx, host, plain)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		var conn net.Conn
		if conn, err = d.dialOne(ctx, net.JoinHostPort(a.String(), port)); err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}

func (d *dialer) dialOne(ctx context.Context, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, addressTime)
	defer cancel()
	return d.net.DialContext(ctx, "tcp", address)
}

// dialTLS is dial, and the handshake for the name of the host.
func (d *dialer) dialTLS(ctx context.Context, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := d.dial(ctx, address, false)
	if err != nil {
		return nil, err
	}
	cfg := d.tls.Clone()
	cfg.ServerName, cfg.NextProtos = host, []string{"http/1.1"}
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET); cut || timedOut(ctx, err) {
			return nil, err
		}
		return nil, tlsError{err}
	}
	return secure, nil
}

func timedOut(ctx context.Context, err error) bool {
	var timeout interface{ Timeout() bool }
	return ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
