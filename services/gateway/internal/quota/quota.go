// Package quota counts the requests and results of accounts that have limits (spec: account-limits).
//
// Two implementations pass one suite, quotatest: quota/memory for one process and quota/redis for many gateways. While Redis
// is away, a gateway counts in memory (WithFallback).
package quota

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Counter counts what accounts with limits do. It is safe for concurrent use.
type Counter interface {
	// Enter counts a request of the account. The request is in flight until leave, or until its process dies. When the
	// account is over its requests a second or its requests in flight, Enter counts nothing and returns *ExceededError. It
	// returns ErrUnavailable when the counts are out of reach.
	Enter(ctx context.Context, account prism.AccountID, l prism.Limits) (leave func(context.Context), err error)

	// TakeResult counts a result of the present day of UTC. When the account has had as many as it may have, TakeResult
	// counts nothing and returns *ExceededError. giveBack takes the count back, once at most. TakeResult returns
	// ErrUnavailable when the counts are out of reach.
	TakeResult(ctx context.Context, account prism.AccountID, perDay int32) (giveBack func(context.Context), err error)
}

// ErrUnavailable says that the counts are out of reach.
var ErrUnavailable = errors.New("quota: unavailable")

// Limit names a limit in metrics.
type Limit string

// The limits.
const (
	RequestsPerSecond Limit = "requests_per_second"
	Concurrency       Limit = "concurrency"
	ResultsPerDay     Limit = "results_per_day"
	StoredBytes       Limit = "stored_bytes"
)

// ExceededError is a request or a result over a limit. It was not counted.
type ExceededError struct {
	Limit Limit
	// Wait is the time after which one more may be counted; 0 if it is not known.
	Wait time.Duration
}

func (e *ExceededError) Error() string { return "quota: over " + string(e.Limit) }

// WithFallback counts in shared, and while shared is unavailable in local. away is called for each count in local.
func WithFallback(shared, local Counter, away func()) Counter { return fallback{shared, local, away} }

type fallback struct {
	shared, local Counter
	away          func()
}

func (f fallback) Enter(ctx context.Context, account prism.AccountID, l prism.Limits) (func(context.Context), error) {
	leave, err := f.shared.Enter(ctx, account, l)
	if errors.Is(err, ErrUnavailable) {
		f.away()
		return f.local.Enter(ctx, account, l)
	}
	return leave, err
}

func (f fallback) TakeResult(ctx context.Context, account prism.AccountID, perDay int32) (func(context.Context), error) {
	giveBack, err := f.shared.TakeResult(ctx, account, perDay)
	if errors.Is(err, ErrUnavailable) {
		f.away()
		return f.local.TakeResult(ctx, account, perDay)
	}
	return giveBack, err
}
