package upstream

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter keeps large values from overflowing time.Duration. It is far longer than an ask.
const maxRetryAfter = 24 * time.Hour

// retryAfter is the pause that a response asks for: the more exact Retry-After-Ms of OpenAI and Anthropic, else Retry-After
// in seconds or as an HTTP date (RFC 9110, 10.2.3). It is 0 for a value that is neither and for a date in the past.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := scaled(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	v := h.Get("Retry-After")
	if d, ok := scaled(v, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(strings.TrimSpace(v)); err == nil {
		return bounded(at.Sub(now))
	}
	return 0
}

func scaled(v string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || n != n {
		return 0, false
	}
	if n > float64(maxRetryAfter/unit) {
		return maxRetryAfter, true
	}
	return bounded(time.Duration(max(n, 0) * float64(unit))), true
}

func bounded(d time.Duration) time.Duration { return min(max(d, 0), maxRetryAfter) }
