package postgres

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Each save is one statement, or a part of one, and so one round trip, one snapshot and one transaction.
const (
	// insertValues are the columns from ref to call.
	insertValues = `$5::text, $6::text, $7::json, $8::text, $9::text, $10::bigint, $11::timestamptz, $12::json,
		$13::uuid, $14::text, $15::bigint, $16::bigint, $17::bigint, $18::text, $19::json`

	// tailInserted writes the row of the tail of an inserted result (spec: changes, usage-is-exact, stored-bytes). It costs a third of what
	// a trigger would.
	tailInserted = `
	INSERT INTO tail (account_id, prism_id, result_id, type, at, day, status, key_id, model, input_tokens, output_tokens, cost, currency, bytes)
	SELECT account_id, prism_id, id, 1, created_at, (created_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01', status, key_id, model,
		input_tokens, output_tokens, cost, currency, bytes
	FROM inserted`
	// insertedColumns are what tailInserted needs.
	insertedColumns = `account_id, id, created_at, prism_id, status, key_id, model, input_tokens, output_tokens, cost, currency, bytes`
	// tailedColumns are the columns of an insert behind those that both databases share.
	tailedColumns = `, bytes, tailed`

	// insertResult relies on the versions of a prism having the numbers from 1 to latest_version (spec: versions).
	insertResult = `-- name: SaveResult :one
WITH p AS (
	SELECT * FROM prisms WHERE account_id = $1 AND id = $3
), inserted AS (
	INSERT INTO results (` + sqldb.InsertColumns + tailedColumns + `)
	SELECT p.account_id, $2::uuid, p.id, $4::integer, ` + insertValues + `, $20::text, NULL, $21::integer, true
	FROM p
	WHERE p.latest_version >= $4
	ON CONFLICT DO NOTHING
	RETURNING ` + insertedColumns + `
), used AS (` + tailInserted + `
)
SELECT EXISTS (SELECT 1 FROM inserted), ` + sqldb.PrismState + `
FROM p`

	// confirmSaved locks the row, so that its commit waits until everything before is as durable as a save: on disk, and on
	// the synchronous standby. A server that restarted during a save shows rows that the standby does not have.
	confirmSaved = sqldb.SavedResult + `
FOR KEY SHARE OF r`

	// confirmAll is confirmSaved for what has no row to lock: any row of the account orders its commit after everything before.
	confirmAll = `SELECT 1 FROM accounts WHERE id = $1 FOR KEY SHARE`
)

// insertRetry locks the old result, which orders concurrent retries of it. A retry that had to wait for the lock sees, in
// what the lock returns, that the result was retried, although its snapshot is older. The key leaves the old row before
// the new row takes it, because inserted reads what marked returns.
//
// A retry of a row's result belongs to the row too, and changes the counts of the row's chunk.
var insertRetry = `-- name: SaveRetry :one
WITH old AS (
	SELECT o.id, o.idempotency_key, o.retried_by, o.run_id, o.run_row
	FROM results o
	WHERE o.account_id = $1 AND o.id = $20 AND o.prism_id = $3 AND o.version = $4 AND o.status = 'failed'
	FOR UPDATE
), marked AS (
	UPDATE results m
	SET retried_by = $2, idempotency_key = NULL
	FROM old
	WHERE m.account_id = $1 AND m.id = old.id AND old.retried_by IS NULL
	RETURNING old.idempotency_key, old.run_id, old.run_row
), inserted AS (
	INSERT INTO results (` + sqldb.InsertColumns + sqldb.RunColumns + tailedColumns + `)
	SELECT $1::uuid, $2::uuid, $3::uuid, $4::integer, ` + insertValues + `, marked.idempotency_key, $20::uuid, marked.run_id, marked.run_row,
		$21::integer, true
	FROM marked
	RETURNING ` + insertedColumns + `
), used AS (` + tailInserted + `
), unfolded AS (
	` + runs.UnfoldRun("$1", "(SELECT run_id FROM marked)") + `
	RETURNING id
), counted AS (
` + runs.CountRetriedRow("$1", "(SELECT id FROM unfolded)", "(SELECT run_row FROM marked)", "$8::text", "$15::bigint",
	"$16::bigint", "$17::bigint", "$18::text") + `
)
SELECT coalesce(old.retried_by, $2::uuid), coalesce(old.idempotency_key, ''), old.retried_by IS NULL, ` + sqldb.PrismState + `
FROM old
JOIN prisms p ON p.account_id = $1 AND p.id = $3`

