package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// ErrRetrying reports that results of the prism are being retried.
var ErrRetrying = errors.New("store: results are being retried")

// MatchError reports that the number of results that match is not the one that the caller expected.
type MatchError struct{ Matches int64 }

func (e *MatchError) Error() string {
	return "store: " + strconv.FormatInt(e.Matches, 10) + " results match"
}

// Retries keeps retries of many results. A prism has one at a time. Its results are leased in chunks as the rows of runs are, by
// LeaseChunk, RenewLeases and SaveRows of Runs, where its id stands for that of a run; TendRuns ends it when the prism is
// archived, when its key is revoked, and when nothing is left to retry.
type Retries interface {
	// CountRetry counts the results that match, up to contract.MaxRetried and one more. underWay tells whether results of the
	// prism are being retried.
	CountRetry(ctx context.Context, r Retry) (matches int64, underWay bool, err error)
	// AddRetry stores a retry of the results that match in one snapshot: *MatchError if they are not as many as expected,
	// ErrRetrying.
	AddRetry(ctx context.Context, r Retry, expected int64, by By) error
}

// Retry is a retry of many results: those of a prism that failed, were not retried, and were saved from From (inclusive) to To
// (exclusive), where a zero time bounds nothing.
type Retry struct {
	Account  prism.AccountID
	ID       prism.RunID
	Prism    prism.PrismID
	Slug     string
	Key      prism.KeyID // of the call
	From, To time.Time
	// Among are the results that a search has found, by their ids; nil: any. By names what they were found by, for the audit.
	Among []prism.ResultID
	By    []string
}
