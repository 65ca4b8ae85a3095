package upstream

import (
	"errors"
	"io"
	"net/http"

	"github.com/prism-results/prism/pkg/fair"
)

const (
	// An answer has at most baseBytes and questionBytes for each question: several times as much as 2,000 options with
	// their probabilities, and as a model can think in the time that it has. 64 questions have 2.5 MiB.
	baseBytes     = 512 << 10
	questionBytes = 32 << 10
	// A body has a buffer of firstBytes, or of what its length says up to plainBytes. Beyond plainBytes a byte counts as many times as
	// it can be in memory: in the buffer, in one of half the size, and as what it is decoded to.
	firstBytes = 1 << 10
	plainBytes = 16 << 10
	copies     = 4
	// inflater is what a gzip reader takes, and headerBytes what a header takes beside its text.
	inflater    = 48 << 10
	headerBytes = 128
)

var (
	errNoRoom   = errors.New("upstream: no room for the answer")
	errTooLarge = errors.New("upstream: the answer is too large")
)

// answer is a response whose bytes count at a bound until it is released (spec: answer-budget).
type answer struct {
	budget  *fair.Bound // nil: they are not counted
	account string
	counted int
}

// count has the answer count as at least n bytes, and reports whether there is room for them.
func (a *answer) count(n int) bool {
	more := n - a.counted
	if a.budget == nil || more <= 0 {
		return true
	}
	if !a.budget.TakeN(a.account, fair.Preferred, more, a.counted) {
		return false
	}
	a.counted = n
	return true
}

func (a *answer) release() {
	if a.counted > 0 {
		a.budget.GiveN(a.account, a.counted)
	}
}

// read reads the body of the answer to so many questions, which net/http decompresses. Room is taken before memory.
func (a *answer) read(resp *http.Response, questions int) ([]byte, error) {
	other, maxBytes := headersOf(resp), baseBytes+questions*questionBytes
	if resp.Uncompressed {
		other += inflater
	}
	size := int(min(max(resp.ContentLength+1, firstBytes), plainBytes))
	var body []byte
	for {
		if !a.count(other + size + (copies-1)*max(size-plainBytes, 0)) {
			return nil, errNoRoom
		}
		body = append(make([]byte, 0, size), body...)
		for len(body) < size {
			n, err := resp.Body.Read(body[len(body):size])
			body = body[:len(body)+n]
			if errors.Is(err, io.EOF) && len(body) <= maxBytes {
				return body, nil
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
		}
		if size > maxBytes {
			return nil, errTooLarge
		}
		size = min(2*size, maxBytes+1)
	}
}

// headersOf is what the headers of a response take.
func headersOf(resp *http.Response) (n int) {
	for name, values := range resp.Header {
		for _, v := range values {
			n += headerBytes + len(name) + len(v)
		}
	}
	return n
}
