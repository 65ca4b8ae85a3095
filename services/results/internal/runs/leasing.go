package runs

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// waitingRuns finds runs with rows that nobody has leased, and retries with such results, in the order in which they are
	// served (spec: run-fairness): first the account with the fewest leased rows, then the run that waited longest. For each run
	// under way it reads the leases and one index entry; no other run has leases. If one query asked for the leases of all runs,
	// Postgres would read all chunks, unless ANALYZE has recorded that few are leased.
	waitingRuns = `-- name: WaitingRuns :many
SELECT r.account_id, r.id, r.retries
FROM (SELECT u.*, sum(coalesce(u.pending, 0)) OVER (PARTITION BY u.account_id) AS of_account FROM (
	SELECT r.account_id, r.id, r.prism_id, r.status, r.rows_per_second, r.concurrency, r.leased_at, r.folded, (
		SELECT sum(l.pending) FROM run_chunks l
		WHERE l.account_id = r.account_id AND l.run_id = r.id AND l.number >= r.folded AND l.token IS NOT NULL
	) AS pending, CASE WHEN r.concurrency > 0 THEN (
		SELECT sum(CASE WHEN l.granted = 0 THEN 32 ELSE l.granted END) FROM run_chunks l
		WHERE l.account_id = r.account_id AND l.run_id = r.id AND l.number >= r.folded AND l.token IS NOT NULL
	) END AS granted, 0 AS retries
	FROM runs r WHERE r.status IN ('queued', 'running', 'pausing', 'cancelling') AND r.account_id` + sqldb.StaysHere + `
	UNION ALL
	SELECT t.account_id, t.id, t.prism_id, 'running', CAST(0 AS double precision), 0, t.leased_at, 0, (
		SELECT sum(l.pending) FROM retry_chunks l WHERE l.account_id = t.account_id AND l.retry_id = t.id AND l.token IS NOT NULL
	), NULL, 1
	FROM retries t WHERE NOT ` + callerStops + ` AND t.account_id` + sqldb.StaysHere + `
) u) r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id AND p.archived_at IS NULL
WHERE r.status IN ('queued', 'running')
	AND (r.rows_per_second = 0 OR r.pending IS NULL)
	AND (r.concurrency = 0 OR r.granted IS NULL OR r.granted < r.concurrency)
	AND CASE r.retries WHEN 0 THEN (
		SELECT c.number FROM run_chunks c
		WHERE c.account_id = r.account_id AND c.run_id = r.id AND c.number >= r.folded AND c.pending > 0 AND c.token IS NULL
		ORDER BY c.number LIMIT 1
	) ELSE (
		SELECT c.number FROM retry_chunks c
		WHERE c.account_id = r.account_id AND c.retry_id = r.id AND c.pending > 0 AND c.token IS NULL
		ORDER BY c.number LIMIT 1
	) END IS NOT NULL -- as EXISTS, Postgres would join all chunks
ORDER BY r.of_account, r.leased_at, r.id
LIMIT 8`

	// serveRun locks the run, so that its limits hold for all of its leases together.
	serveRun = `UPDATE runs AS t SET leased_at = $1, status = 'running', started_at = coalesce(t.started_at, $1)
WHERE t.account_id = $2 AND t.id = $3 AND t.status IN ('queued', 'running') AND NOT ` + stops + `
RETURNING status, rows_per_second, concurrency, started_at = $1`

	// folded is the first chunk that may wait or be leased. Without this bound, Postgres would pass over the dead index entries of
	// all chunks before it, unless it could remove them.
	folded = `(SELECT f.folded FROM runs f WHERE f.account_id = $1 AND f.id = $2)`

	lockLimits = `SELECT status, rows_per_second, concurrency FROM runs WHERE account_id = $1 AND id = $2`

	leasesOfRun = `-- name: LeasesOfRun :many
SELECT number, token, granted, leased_until FROM run_chunks
WHERE account_id = $1 AND run_id = $2 AND token IS NOT NULL AND number >= ` + folded

	// leaseChunk and leasedChunk are the statement before and after the locking clause of the chunk.
	leaseChunk = `-- name: LeaseChunk :one
UPDATE run_chunks SET token = $3, leased_until = $4, granted = $5,
	begun_at = CASE WHEN begun_at > $6 THEN begun_at ELSE $7 END
WHERE account_id = $1 AND run_id = $2 AND number = (
	SELECT number FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND pending > 0 AND token IS NULL
		AND number >= ` + folded + ` ORDER BY number LIMIT 1`
	leasedChunk = `
)
RETURNING number, first_row, attempt, states, begun_at`

	renewLease = `UPDATE run_chunks SET leased_until = $5, granted = $6
WHERE account_id = $1 AND run_id = $2 AND number = $3 AND token = $4`

	// endOfLease ends the lease of a chunk. Rows whose retry was requested during the lease then wait in the next attempt.
	endOfLease = `UPDATE run_chunks SET token = NULL, leased_until = NULL, granted = 0,
	attempt = attempt + CASE WHEN states LIKE '%q%' THEN 1 ELSE 0 END,
	begun_at = CASE WHEN states LIKE '%q%' THEN NULL ELSE begun_at END, states = replace(states, 'q', 'p')`

	// failedOfRows finds the failed results that the rows of a chunk retry in an attempt after the first.
	failedOfRows = `-- name: FailedOfRows :many
SELECT run_row, id FROM results
WHERE account_id = $1 AND run_id = $2 AND run_row >= $3 AND run_row < $4 AND retried_by IS NULL AND status = 'failed'`
)

