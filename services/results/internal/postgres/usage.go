package postgres

import (
	"context"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// foldedRows bounds a statement that folds: a tail that grew long, while no process folded it, is moved in several.
const foldedRows = 50_000

// usageKey and usageColumns are the columns of usage. An unknown model, key or currency is empty or the zero id, not null: it is part
// of the key.
const (
	usageKey     = `account_id, day, prism_id, model, key_id, currency`
	usageColumns = usageKey + `, results, failed, input_tokens, output_tokens, cost, cost_rest`
)

// lockFold has one process at a time fold: its lock costs less than a lock of each row, and no two fold in different orders, in which
// they could wait for each other. The others have nothing to do. Another transaction holds the lock until its changes are seen, and the
// statements behind this one see the database as it is then.
const lockFold = `-- name: LockFold :one
SELECT CASE WHEN EXISTS (SELECT FROM tail) OR EXISTS (SELECT FROM event_tail) OR EXISTS (SELECT FROM usage_tail)
	OR EXISTS (SELECT FROM stored_bytes_tail)
	THEN pg_try_advisory_xact_lock(8102654024067625077) -- a number of our own: "prism: u"
	ELSE false END`

// awaitFold waits for the lock of lockFold. The tails still show what the transaction that has the lock is moving.
const awaitFold = `-- name: AwaitFold :one
SELECT CASE WHEN EXISTS (SELECT FROM tail) OR EXISTS (SELECT FROM event_tail)
	THEN pg_advisory_xact_lock(8102654024067625077) IS NOT NULL
	ELSE false END`

// moving deletes the first rows of a tail. Its plan, and that of what is done with the moved rows, is made while the tail is short, so no
// part of it may take the square of the rows: an array of them is compared with each row, and a join may read one side for each of the other.
func moving(tail, order string) string {
	return `-- name: Fold :one
WITH moved AS (
	DELETE FROM ` + tail + ` t USING (
		SELECT f.ctid FROM ` + tail + ` f WHERE f.account_id` + sqldb.StaysHere + order + ` LIMIT $1
	) AS first WHERE t.ctid = first.ctid
	RETURNING t.*
)`
}

// numbering puts moved rows into a log, with numbers behind the last one of their account.
func numbering(log, columns string) string {
	return `, last AS MATERIALIZED (
	SELECT a.account_id, coalesce((SELECT max(x.seq) FROM ` + log + ` x WHERE x.account_id = a.account_id), 0) AS seq
	FROM (SELECT DISTINCT account_id FROM moved) a
), numbered AS (
	INSERT INTO ` + log + ` (account_id, seq, ` + columns + `)
	SELECT account_id, l.seq + row_number() OVER (PARTITION BY account_id ORDER BY m.position), ` + columns + `
	FROM moved m JOIN last l USING (account_id)
)`
}

const (
	// addUsage and addBytes add moved rows to their sums.
	addUsage = `INSERT INTO usage AS u (` + usageColumns + `)
	SELECT account_id, day, prism_id, coalesce(model, '') AS model,
		coalesce(key_id, '00000000-0000-0000-0000-000000000000') AS key_id, coalesce(currency, '') AS currency,
		count(*), count(*) FILTER (WHERE status = 'failed'),
		coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
		div(coalesce(sum(cost), 0), 1000000000000)::bigint, mod(coalesce(sum(cost), 0), 1000000000000)::bigint
	FROM moved WHERE day IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6
	ON CONFLICT (` + usageKey + `) DO UPDATE SET
		results = u.results + excluded.results, failed = u.failed + excluded.failed,
		input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
		cost = u.cost + excluded.cost + (u.cost_rest + excluded.cost_rest) / 1000000000000,
		cost_rest = (u.cost_rest + excluded.cost_rest) % 1000000000000`
	addBytes = `INSERT INTO stored_bytes AS s (account_id, bytes)
	SELECT account_id, sum(bytes) FROM moved WHERE bytes IS NOT NULL GROUP BY account_id
	ON CONFLICT (account_id) DO UPDATE SET bytes = s.bytes + excluded.bytes`

	countMoved = `
SELECT count(*) FROM moved`
)

// folds move the rows of the tails. A row of the tail gets its number with those that were committed by then. What was committed before
// another change began has the lower position, so no number is lower than that of a change before (spec: changes-order).
//
// Events get theirs before, so that a run has not finished before its last result was saved (spec: event-order).
//
// The other two tails are those of the release before, of files, and of results that were inserted by hand; the trigger fold_bytes adds
// the bytes of usage_tail.
var folds = []string{
	moving("event_tail", " ORDER BY f.position") + numbering("events", "at, type, prism_id, subject_id, detail") + countMoved,
	moving("tail", " ORDER BY f.position") + numbering("changes", "at, type, prism_id, result_id") + `, used AS (
	` + addUsage + `
), stored AS (
	` + addBytes + `
)` + countMoved,
	moving("usage_tail", "") + `, used AS (
	` + addUsage + `
)` + countMoved,
	moving("stored_bytes_tail", "") + `, stored AS (
	` + addBytes + `
)` + countMoved,
}

// Fold implements changes.Store.
func (d *database) Fold(ctx context.Context) error { return d.fold(ctx, lockFold) }

// FoldAll implements changes.Store.
func (d *database) FoldAll(ctx context.Context) error { return d.fold(ctx, awaitFold) }

func (d *database) fold(ctx context.Context, lock string) error {
	if d.layout == Citus {
		return d.foldShards(ctx, lock == awaitFold)
	}
	for more := true; more; {
		var locked bool
		err := d.Transaction(ctx, "fold", func(run sqldb.Run) error {
			more = false
			err := run(ctx, sqldb.Statement{Text: lock}, sqldb.ReadRow(&locked, (*sqldb.Row).Bool))
			if err != nil || !locked {
				return err
			}
			for _, fold := range folds {
				var moved int64
				err := run(ctx, sqldb.Statement{Text: fold, Args: []any{int64(foldedRows)}}, sqldb.ReadRow(&moved, (*sqldb.Row).Int))
				if err != nil {
					return err
				}
				more = more || moved == foldedRows
			}
			crash.At(crash.InFold)
			return nil
		})
		if err != nil || !locked {
			return err
		}
		crash.At(crash.AfterFold)
	}
	return nil
}
