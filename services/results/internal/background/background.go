// Package background is the form of all work of a process beside its calls: it looks in the database for what is due, does it in bounded
// pieces, each of which is a transaction, and looks again. What a stop, a crash or an error leaves, the next look finds, of this process or
// of another replica. Where pieces belong together, the work leases what it has found, and renews the lease with each piece.
package background

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Work is work that is repeated.
type Work struct {
	// Name stands in the log: "<Name> failed and will be repeated".
	Name string
	// Do does some of what is due, and returns after which pause it looks again.
	Do func(context.Context) (pause time.Duration, err error)
	// AfterFailure is the pause after an error.
	AfterFailure time.Duration
	// Failures counts errors; nil: nothing does.
	Failures prometheus.Counter
	Log      *slog.Logger
}

// Run repeats the work until ctx ends.
func (w Work) Run(ctx context.Context) {
	Repeat(ctx, func(ctx context.Context) time.Duration {
		pause, err := w.Do(ctx)
		if err == nil || ctx.Err() != nil {
			return pause
		}
		if w.Failures != nil {
			w.Failures.Inc()
		}
		w.Log.WarnContext(ctx, w.Name+" failed and will be repeated", "error", err)
		return w.AfterFailure
	})
}

// Every makes Work.Do of work that looks again at once when it has found something, and else after a pause.
func Every(pause time.Duration, work func(context.Context) (found bool, err error)) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		if found, err := work(ctx); err != nil || found {
			return 0, err
		}
		return pause, nil
	}
}

// Turn bounds how much work is done on one thing before others get a turn.
type Turn struct {
	// Pieces is how many are done in a row at most, and Limit how long each may take.
	Pieces int
	Limit  time.Duration
	// Pause is what follows each piece, of the time that it took, so that calls find the database free for their part; nil: nothing does.
	Pause func(took time.Duration) time.Duration
}

// Do does pieces until one fails or is the last one, or the turn or ctx ends. It returns whether there are more.
func (t Turn) Do(ctx context.Context, piece func(context.Context) (more bool, err error)) (more bool, err error) {
	more = true
	for n := 0; more && n < t.Pieces; n++ {
		begun := time.Now()
		if more, err = Within(ctx, t.Limit, piece); err != nil {
			return false, err
		}
		if t.Pause != nil && !Pause(ctx, t.Pause(time.Since(begun))) {
			break
		}
	}
	return more, nil
}

// Within calls fn with a context that ends after the limit.
func Within[T any](ctx context.Context, limit time.Duration, fn func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return fn(ctx)
}

// Pause returns true after a pause, and false when ctx ends before.
func Pause(ctx context.Context, pause time.Duration) bool {
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Repeat calls work at once, and then again after each pause that work returns, until ctx ends.
func Repeat(ctx context.Context, work func(context.Context) (pause time.Duration)) {
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-due.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // also when both are so
			return
		}
		due.Reset(work(ctx))
	}
}
