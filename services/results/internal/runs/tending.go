package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// expiredLeases finds runs with leases whose time is over. Only runs under way have leases.
	expiredLeases = `-- name: ExpiredLeases :many
SELECT r.account_id, r.id FROM runs r
WHERE r.status IN ('queued', 'running', 'pausing', 'cancelling') AND r.account_id` + sqldb.StaysHere + ` AND (
	SELECT min(c.leased_until) FROM run_chunks c
	WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.number >= r.folded AND c.token IS NOT NULL
) <= $1`
	expireLeases = endOfLease + ` WHERE account_id = $1 AND run_id = $2 AND token IS NOT NULL AND leased_until <= $3`

	revokeLeases = endOfLease + ` WHERE account_id = $1 AND run_id = $2 AND token IS NOT NULL`

	// mayNotRun is whether the member m who started a run was removed, or has a role that may not start runs.
	mayNotRun = `(m.removed_at IS NOT NULL OR m.role IN ('labeller', 'reader'))`

	// unfoldedRuns finds the runs whose first unfolded chunk can be folded.
	unfoldedRuns = `-- name: UnfoldedRuns :many
SELECT r.account_id, r.id FROM runs r
WHERE r.folded < r.chunks AND r.retry_from IS NULL AND r.account_id` + sqldb.StaysHere + ` AND (
	SELECT c.number FROM run_chunks c
	WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.number = r.folded AND c.pending = 0 AND c.token IS NULL
) IS NOT NULL`

	selectFolded = `SELECT folded, chunks FROM runs WHERE account_id = $1 AND id = $2`
	firstOpen    = `-- name: FirstOpenChunk :one
SELECT number FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND number >= $3 AND (pending > 0 OR token IS NOT NULL)
ORDER BY number LIMIT 1`
	foldChunks = `UPDATE runs AS r SET folded = $4, ok = r.ok + s.ok, failed = r.failed + s.failed, invalid = r.invalid + s.invalid,
	cancelled = r.cancelled + s.cancelled, input_tokens = r.input_tokens + s.input_tokens,
	output_tokens = r.output_tokens + s.output_tokens, cost = r.cost + s.cost, cost_rest = r.cost_rest + s.cost_rest,
	labels = r.labels + s.labels, invalid_labels = r.invalid_labels + s.invalid_labels,
	currency = ` + joinedCurrency + `
FROM (
	SELECT ` + sumOfChunks + `
	FROM run_chunks c WHERE c.account_id = $1 AND c.run_id = $2 AND c.number >= $3 AND c.number < $4
) s
WHERE r.account_id = $1 AND r.id = $2`

	// unfold makes all chunks count for themselves again, until fold folds them.
	unfold = `folded = 0, ok = 0, failed = 0, invalid = 0, cancelled = 0, input_tokens = 0, output_tokens = 0, cost = 0,
	cost_rest = 0, currency = '', labels = 0, invalid_labels = 0`
)

var (
	// tendedRuns finds the runs that TendRuns may have to change.
	tendedRuns = `-- name: TendedRuns :many
SELECT r.account_id, r.id FROM runs r
WHERE (r.status IN ('pausing', 'cancelling') OR r.retry_from IS NOT NULL) AND r.account_id` + sqldb.StaysHere + `
UNION
SELECT r.account_id, r.id FROM runs r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
LEFT JOIN api_keys k ON k.id = r.key_id
LEFT JOIN members m ON m.account_id = r.account_id AND m.id = r.key_id
WHERE r.status IN ('queued', 'running') AND r.account_id` + sqldb.StaysHere + ` AND (
	p.archived_at IS NOT NULL OR k.revoked_at IS NOT NULL OR k.expires_at <= $2 OR ` + mayNotRun + `
	OR ` + keys.Full + `
	OR (
		SELECT c.number FROM run_chunks c
		WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.number >= r.folded AND c.pending > 0
		ORDER BY c.number LIMIT 1
	) IS NULL
	OR (
		SELECT c.saved_at FROM run_chunks c
		WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.saved_at > $1 AND c.failed > 0
		ORDER BY c.saved_at DESC LIMIT 1
	) IS NOT NULL
)`

	whyPaused = `-- name: WhyPaused :one
SELECT p.archived_at IS NOT NULL, k.revoked_at IS NOT NULL, coalesce(k.expires_at <= $3, false), coalesce(` + mayNotRun + `, false),
	` + keys.Full + `, r.pause_at, r.watched_from
FROM runs r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
LEFT JOIN api_keys k ON k.id = r.key_id
LEFT JOIN members m ON m.account_id = r.account_id AND m.id = r.key_id
WHERE r.account_id = $1 AND r.id = $2`
)

// watchedTime is how long after a save TendRuns, which is called every second, still checks whether the run should pause.
const watchedTime = time.Minute

// The reasons for which runs pause by themselves (spec: run-pauses-itself).
const (
	reasonFailures = "%d of the last %d rows failed."
	reasonArchived = "This prism is archived, so it cannot answer."
	reasonRevoked  = "The key that started this run was revoked."
	reasonExpired  = "The key that started this run has expired."
	reasonRemoved  = "The member who started this run may no longer run it."
	reasonFull     = "This account stores as much as it may."
)

