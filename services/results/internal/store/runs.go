package store

import (
	"errors"
	"strconv"
)

// ErrRetrying reports that results of the prism are being retried.
var ErrRetrying = errors.New("store: results are being retried")

// MatchError reports that the number of results that match is not the one that the caller expected.
type MatchError struct{ Matches int64 }

func (e *MatchError) Error() string {
	return "store: " + strconv.FormatInt(e.Matches, 10) + " results match"
}

// Errors of runs that callers of a store distinguish.
var (
	// ErrRunOver: the run is finished or cancelled.
	ErrRunOver = errors.New("store: run over")
	// ErrNoFailedRows: no row of the run failed.
	ErrNoFailedRows = errors.New("store: no failed rows")
	// ErrTooManyRuns: the account has MaxRuns runs that are not over.
	ErrTooManyRuns = errors.New("store: too many runs")
)
