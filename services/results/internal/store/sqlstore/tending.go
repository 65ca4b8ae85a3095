package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	expireLeases = endOfLease + ` WHERE token IS NOT NULL AND leased_until <= $1`

	revokeLeases = endOfLease + ` WHERE account_id = $1 AND run_id = $2 AND token IS NOT NULL`

	// tendedRuns finds the runs that TendRuns may have to change.
	tendedRuns = `-- name: TendedRuns :many
SELECT r.account_id, r.id FROM runs r
WHERE r.status IN ('pausing', 'cancelling') OR r.retry_from IS NOT NULL
UNION
SELECT r.account_id, r.id FROM runs r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
LEFT JOIN api_keys k ON k.id = r.key_id
WHERE r.status IN ('queued', 'running') AND (
	p.archived_at IS NOT NULL OR k.revoked_at IS NOT NULL
	OR (
		SELECT c.number FROM run_chunks c WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.pending > 0
		ORDER BY c.number LIMIT 1
	) IS NULL
	OR (
		SELECT c.saved_at FROM run_chunks c
		WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.saved_at > $1 AND c.failed > 0
		ORDER BY c.saved_at DESC LIMIT 1
	) IS NOT NULL
)`

	whyPaused = `-- name: WhyPaused :one
SELECT p.archived_at IS NOT NULL, k.revoked_at IS NOT NULL, r.pause_at, r.watched_from FROM runs r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
LEFT JOIN api_keys k ON k.id = r.key_id
WHERE r.account_id = $1 AND r.id = $2`
)

// watchedTime is how long after a save a run is looked at, which happens every second.
const watchedTime = time.Minute

// The reasons for which runs pause by themselves (spec: run-pauses-itself).
const (
	reasonFailures = "%d of the last %d rows failed."
	reasonArchived = "This prism is archived, so it cannot answer."
	reasonRevoked  = "The key that started this run was revoked."
)

// TendRuns implements store.Runs.
func (s Store) TendRuns(ctx context.Context, now time.Time) (changes int, err error) {
	if err := s.expire(ctx, now); err != nil {
		return 0, err
	}
	type owned struct {
		account prism.AccountID
		run     prism.RunID
	}
	var tended []owned
	err = s.Run(ctx, Statement{"tended_runs", tendedRuns, []any{now.Add(-watchedTime)}, true}, all(&tended, func(r *Row) owned {
		return owned{prism.AccountID{UUID: r.UUID()}, prism.RunID{UUID: r.UUID()}}
	}))
	if err != nil {
		return 0, err
	}
	for _, t := range tended {
		var changed bool
		err := s.changeRun(ctx, "tend_run", t.account, t.run, func(c *runChange) (err error) {
			changed, err = c.tend(ctx, now)
			return err
		})
		if err != nil {
			return changes, err
		}
		if changed {
			changes++
		}
	}
	return changes, nil
}

// expire ends the leases whose time is over. Without one, it writes nothing.
func (s Store) expire(ctx context.Context, now time.Time) error {
	var leases bool
	expired := Statement{
		"expired_leases",
		`SELECT EXISTS (SELECT 1 FROM run_chunks WHERE token IS NOT NULL AND leased_until <= $1)`,
		[]any{now},
		true,
	}
	if err := s.Run(ctx, expired, one(&leases, (*Row).Bool)); err != nil || !leases {
		return err
	}
	return s.Run(ctx, Statement{"expire_leases", expireLeases, []any{now}, false}, nothing)
}

// tend changes a run as its time has come to.
func (c *runChange) tend(ctx context.Context, now time.Time) (changed bool, err error) {
	if c.retryFrom != nil && c.Status != contract.RunCancelling {
		return true, c.retryPart(ctx)
	}
	switch c.Status {
	case contract.RunPausing, contract.RunCancelling:
		if c.stoppedAt == nil || !now.Before(c.stoppedAt.Add(store.StopWait)) {
			if err := c.do(ctx, revokeLeases, nothing); err != nil {
				return false, err
			}
		}
		return c.settle(ctx, now)
	case contract.RunQueued, contract.RunRunning:
		pending, err := c.is(ctx, chunkPending)
		if err != nil {
			return false, err
		}
		if !pending {
			return c.finish(ctx, now)
		}
		reason, err := c.reason(ctx)
		if err != nil || reason == "" {
			return false, err
		}
		return true, c.stop(ctx, contract.RunPausing, reason, now)
	default: // time does not change a run that is paused or over
		return false, nil
	}
}

// finish ends a run none of whose rows waits. A worker may not have ended the lease of the last rows yet.
func (c *runChange) finish(ctx context.Context, now time.Time) (changed bool, err error) {
	leased, err := c.is(ctx, chunkLeased)
	if err != nil || leased {
		return false, err
	}
	return true, c.do(ctx, setStatus, nothing, string(contract.RunFinished), "", nil, now)
}

// reason is why the run pauses by itself; "" if it does not.
func (c *runChange) reason(ctx context.Context) (string, error) {
	var (
		archived, revoked bool
		pauseAt           float64
		from              time.Time
		found             bool
	)
	err := c.do(ctx, whyPaused, one(&found, func(r *Row) bool {
		archived, revoked, pauseAt, from = r.Bool(), r.Bool(), r.Float(), r.Time()
		return true
	}))
	switch {
	case err != nil:
		return "", err
	case archived:
		return reasonArchived, nil
	case revoked:
		return reasonRevoked, nil
	}
	failed, rows, err := c.lastRows(ctx, from)
	if err != nil || rows < store.WatchedRows || float64(failed) <= pauseAt*store.WatchedRows {
		return "", err
	}
	return fmt.Sprintf(reasonFailures, failed, rows), nil
}

// lastRows counts the last rows that got their outcome behind a time, and how many of them failed. They are in the chunks that were
// saved last, of which each has at least one.
func (c *runChange) lastRows(ctx context.Context, from time.Time) (failed, rows int, err error) {
	var batches []batch
	err = c.do(ctx, fmt.Sprintf("%s LIMIT %d", savedSince, store.WatchedRows), func(found iter.Seq[*Row]) error {
		batches = nil
		for r := range found {
			batches = append(batches, r.batches(from)...)
		}
		return nil
	}, from)
	slices.SortStableFunc(batches, func(a, b batch) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.chunk, a.chunk)) })
	for _, b := range batches {
		last := b.letters[max(0, len(b.letters)-(store.WatchedRows-rows)):]
		failed += strings.Count(last, string(store.RowFailedState))
		rows += len(last)
	}
	return failed, rows, err
}