// pendingLater is the letter of a row whose retry waits for the end of the lease of its chunk: the worker that holds the lease
// still works on the attempt before.
const pendingLater = 'q'

// runLimits are the state and the limits of a run.
type runLimits struct {
	status prism.RunStatus
	contract.RowLimits
}

func readRunLimits(r *sqldb.Row) runLimits {
	return runLimits{prism.RunStatus(r.Text()), contract.RowLimits{RowsPerSecond: r.Float(), Concurrency: r.Int32()}}
}

// runLease is a lease of a run.
type runLease struct {
	chunk   int32
	token   prism.UUID
	granted int32 // rows at the model at once; 0: any number, from before the run had a limit
	until   time.Time
}

func readRunLease(r *sqldb.Row) runLease { return runLease{r.Int32(), r.UUID(), r.Int32(), r.Time()} }

// grant returns the limits of a lease of a run with these other leases, and false if the lease must stop.
func (l runLimits) grant(others []runLease, first bool) (contract.RowLimits, bool) {
	granted := contract.RowLimits{RowsPerSecond: l.RowsPerSecond}
	if l.status != prism.RunQueued && l.status != prism.RunRunning || l.RowsPerSecond > 0 && !first {
		return granted, false
	}
	if l.Concurrency == 0 {
		return granted, true
	}
	free := l.Concurrency
	for _, o := range others {
		if o.granted == 0 {
			o.granted = LeaseShare
		}
		free -= o.granted
	}
	granted.Concurrency = min(free, LeaseShare)
	return granted, free > 0
}

// LeaseChunk implements Store.
func (s SQL) LeaseChunk(ctx context.Context, token prism.UUID, now, until time.Time) (*LeasedChunk, error) {
	type lease func() (*LeasedChunk, error)
	var waiting []lease
	err := s.Run(ctx, sqldb.Query("waiting_runs", waitingRuns, now), sqldb.ReadRows(&waiting, func(r *sqldb.Row) lease {
		l := contract.Lease{Account: prism.AccountID{UUID: r.UUID()}, Run: prism.RunID{UUID: r.UUID()}, Token: token}
		if r.Bool() {
			return func() (*LeasedChunk, error) { return s.leaseRetry(ctx, l, now, until) }
		}
		return func() (*LeasedChunk, error) { return s.leaseRun(ctx, l, now, until) }
	}))
	if err != nil {
		return nil, err
	}
	for _, try := range waiting {
		leased, err := try()
		if !errors.Is(err, store.ErrNotFound) {
			return leased, err
		}
	}
	return nil, nil
}

