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

// RetryResults retries all results that match, in the background, if they are as many as expected; else it is ErrConflict, also
// while results of the prism are being retried. CheckRetry counts them. A call whose response was lost is not repeated.
func (c *Client) RetryResults(ctx context.Context, r ResultRetry, expect int) (Retrying, error) {
	k := request("retryResults", http.MethodPost, "results", "retry")
	k.body, k.want = manyRetry{r, Failed, &expect}, http.StatusAccepted
	return fetch[Retrying](ctx, c, k)
}

// CheckRetry counts what RetryResults would retry, up to a million (ErrConflict if more match), and retries nothing.
func (c *Client) CheckRetry(ctx context.Context, r ResultRetry) (Retrying, error) {
	return fetch[Retrying](ctx, c, request("retryResults", http.MethodPost, "results", "retry").checking(manyRetry{r, Failed, nil}))
}