// TendRuns implements Store.
func (s SQL) TendRuns(ctx context.Context, now time.Time) (changes int, err error) {
	if err := s.expire(ctx, now); err != nil {
		return 0, err
	}
	tended, err := s.ownedRuns(ctx, "tended_runs", tendedRuns, now.Add(-watchedTime), now)
	if err != nil {
		return 0, err
	}
	if changes, err = s.tendRetries(ctx, now); err != nil {
		return changes, err
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
	return changes, s.fold(ctx)
}

// fold adds the finished chunks at the front of each run to the sums of the run, so that neither reads nor leases have to pass
// over them. Only a retry changes such a chunk later, and it unfolds the run first, under the same lock.
func (s SQL) fold(ctx context.Context) error {
	unfolded, err := s.ownedRuns(ctx, "unfolded_runs", unfoldedRuns)
	if err != nil {
		return err
	}
	for _, u := range unfolded {
		err := s.changeRun(ctx, "fold_run", u.account, u.run, func(c *runChange) error {
			if c.retryFrom != nil {
				return nil
			}
			var from, to int32
			err := c.do(ctx, selectFolded, sqldb.ReadRow(&from, func(r *sqldb.Row) int32 {
				from := r.Int32()
				to = r.Int32()
				return from
			}))
			if err != nil {
				return err
			}
			if err := c.do(ctx, firstOpen, sqldb.ReadRow(&to, (*sqldb.Row).Int32), from); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if from == to {
				return nil
			}
			return c.do(ctx, foldChunks, sqldb.NoRow, from, to)
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// expire ends the leases whose time is over. If there is none, it writes nothing.
func (s SQL) expire(ctx context.Context, now time.Time) error {
	expired, err := s.ownedRuns(ctx, "expired_leases", expiredLeases, now)
	for _, e := range expired {
		if err == nil {
			err = s.Run(ctx, sqldb.Change("expire_leases", expireLeases, e.account.UUID, e.run.UUID, now), sqldb.NoRow)
		}
	}
	return err
}

// ownedRun is a run and its account.
type ownedRun struct {
	account prism.AccountID
	run     prism.RunID
}

// ownedRuns reads runs of any account.
func (s SQL) ownedRuns(ctx context.Context, operation, text string, args ...any) (found []ownedRun, err error) {
	err = s.Run(ctx, sqldb.Query(operation, text, args...), sqldb.ReadRows(&found, func(r *sqldb.Row) ownedRun {
		return ownedRun{prism.AccountID{UUID: r.UUID()}, prism.RunID{UUID: r.UUID()}}
	}))
	return found, err
}

// tend does what is due for one run: it continues a retry or a stop, finishes the run, or pauses it.
func (c *runChange) tend(ctx context.Context, now time.Time) (changed bool, err error) {
	if c.retryFrom != nil && c.Status != prism.RunCancelling {
		return true, c.retryPart(ctx)
	}
	switch c.Status {
	case prism.RunPausing, prism.RunCancelling:
		if c.stoppedAt == nil || !now.Before(c.stoppedAt.Add(StopWait)) {
			if err := c.do(ctx, revokeLeases, sqldb.NoRow); err != nil {
				return false, err
			}
		}
		return c.finishStop(ctx, now)
	case prism.RunQueued, prism.RunRunning:
		pending, err := c.is(ctx, chunkPending)
		if err != nil {
			return false, err
		}
		if !pending {
			return c.finish(ctx, now)
		}
		reason, err := c.reason(ctx, now)
		if err != nil || reason == "" {
			return false, err
		}
		return true, c.stop(ctx, prism.RunPausing, reason, now)
	case prism.RunPaused, prism.RunCancelled, prism.RunFinished:
	}
	return false, nil
}

// finish ends a run without pending rows, unless a worker still has the lease of the last rows.
func (c *runChange) finish(ctx context.Context, now time.Time) (changed bool, err error) {
	leased, err := c.is(ctx, chunkLeased)
	if err != nil || leased {
		return false, err
	}
	return true, c.over(ctx, prism.RunFinished, now)
}

// reason is why the run pauses by itself; "" if it does not.
func (c *runChange) reason(ctx context.Context, now time.Time) (string, error) {
	var (
		archived, revoked, expired, removed, isFull bool

		pauseAt float64
		from    time.Time
		found   bool
	)
	err := c.do(ctx, whyPaused, sqldb.ReadRow(&found, func(r *sqldb.Row) bool {
		archived, revoked, expired, removed, isFull = r.Bool(), r.Bool(), r.Bool(), r.Bool(), r.Bool()
		pauseAt, from = r.Float(), r.Time()
		return true
	}), now)
	switch {
	case err != nil:
		return "", err
	case archived:
		return reasonArchived, nil
	case revoked:
		return reasonRevoked, nil
	case expired:
		return reasonExpired, nil
	case removed:
		return reasonRemoved, nil
	case isFull:
		return reasonFull, nil
	}
	failed, rows, err := c.lastRows(ctx, from)
	if err != nil || rows < WatchedRows || float64(failed) <= pauseAt*WatchedRows {
		return "", err
	}
	return fmt.Sprintf(reasonFailures, failed, rows), nil
}

// lastRows counts the last WatchedRows rows that got their outcome after a time, and how many of them failed. It reads as
// many chunks, those that were saved last, as each has at least one such row.
func (c *runChange) lastRows(ctx context.Context, from time.Time) (failed, rows int, err error) {
	var batches []batch
	err = c.do(ctx, fmt.Sprintf("%s LIMIT %d", savedSince, WatchedRows), func(found iter.Seq[*sqldb.Row]) error {
		batches = nil
		for r := range found {
			batches = append(batches, readBatches(r, from)...)
		}
		return nil
	}, from)
	slices.SortStableFunc(batches, func(a, b batch) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.chunk, a.chunk)) })
	for _, b := range batches {
		last := b.letters[max(0, len(b.letters)-(WatchedRows-rows)):]
		failed += strings.Count(last, string(RowFailedState))
		rows += len(last)
	}
	return failed, rows, err
}