// rowBytes is what a result counts for its row and its index entries (spec: stored-bytes).
const rowBytes = 256

// arguments are sqldb.Arguments and what the result counts.
func arguments(account prism.AccountID, r prism.Result, more any) ([]any, error) {
	args, err := sqldb.Arguments(account, r, more)
	if err != nil {
		return nil, err
	}
	size := rowBytes
	for _, column := range []int{4, 5, 6, 8, 11, 18} { // ref, context, fields, error, answers, call
		switch value := args[column].(type) {
		case string:
			size += len(value)
		case []byte:
			size += len(value)
		case *string:
			if value != nil {
				size += len(*value)
			}
		}
	}
	return append(args, int32(size)), nil // a few MiB
}

// saveResult is one round trip, unless the result is not inserted.
func (d *database) saveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error) {
	const operation = "save result"
	args, err := arguments(account, r, sqldb.Nullable(r.IdempotencyKey))
	if err != nil {
		return store.Saved{}, err
	}
	var inserted bool
	saved := store.Saved{Result: r}
	c := &call{
		ctx: ctx, statement: d.insertResult(), together: insertResults, args: args, saves: true, account: account.UUID, id: r.ID.UUID, idempotencyKey: r.IdempotencyKey,
		bytes: store.Size(r), targets: []any{first(func(row *sqldb.Row) {
			inserted, saved.Prism = row.Bool(), row.PrismState()
		})},
	}
	err = d.saves.do(operation, c, func() error { return d.alone(ctx, d.do, operation, c) })
	switch {
	case err != nil:
		return store.Saved{}, err // a batch that goes on without this caller may still write to saved
	case inserted:
		return saved, nil
	}
	// The id is stored already, or the key is another result's, or the version or the prism does not exist. If the insert met
	// the row of a concurrent transaction, it waited for the commit, so new statements see the row.
	saved, err = d.load(ctx, operation, account, r.ID)
	if !errors.Is(err, store.ErrNotFound) {
		return saved, err
	}
	var held bool
	err = d.alone(ctx, d.do, operation, &call{
		statement: sqldb.KeyHeld, args: []any{account.UUID, sqldb.Nullable(r.IdempotencyKey)},
		targets: []any{first(func(row *sqldb.Row) { held = row.Bool() })},
	})
	if err == nil && held {
		err = contract.ErrKeyTaken
	} else if err == nil {
		err = store.ErrNotFound
	}
	return store.Saved{}, err
}

// saveRetry is one round trip, unless the retry was saved before.
func (d *database) saveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (store.Saved, error) {
	const operation = "save retry"
	args, err := arguments(account, r, of.UUID)
	if err != nil {
		return store.Saved{}, err
	}
	var (
		by       prism.UUID
		inserted bool
		saved    store.Saved
	)
	err = d.alone(ctx, d.do, operation, &call{statement: insertRetry, args: args, saves: true, targets: []any{first(func(row *sqldb.Row) {
		by, r.IdempotencyKey, inserted = row.UUID(), row.Text(), row.Bool()
		saved = store.Saved{Result: r, Prism: row.PrismState()}
	})}})
	switch {
	case errors.Is(err, store.ErrNotFound): // the old result was deleted, maybe after an earlier try of this save
		return d.load(ctx, operation, account, r.ID)
	case err != nil:
		return store.Saved{}, err
	case by != r.ID.UUID:
		return store.Saved{}, &store.RetriedError{By: prism.ResultID{UUID: by}}
	case inserted:
		return saved, nil
	default:
		return d.load(ctx, operation, account, r.ID)
	}
}

// load loads a stored result, and waits until the result is as durable as a new one (spec: saved-means-replicated).
func (d *database) load(
	ctx context.Context, operation string, account prism.AccountID, id prism.ResultID,
) (saved store.Saved, err error) {
	err = d.alone(ctx, d.do, operation, &call{
		statement: confirmSaved, args: []any{account.UUID, id.UUID},
		targets: []any{first(func(row *sqldb.Row) { saved = row.Saved(store.WithInput) })},
	})
	return saved, err
}
