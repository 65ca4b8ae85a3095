package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// The causes of faults that other packages know.
const (
	// Cancelled: the context ended before the response.
	Cancelled = "cancelled"
	// NoCredentials: the identity of the workload gave no token.
	NoCredentials = "no_credentials"
	// NoRoom: the response did not fit into the memory for answers.
	NoRoom = "no_room"
	// TimedOut: the connection took too long.
	TimedOut = "timeout"
	// ByProxy: the proxy could not be reached, or refused to connect.
	ByProxy = "proxy"
	// Filtered: a content filter stopped the answer.
	Filtered = "content_filter"
	// InBody: a response with the status 200 is an error.
	InBody = "error"
)

// The causes of responses that cannot be read.
const (
	broken   = "broken_frame"
	tooLarge = "too_large"
)

// Fault is a failed attempt. Its exported fields hold no address, header, body or key, so that logs may contain them.
type Fault struct {
	Class failure.Class
	// Status is that of the response, or the status that an error in a response with another one says; 0 when there was no whole
	// response.
	Status int
	// Cause is what the status does not say. Without a whole response: dns, tls, refused, timeout, cut, connection, proxy,
	// no_room, no_credentials or cancelled. Of one that cannot be read: empty, html, event_stream, not_json, too_large or broken_frame. Otherwise error, for an
	// error in a response with the status 200, or content_filter.
	Cause string
	// Parameter is the parameter of the request that the upstream refused, if it named one.
	Parameter string
	// RetryAfter is the pause that the upstream asked for, or 0.
	RetryAfter time.Duration

	// For Message.
	body    []byte
	secrets []string
}

// Retryable reports whether the call is tried again (spec: upstream-retries).
func (f *Fault) Retryable() bool {
	switch f.Class {
	case failure.Unavailable:
		return f.Cause != Cancelled
	case failure.Limited, failure.Unreadable:
		return true
	default:
		return false
	}
}

// Unreadable is the fault of a response with the status 200 that is not JSON.
func Unreadable(body []byte) *Fault {
	text, cause := strings.TrimSpace(string(body[:min(len(body), 64)])), "not_json"
	switch {
	case text == "":
		cause = "empty"
	case strings.HasPrefix(text, "<"):
		cause = "html"
	case strings.HasPrefix(text, "data:"), strings.HasPrefix(text, "event:"), strings.HasPrefix(text, "id:"), strings.HasPrefix(text, ":"):
		cause = "event_stream"
	}
	return unreadable(cause)
}

func unreadable(cause string) *Fault {
	return &Fault{Class: failure.Unreadable, Status: http.StatusOK, Cause: cause}
}

// ContentFault is the fault of an answer that a content filter stopped.
func ContentFault() *Fault {
	return &Fault{Class: failure.Content, Status: http.StatusOK, Cause: Filtered}
}

// connectionFault replaces net/http's error, whose text has the address.
func connectionFault(ctx context.Context, err error) *Fault {
	if ctx.Err() != nil {
		return &Fault{Class: failure.Unavailable, Cause: Cancelled}
	}
	return &Fault{Class: failure.Unavailable, Cause: cause(err)}
}

// sendFault is the fault of a request without a response.
func sendFault(ctx context.Context, err error) *Fault {
	if refused, ok := errors.AsType[proxyStatusError](err); ok {
		return &Fault{Class: refusal{}.classOf(int(refused), false), Status: int(refused), Cause: ByProxy}
	}
	f := connectionFault(ctx, err)
	if f.Cause == other && strings.Contains(err.Error(), "malformed") { // net/http has no type for these
		return &Fault{Class: failure.Unreadable, Cause: broken}
	}
	return f
}

// proxyStatusError is the status of a proxy that does not connect to the upstream.
type proxyStatusError int

func (proxyStatusError) Error() string { return "the proxy does not connect" }

// connected turns another status of the proxy than 200 into an error: net/http's own does not say which it is.
func connected(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return proxyStatusError(response.StatusCode)
	}
	return nil
}

// bodyFault is the fault of a response with the status 200 whose body cannot be read to its end.
func bodyFault(ctx context.Context, err error) *Fault {
	if f := connectionFault(ctx, err); f.Cause != other {
		return f
	}
	return unreadable(broken)
}

// other is the cause of a fault of the connection that is not told apart.
const other = "connection"

func cause(err error) string {
	timed, _ := errors.AsType[net.Error](err)
	to, _ := errors.AsType[*net.OpError](err)
	switch {
	case to != nil && to.Op == "proxyconnect":
		return ByProxy
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
		return other
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

// reset is the longest time after which one of the used-up limits of x-ratelimit-remaining-… is reset, as x-ratelimit-reset-… says:
// in seconds or as 1m2.5s. If no limit is said to be used up, it is the longest of all (spec: retry-after).
func reset(h http.Header) (pause time.Duration) {
	usedUp := false
	for name := range h {
		limit, ok := strings.CutPrefix(name, "X-Ratelimit-Reset-")
		if !ok {
			continue
		}
		text := strings.TrimSpace(h.Get(name))
		wait, ok := scaled(text, time.Second)
		if d, err := time.ParseDuration(text); !ok && err == nil {
			wait = d
		}
		used := h.Get("X-Ratelimit-Remaining-"+limit) == "0"
		if used && !usedUp {
			pause, usedUp = 0, true
		}
		if used == usedUp {
			pause = min(max(pause, wait), maxRetryAfter)
		}
	}
	return pause
}

func scaled(v string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || n != n {
		return 0, false
	}
	return time.Duration(min(max(n, 0), float64(maxRetryAfter/unit)) * float64(unit)), true
}