// leaseRun leases a chunk of a run: store.ErrNotFound if another worker was faster.
func (s SQL) leaseRun(ctx context.Context, lease contract.Lease, now, until time.Time) (leased *LeasedChunk, err error) {
	key := []any{lease.Account.UUID, lease.Run.UUID}
	err = s.Transaction(ctx, "lease_chunk", func(run sqldb.Run) error {
		leased = &LeasedChunk{Lease: lease}
		var (
			limits runLimits
			others []runLease
			begins bool
		)
		serve := sqldb.Statement{Text: serveRun, Args: append([]any{now}, key...)}
		if err := run(ctx, serve, sqldb.ReadRow(&limits, func(r *sqldb.Row) runLimits {
			limits := readRunLimits(r)
			begins = r.Bool()
			return limits
		})); err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: leasesOfRun, Args: key}, sqldb.ReadRows(&others, readRunLease)); err != nil {
			return err
		}
		granted, more := limits.grant(others, len(others) == 0)
		if !more {
			return store.ErrNotFound
		}
		leased.RowLimits = granted
		args := slices.Concat(key, []any{lease.Token, until, granted.Concurrency, now.Add(-AttemptAge), now})
		statement := sqldb.Statement{Text: leaseChunk + s.Locking(true) + leasedChunk, Args: args}
		err := run(ctx, statement, sqldb.ReadRow(leased, func(r *sqldb.Row) LeasedChunk {
			l := *leased
			l.Chunk = Chunk{Number: r.Int32(), FirstRow: r.Int(), Attempt: r.Int32(), States: []byte(r.Text())}
			l.Lease.Chunk, l.BegunAt = l.Chunk.Number, r.Time()
			return l
		}))
		if err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: selectBareRun, Args: key}, sqldb.ReadRow(&leased.Run, readRun)); err != nil {
			return err
		}
		if begins && len(others) == 0 {
			started := store.NewEvent{Type: api.RunStarted, At: now, Prism: leased.Run.Prism, Subject: lease.Run.UUID}
			if err := sqldb.Tell(ctx, run, lease.Account, started); err != nil {
				return err
			}
		}
		if leased.Chunk.Attempt == 1 {
			return nil
		}
		args = slices.Concat(key, []any{leased.Chunk.FirstRow, leased.Chunk.FirstRow + int64(len(leased.Chunk.States))})
		leased.Failed = map[int64]prism.ResultID{}
		return run(ctx, sqldb.Statement{Text: failedOfRows, Args: args}, func(rows iter.Seq[*sqldb.Row]) error {
			for r := range rows {
				leased.Failed[r.Int()] = prism.ResultID{UUID: r.UUID()}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return leased, nil
}

// RenewLeases implements Store.
func (s SQL) RenewLeases(
	ctx context.Context, leases []contract.Lease, now, until time.Time,
) ([]contract.LeaseState, error) {
	states := make([]contract.LeaseState, len(leases))
	done := make([]bool, len(leases))
	for i, l := range leases {
		if done[i] {
			continue
		}
		var same []int // the leases of the same run
		for j := i; j < len(leases); j++ {
			if leases[j].Run == l.Run && leases[j].Account == l.Account {
				same, done[j] = append(same, j), true
				states[j] = contract.LeaseState{Lease: leases[j], Stop: true}
			}
		}
		err := s.renew(ctx, ofRun, leases, same, states, now, until)
		if errors.Is(err, store.ErrNotFound) {
			err = s.renew(ctx, ofRetry, leases, same, states, now, until)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	return states, nil
}

// leasable is the statements on the leases of a run or a retry.
type leasable struct {
	limits, leases string
	timed          bool // the first argument of limits is the time
	renew          func(runLease) (text string, args []any)
}

var (
	ofRun = leasable{lockLimits, leasesOfRun, false, func(h runLease) (string, []any) {
		return renewLease, []any{h.chunk, h.token, h.until, h.granted}
	}}
	ofRetry = leasable{retryLimits, leasesOfRetry, true, func(h runLease) (string, []any) {
		return renewRetryLease, []any{h.chunk, h.token, h.until}
	}}
)

// renew renews the leases of one run or retry, whose indexes in leases are same: store.ErrNotFound if there is no such run or retry.
func (s SQL) renew(
	ctx context.Context, kind leasable, leases []contract.Lease, same []int, states []contract.LeaseState, now, until time.Time,
) error {
	args := []any{leases[same[0]].Account.UUID, leases[same[0]].Run.UUID}
	limitsArgs := args
	if kind.timed {
		limitsArgs = slices.Insert(slices.Clone(args), 0, any(now))
	}
	look := func(run sqldb.Run, locking string) (l runLimits, leasesOf []runLease, err error) {
		err = run(ctx, sqldb.Query("look_at_lease", kind.limits+locking, limitsArgs...), sqldb.ReadRow(&l, readRunLimits))
		if err == nil {
			err = run(ctx, sqldb.Query("look_at_lease", kind.leases, args...), sqldb.ReadRows(&leasesOf, readRunLease))
			// Sorted here: for the order, Postgres would walk all chunks of the run.
			slices.SortFunc(leasesOf, func(a, b runLease) int { return cmp.Compare(a.chunk, b.chunk) })
		}
		return l, leasesOf, err
	}
	decide := func(l runLimits, leasesOf []runLease, write func(runLease) error) error {
		for _, i := range same {
			states[i] = contract.LeaseState{Lease: leases[i], Stop: true}
			at := slices.IndexFunc(leasesOf, func(h runLease) bool {
				return h.chunk == leases[i].Chunk && h.token == leases[i].Token
			})
			if at < 0 {
				continue
			}
			others := slices.Delete(slices.Clone(leasesOf), at, at+1)
			granted, more := l.grant(others, at == 0)
			mine, was := &leasesOf[at], leasesOf[at]
			states[i].Stop = !more
			if more {
				states[i].RowLimits, mine.granted = granted, granted.Concurrency
			}
			// A lease is only written when a quarter of its time is over, so that workers may ask often.
			if mine.granted != was.granted || was.until.Before(until.Add(-contract.LeaseTime/4)) {
				mine.until = until
				if err := write(*mine); err != nil {
					return err
				}
			}
		}
		return nil
	}
	l, leased, err := look(s.Run, "")
	if err != nil {
		return err
	}
	err = decide(l, leased, func(runLease) error { return errWrite })
	if !errors.Is(err, errWrite) {
		return err
	}
	return s.Transaction(ctx, "renew_leases", func(run sqldb.Run) error {
		l, leased, err := look(run, s.Locking(false))
		if err != nil {
			return err
		}
		return decide(l, leased, func(h runLease) error {
			text, more := kind.renew(h)
			return run(ctx, sqldb.Statement{Text: text, Args: append(args[:2:2], more...)}, sqldb.NoRow)
		})
	})
}

// errWrite: a lease has to be written, so a read is not enough.
var errWrite = errors.New("store: a lease is to be written")
