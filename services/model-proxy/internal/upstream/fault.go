package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// Cancelled is the cause of a fault whose context ended before the response.
	Cancelled = "cancelled"
	// NoRoom is the cause of a fault whose response did not fit into the memory for answers.
	NoRoom = "no_room"
	// TimedOut is the cause of a fault whose connection took too long.
	TimedOut = "timeout"
)

// Fault is a failed attempt. Its exported fields hold no address, header, body or key, so that logs may contain them.
type Fault struct {
	// Status is the status of a response that was not 2xx; 0 when there was no whole response.
	Status int
	// Cause is why there was no whole response: dns, tls, refused, timeout, cut, connection, NoRoom or Cancelled.
	Cause string
	// RetryAfter is the pause that the upstream asked for, or 0.
	RetryAfter time.Duration

	// For Message.
	body    []byte
	secrets []string
}

// Retryable reports whether the call is tried again (spec: upstream-retries).
func (f *Fault) Retryable() bool {
	return f.Status == 408 || f.Status == 409 || f.Status == 429 || f.Status >= 500 || f.Status == 0 && f.Cause != Cancelled
}

// connectionFault replaces net/http's error, whose text has the address.
func connectionFault(ctx context.Context, err error) *Fault {
	if ctx.Err() != nil {
		return &Fault{Cause: Cancelled}
	}
	return &Fault{Cause: cause(err)}
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
		return TimedOut
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

// maxRetryAfter keeps large values from overflowing time.Duration. It is far longer than an ask.
const maxRetryAfter = 24 * time.Hour

// retryAfter is the pause that a response asks for: the more exact Retry-After-Ms of OpenAI and Anthropic, else Retry-After
// in seconds or as an HTTP date (RFC 9110, 10.2.3). It is 0 for a value that is neither and for a date in the past. A date is
// compared with the Date of the response, by the same clock, or without one with now.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	pause, ok := scaled(h.Get("Retry-After-Ms"), time.Millisecond)
	if !ok {
		pause, ok = scaled(text, time.Second)
	}
	if at, err := http.ParseTime(text); !ok && err == nil {
		if sent, err := http.ParseTime(h.Get("Date")); err == nil {
			now = sent
		}
		pause = at.Sub(now)
	}
	return min(max(pause, 0), maxRetryAfter)
}

func scaled(v string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || n != n {
		return 0, false
	}
	return time.Duration(min(max(n, 0), float64(maxRetryAfter/unit)) * float64(unit)), true
}
