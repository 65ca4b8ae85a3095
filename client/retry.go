package client

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// ResultRetry selects results to retry: those of a prism that failed, were not retried, and were saved from From (inclusive) to
// To (exclusive), where nil bounds nothing.
type ResultRetry struct {
	Prism string // slug or id
	From  *time.Time
	To    *time.Time
	SearchMembers
}

// SearchMembers are what ResultSearch is in a body.
type SearchMembers = api.SearchMembers

// Retrying is how many results match.
type Retrying = api.Retrying

// RetryResults retries all results that match, in the background. It is ErrConflict if another number than expect matches, and
// while results of the prism are being retried. A dry run ignores expect and counts the matches, up to a million: more are
// ErrConflict. A call whose response was lost is not repeated.
func (c *Client) RetryResults(ctx context.Context, r ResultRetry, expect int, options ...CallOption) (Retrying, error) {
	k := declared(api.RetryResults).with(options)
	many := api.ResultRetry{Prism: r.Prism, Status: prism.Failed, From: r.From, To: r.To, SearchMembers: r.SearchMembers}
	if !k.dryRun {
		many.Expect = &expect
	}
	return fetch[Retrying](ctx, c, k.sending(many), nil)
}
