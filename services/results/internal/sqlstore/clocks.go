package sqlstore

import (
	"context"
	"time"

	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// mendings are the statements of MendTimes, each with how far in the future a time may be and what it becomes. A worker that lives
// renews its lease before the new end.
var mendings = []struct {
	text      string
	far, then time.Duration
}{
	{`UPDATE files SET leased_until = $2 WHERE status = 'reading' AND leased_until > $1 RETURNING 1`, store.MaxLease, store.MaxLease},
	{`UPDATE run_chunks SET leased_until = $2 WHERE token IS NOT NULL AND leased_until > $1 RETURNING 1`, store.MaxLease, store.MaxLease},
	{`UPDATE retry_chunks SET leased_until = $2 WHERE token IS NOT NULL AND leased_until > $1 RETURNING 1`, store.MaxLease, store.MaxLease},
	{`UPDATE deletions SET leased_until = $2 WHERE leased_until > $1 RETURNING 1`, store.MaxLease, store.MaxLease},
	{`UPDATE deletions SET saved_before = $2 WHERE saved_before > $1 RETURNING 1`, 0, 0},
	{`UPDATE deletions SET due_at = $2 WHERE due_at > $1 RETURNING 1`, store.RetentionPause, store.DeletionAge},
	{`UPDATE drift_watches SET due_at = $2 WHERE due_at > $1 RETURNING 1`, store.MaxLease, store.MaxLease},
	{`UPDATE retries SET leased_at = $2 WHERE leased_at > $1 RETURNING 1`, 0, 0},
	{mendRuns + `leased_at = $2 WHERE leased_at > $1` + underWay, 0, 0},
	{mendRuns + `watched_from = $2 WHERE watched_from > $1` + underWay, 0, 0},
	{mendRuns + `stopped_at = $2 WHERE stopped_at > $1` + underWay, 0, 0},
}

const (
	mendRuns = `UPDATE runs SET `
	underWay = ` AND status IN ('queued', 'running', 'pausing', 'cancelling') RETURNING 1`
)

// MendTimes implements store.Clocks.
func (s Statements) MendTimes(ctx context.Context, now time.Time) (mended int, err error) {
	for _, m := range mendings {
		n := 0
		args := []any{now.Add(m.far + store.ClocksDiffer), now.Add(m.then)}
		if err := s.Run(ctx, sqldb.Change("mend_times", m.text, args...), sqldb.CountRows(&n)); err != nil {
			return mended, err
		}
		mended += n
	}
	return mended, nil
}
