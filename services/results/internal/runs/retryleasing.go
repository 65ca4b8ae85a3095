package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// callerStops is whether the caller of a run or retry t may no longer run it at the time $1: its key was revoked or has
	// expired, or its member was removed or has a role that may not run anything.
	callerStops = `(
	EXISTS (SELECT 1 FROM api_keys k WHERE k.id = t.key_id AND (k.revoked_at IS NOT NULL OR k.expires_at <= $1))
	OR EXISTS (SELECT 1 FROM members m WHERE m.account_id = t.account_id AND m.id = t.key_id AND ` + mayNotRun + `)
)`
	// stops is whether no row of a run or retry t may be leased at the time $1: because of its caller, or because its prism is
	// archived.
	stops     = stopsFor + `t.account_id` + stopsWith
	stopsFor  = `(` + callerStops + ` OR NOT EXISTS (SELECT 1 FROM prisms p WHERE p.account_id = `
	stopsWith = ` AND p.id = t.prism_id AND p.archived_at IS NULL))`

	retryLimits = `SELECT CASE WHEN ` + stopsFor + `$2` + stopsWith + ` THEN 'pausing' ELSE 'running' END, CAST(0 AS double precision), 0
FROM retries t WHERE t.account_id = $2 AND t.id = $3`

	leasesOfRetry = `-- name: LeasesOfRetry :many
SELECT number, token, 0, leased_until FROM retry_chunks WHERE account_id = $1 AND retry_id = $2 AND token IS NOT NULL`

	renewRetryLease = `UPDATE retry_chunks SET leased_until = $5 WHERE account_id = $1 AND retry_id = $2 AND number = $3 AND token = $4`

	serveRetry = `UPDATE retries AS t SET leased_at = $1 WHERE t.account_id = $2 AND t.id = $3 AND NOT ` + stops + `
RETURNING prism_id, key_id`

	waitingRetryChunk = `-- name: WaitingRetryChunk :one
SELECT number, version, ids, states, begun_at FROM retry_chunks
WHERE account_id = $1 AND retry_id = $2 AND pending > 0 AND token IS NULL
ORDER BY number LIMIT 1`

	lockRetryChunk = `-- name: LockRetryChunk :one
SELECT number, version, ids, states, begun_at FROM retry_chunks
WHERE account_id = $1 AND retry_id = $2 AND number = $3 AND token = $4`

	leaseRetryChunk = `UPDATE retry_chunks SET states = $4, pending = $5, begun_at = $6, token = $7, leased_until = $8` +
		whereRetryChunk
	whereRetryChunk  = ` WHERE account_id = $1 AND retry_id = $2 AND number = $3`
	saveRetryChunk   = `UPDATE retry_chunks SET states = $4, pending = $5` + whereRetryChunk
	endRetryLease    = `UPDATE retry_chunks SET token = NULL, leased_until = NULL` + whereRetryChunk
	removeRetryChunk = `DELETE FROM retry_chunks` + whereRetryChunk

	// tendedRetries finds retries that have no chunk, have a lease whose time is over, or have a chunk without a lease and must
	// stop.
	tendedRetries = `-- name: TendedRetries :many
SELECT t.account_id, t.id FROM retries t
WHERE t.account_id` + sqldb.StaysHere + ` AND (
	NOT EXISTS (SELECT 1 FROM retry_chunks c WHERE c.account_id = t.account_id AND c.retry_id = t.id)
	OR EXISTS (
		SELECT 1 FROM retry_chunks c
		WHERE c.account_id = t.account_id AND c.retry_id = t.id AND c.token IS NOT NULL AND c.leased_until <= $1
	)
	OR EXISTS (SELECT 1 FROM retry_chunks c WHERE c.account_id = t.account_id AND c.retry_id = t.id AND c.token IS NULL)
		AND ` + stops + `
)`
	expireRetryLeases = `UPDATE retry_chunks SET token = NULL, leased_until = NULL
WHERE account_id = $1 AND retry_id = $2 AND token IS NOT NULL AND leased_until <= $3`
	// removeRetryChunks removes the chunks without a lease that are done, and all of them if the retry stops.
	removeRetryChunks = `DELETE FROM retry_chunks WHERE account_id = $2 AND retry_id = $3 AND token IS NULL AND (
	pending = 0 OR EXISTS (SELECT 1 FROM retries t WHERE t.account_id = $2 AND t.id = $3 AND ` + stops + `)
)`
	removeRetry = `DELETE FROM retries WHERE account_id = $1 AND id = $2
	AND NOT EXISTS (SELECT 1 FROM retry_chunks c WHERE c.account_id = retries.account_id AND c.retry_id = retries.id)`
)

