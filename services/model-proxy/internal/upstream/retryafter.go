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
	text := strings.TrimSpace(h.Get("Retry-After"))
	pause, ok := scaled(h.Get("Retry-After-Ms"), time.Millisecond)
	if !ok {
		pause, ok = scaled(text, time.Second)
	}
	if at, err := http.ParseTime(text); !ok && err == nil {
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
