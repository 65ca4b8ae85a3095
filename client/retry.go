package client

import (
	"context"
	"net/http"
)

// ResultRetry selects results to retry: those of a prism that failed, were not retried, and were saved from From (inclusive) to
// To (exclusive), where nil bounds nothing.
type ResultRetry struct {
	Prism string `json:"prism"` // slug or id
	From  *Time  `json:"from,omitempty"`
	To    *Time  `json:"to,omitempty"`
}

// Retrying is how many results match.
type Retrying struct {
	Retrying int `json:"retrying"`
}

// manyRetry is the body of a retry of many results.
type manyRetry struct {
	ResultRetry
	Status Status `json:"status"`
	Expect *int   `json:"expect,omitempty"`
}

// RetryResults retries all results that match, in the background. It is ErrConflict if another number than expect matches, and
// while results of the prism are being retried. A dry run ignores expect and counts the matches, up to a million: more are
// ErrConflict. A call whose response was lost is not repeated.
func (c *Client) RetryResults(ctx context.Context, r ResultRetry, expect int, options ...CallOption) (Retrying, error) {
	k := request("retryResults", http.MethodPost, "results", "retry").allowDryRun()
	k.want = http.StatusAccepted
	k = k.with(options)
	many := manyRetry{ResultRetry: r, Status: Failed}
	if !k.dryRun {
		many.Expect = &expect
	}
	k.body = many
	return fetch[Retrying](ctx, c, k, nil)
}