const (
	// idsAtOnce is how many results one statement reads by their ids: their inputs can be large.
	idsAtOnce = 25
	// emptyChunks bounds how many chunks a lease skips because none of their results can be retried any more.
	emptyChunks = 8
)

var (
	readRetried = retryableOf(sqldb.Fixed + sqldb.Input)
	lockRetried = retryableOf(`r.id, r.idempotency_key, r.run_id, r.run_row`)

	unfoldRun = UnfoldRun("$1", "$2")
	countRow  = CountRetriedRow("$1", "$2", "CAST($3 AS bigint)", "CAST($4 AS text)", "CAST($5 AS bigint)", "CAST($6 AS bigint)",
		"CAST($7 AS bigint)", "CAST($8 AS text)")
)

// retryableOf reads columns of the results with idsAtOnce ids, in the order of the ids, that can be retried.
func retryableOf(columns string) string {
	return `-- name: RetryableOf :many
SELECT ` + columns + ` FROM results r WHERE r.account_id = $1 AND r.status = 'failed' AND r.retried_by IS NULL AND r.id IN (` +
		sqldb.Parameters(2, idsAtOnce) + `) ORDER BY r.id`
}

// eachRetryable executes a statement of retryableOf for all ids, and calls read with each row until read returns false.
func eachRetryable(
	ctx context.Context, run sqldb.Run, account prism.AccountID, text string, ids []prism.UUID, read func(*sqldb.Row) bool,
) error {
	more := true
	for part := range slices.Chunk(ids, idsAtOnce) {
		args := append([]any{account.UUID}, sqldb.Padded(part, idsAtOnce)...)
		err := run(ctx, sqldb.Statement{Text: text, Args: args}, func(rows iter.Seq[*sqldb.Row]) error {
			for r := range rows {
				if more = read(r); !more {
					break
				}
			}
			return nil
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// retryChunk is a chunk of a retry.
type retryChunk struct {
	number, version int32
	ids, states     []byte
	begunAt         time.Time
}

func readRetryChunk(r *sqldb.Row) retryChunk {
	return retryChunk{number: r.Int32(), version: r.Int32(), ids: r.Bytes(), states: []byte(r.Text()), begunAt: r.Time()}
}

func (c *retryChunk) id(at int) prism.UUID {
	return prism.UUID(c.ids[at*len(prism.UUID{}):][:len(prism.UUID{})])
}

// row is the number of a result in its retry, as if all chunks were full.
func (c *retryChunk) row(at int) int64 { return int64(c.number)*contract.ChunkRows + int64(at) + 1 }

func (c *retryChunk) pending() int32 {
	return int32(bytes.Count(c.states, []byte{RowPendingState})) //nolint:gosec // of a chunk
}

// leaseRetry leases a chunk of a retry: store.ErrNotFound if another worker was faster. It returns nil if it found only chunks
// with nothing to retry, which it has removed.
func (s SQL) leaseRetry(ctx context.Context, lease contract.Lease, now, until time.Time) (leased *LeasedChunk, err error) {
	key := []any{lease.Account.UUID, lease.Run.UUID}
	err = s.Transaction(ctx, "lease_retry", func(run sqldb.Run) error {
		leased = nil
		l := &LeasedChunk{Lease: lease, BegunAt: now}
		l.Run.ID = lease.Run
		err := run(ctx, sqldb.Statement{Text: serveRetry, Args: append([]any{now}, key...)}, sqldb.ReadRow(&l.Run, func(r *sqldb.Row) Run {
			l.Run.Prism, l.Run.Key = prism.PrismID{UUID: r.UUID()}, prism.KeyID{UUID: r.UUID()}
			return l.Run
		}))
		if err != nil {
			return err
		}
		removed := false
		for range emptyChunks {
			var c retryChunk
			waiting := sqldb.Statement{Text: waitingRetryChunk + s.Locking(true), Args: key}
			err := run(ctx, waiting, sqldb.ReadRow(&c, readRetryChunk))
			if errors.Is(err, store.ErrNotFound) && removed {
				return nil
			}
			if err != nil {
				return err
			}
			if l.Retried, err = c.find(ctx, run, l); err != nil {
				return err
			}
			chunk := slices.Concat(key[:2], []any{c.number})
			if len(l.Retried) == 0 {
				if err := run(ctx, sqldb.Statement{Text: removeRetryChunk, Args: chunk}, sqldb.NoRow); err != nil {
					return err
				}
				removed = true
				continue
			}
			l.Lease.Chunk, l.Chunk.Number, l.Run.Version = c.number, c.number, c.version
			leased = l
			args := slices.Concat(chunk, []any{string(c.states), c.pending(), now, lease.Token, until})
			return run(ctx, sqldb.Statement{Text: leaseRetryChunk, Args: args}, sqldb.NoRow)
		}
		return nil
	})
	return leased, err
}

// find finds the next results of a chunk that can be retried, up to contract.ChunkBytes. It marks those before them that cannot be
// retried as done.
func (c *retryChunk) find(ctx context.Context, run sqldb.Run, l *LeasedChunk) (retryable []RowResult, err error) {
	var ids []prism.UUID
	at := map[prism.UUID]int{}
	for i, state := range c.states {
		if state == RowPendingState {
			ids, at[c.id(i)] = append(ids, c.id(i)), i
		}
	}
	end, size := len(c.states), 0
	err = eachRetryable(ctx, run, l.Account, readRetried, ids, func(r *sqldb.Row) bool {
		result := r.Result(l.Run.Prism, store.WithInput)
		i := at[result.ID.UUID]
		if size += store.Size(result); size > contract.ChunkBytes && len(retryable) > 0 {
			end = i
			return false
		}
		retryable = append(retryable, RowResult{Row: c.row(i), Result: result})
		delete(at, result.ID.UUID)
		return true
	})
	for _, i := range at {
		if i < end {
			c.states[i] = retryDoneState
		}
	}
	return retryable, err
}

// saveRetries is SaveRows for a chunk of a retry. A result that has since been deleted, or retried on its own, is not retried.
func (s SQL) saveRetries(ctx context.Context, run sqldb.Run, saved contract.SaveRows, now time.Time) error {
	key := []any{saved.Account.UUID, saved.Run.UUID, saved.Chunk}
	var c retryChunk
	locked := sqldb.Statement{Text: lockRetryChunk + s.Locking(false), Args: append(key[:3:3], saved.Token)}
	err := run(ctx, locked, sqldb.ReadRow(&c, readRetryChunk))
	if errors.Is(err, store.ErrNotFound) {
		return contract.ErrLeaseLost
	}
	if err != nil {
		return err
	}
	rows, err := c.take(ctx, run, saved, lockRetried+s.Locking(false), now)
	if err != nil {
		return err
	}
	if len(rows.Results) > 0 {
		if err := s.InsertRows(ctx, run, rows); err != nil {
			return err
		}
		if err := countRetried(ctx, run, rows); err != nil {
			return err
		}
	}
	crash.At(crash.InCommit)
	switch {
	case saved.Done && c.pending() == 0:
		return run(ctx, sqldb.Statement{Text: removeRetryChunk, Args: key}, sqldb.NoRow)
	case saved.Done:
		if err := run(ctx, sqldb.Statement{Text: endRetryLease, Args: key}, sqldb.NoRow); err != nil {
			return err
		}
	}
	return run(ctx, sqldb.Statement{Text: saveRetryChunk, Args: append(key[:3:3], string(c.states), c.pending())}, sqldb.NoRow)
}

// take marks the saved results as done, and returns the rows to insert. It locks the retried results by id, before any run is
// locked: the retry of a single result locks in the same order.
func (c *retryChunk) take(ctx context.Context, run sqldb.Run, saved contract.SaveRows, lock string, now time.Time) (rows sqldb.Rows, err error) {
	rows.Account = saved.Account
	sent := map[prism.UUID]contract.Save{}
	var ids []prism.UUID
	for _, row := range saved.Rows {
		at := row.Row - c.row(0)
		if at < 0 || at >= int64(len(c.states)) || (row.Save == nil) == (row.Invalid == "") {
			return rows, errForeignRow
		}
		if c.states[at] != RowPendingState {
			continue // saved before
		}
		c.states[at] = retryDoneState
		if row.Save == nil {
			continue
		}
		id := c.id(int(at))
		if row.Save.ID != prism.RowResultID(c.begunAt, saved.Run, row.Row, 1) || row.Save.RetryOf == nil || row.Save.RetryOf.UUID != id {
			return rows, fmt.Errorf("%w: another id", errForeignRow)
		}
		ids, sent[id] = append(ids, id), *row.Save
	}
	slices.SortFunc(ids, sqldb.CompareIDs)
	err = eachRetryable(ctx, run, saved.Account, lock, ids, func(r *sqldb.Row) bool {
		retried := r.UUID()
		result := store.ResultOf(sent[retried], now)
		result.IdempotencyKey = r.Text()
		var runID *prism.UUID
		if id := r.UUID(); !id.IsZero() {
			runID = &id
		}
		rows.Add(result, &retried, runID, r.OptionalInt())
		return true
	})
	return rows, err
}

// countRetried changes the counts of the runs whose rows were retried (spec: run-single-retry). It locks the runs by id, so that
// transactions that change several runs do not deadlock.
func countRetried(ctx context.Context, run sqldb.Run, rows sqldb.Rows) error {
	var positions []int
	for i, id := range rows.Runs {
		if id != nil {
			positions = append(positions, i)
		}
	}
	slices.SortFunc(positions, func(a, b int) int {
		return cmp.Or(sqldb.CompareIDs(*rows.Runs[a], *rows.Runs[b]), cmp.Compare(*rows.Numbers[a], *rows.Numbers[b]))
	})
	var unfolded prism.UUID
	for _, i := range positions {
		id, r := *rows.Runs[i], rows.Results[i]
		if id != unfolded {
			if err := run(ctx, sqldb.Statement{Text: unfoldRun, Args: []any{rows.Account.UUID, id}}, sqldb.NoRow); err != nil {
				return err
			}
			unfolded = id
		}
		var used prism.Usage
		if r.Call != nil {
			used = sqldb.PlausibleUsage(r.Call.Usage)
		}
		args := []any{
			rows.Account.UUID, id, *rows.Numbers[i], string(r.Status), used.InputTokens, used.OutputTokens, used.Cost, sqldb.Nullable(used.Currency),
		}
		if err := run(ctx, sqldb.Statement{Text: countRow, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
	}
	return nil
}

// tendRetries ends leases of retries whose time is over, and retries that are done or must stop. It returns how many it changed.
func (s SQL) tendRetries(ctx context.Context, now time.Time) (changes int, err error) {
	tended, err := s.ownedRuns(ctx, "tended_retries", tendedRetries, now)
	for _, t := range tended {
		if err != nil {
			break
		}
		key := []any{t.account.UUID, t.run.UUID}
		err = s.Transaction(ctx, "tend_retry", func(run sqldb.Run) error {
			return errors.Join(
				run(ctx, sqldb.Statement{Text: expireRetryLeases, Args: append(key[:2:2], now)}, sqldb.NoRow),
				run(ctx, sqldb.Statement{Text: removeRetryChunks, Args: append([]any{now}, key...)}, sqldb.NoRow),
				run(ctx, sqldb.Statement{Text: removeRetry, Args: key}, sqldb.NoRow),
			)
		})
		changes++
	}
	return changes, err
}
