package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// Kind is why an attempt has no response body.
type Kind int

// The kinds of faults.
const (
	// Refused: the status, which is Fault.Status, was not 2xx.
	Refused Kind = iota + 1
	// Unreachable: there was no connection, or it broke before the end of the response.
	Unreachable
	// Cancelled: the context ended before the response.
	Cancelled
)

// Fault is a failed attempt. It holds no address, header, body or key, so that logs may contain it.
type Fault struct {
	Kind   Kind
	Status int // HTTP status when Kind is Refused, else 0
	// Cause is dns, tls, refused, timeout, cut or connection when Kind is Unreachable, else empty.
	Cause string
	// RetryAfter is the pause that the upstream asked for, or 0.
	RetryAfter time.Duration
}

// Retryable reports whether the call is tried again (spec: upstream-retries).
func (f *Fault) Retryable() bool {
	return f.Kind == Unreachable ||
		f.Kind == Refused && (f.Status == 408 || f.Status == 409 || f.Status == 429 || f.Status >= 500)
}

// connectionFault replaces net/http's error, whose text has the address.
func connectionFault(ctx context.Context, err error) *Fault {
	if ctx.Err() != nil {
		return &Fault{Kind: Cancelled}
	}
	return &Fault{Kind: Unreachable, Cause: cause(err)}
}

func cause(err error) string {
	timed, _ := errors.AsType[net.Error](err)
	switch {
	case is[*net.DNSError](err):
		return "dns"
	case is[*tls.CertificateVerificationError](err), is[tls.RecordHeaderError](err), is[tls.AlertError](err):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case timed != nil && timed.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return "cut"
	default:
		return "connection"
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
