package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/prism-results/prism/services/results/internal/store"
)

// errAnswer: what answers is no object store, or a proxy has changed the request.
var errAnswer = fmt.Errorf("s3: %w: an answer that no object store gives", store.ErrUnavailable)

// answers bounds each request together with its answer, and refuses the pages of proxies and portals.
type answers struct {
	http.RoundTripper
	limit time.Duration
}

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, end := context.WithTimeoutCause(r.Context(), a.limit, errSlow)
	answer, err := a.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, err
	}
	answer.Body = &bounded{answer.Body, end}
	if answer.StatusCode < 300 && strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		return nil, errors.Join(errAnswer, answer.Body.Close())
	}
	return answer, nil
}

// errSlow is the end of a request that took too long.
var errSlow = errors.New("no answer in time")

// bounded is a body whose end ends its bound.
type bounded struct {
	io.ReadCloser
	end context.CancelFunc
}

// Close implements io.Closer.
func (b *bounded) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
