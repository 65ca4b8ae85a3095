package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
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
type Fault struct { //nolint:errname // a fault is handled as a value first
	Kind   Kind
	Status int // HTTP status when Kind is Refused, else 0
	// Cause is dns, tls, refused, timeout, cut or connection when Kind is Unreachable. Logs contain it.
	Cause string
	// RetryAfter is the pause that the upstream asked for, or 0.
	RetryAfter time.Duration
}

// Error implements error.
func (f *Fault) Error() string {
	switch f.Kind {
	case Refused:
		return "upstream answered " + strconv.Itoa(f.Status)
	case Unreachable:
		return "upstream unreachable: " + f.Cause
	case Cancelled:
		return "upstream call cancelled"
	default:
		return "upstream fault"
	}
}

// Retryable reports whether the call is tried again (spec: upstream-retries).
func (f *Fault) Retryable() bool {
	switch f.Kind {
	case Unreachable:
		return true
	case Refused:
		return f.Status == 408 || f.Status == 409 || f.Status == 429 || f.Status >= 500
	case Cancelled:
	}
	return false
}

// connectionFault replaces net/http's error, whose text has the address.
func connectionFault(ctx context.Context, err error) *Fault {
	if ctx.Err() != nil {
		return &Fault{Kind: Cancelled}
	}
	return &Fault{Kind: Unreachable, Cause: cause(err)}
}

func cause(err error) string {
	var (
		dns   *net.DNSError
		cert  *tls.CertificateVerificationError
		rec   tls.RecordHeaderError
		alert tls.AlertError
		timed net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "dns"
	case errors.As(err, &cert), errors.As(err, &rec), errors.As(err, &alert):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.As(err, &timed) && timed.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return "cut"
	default:
		return "connection"
	}
}
