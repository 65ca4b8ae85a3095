package sqlite

import (
	"context"
	"errors"
	"iter"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// The WHERE is also what tells SQLite that ON CONFLICT is not the ON of a join.
	insertResult = `
INSERT INTO results (` + sqldb.InsertColumns + `)
SELECT v.account_id, $2, v.prism_id, v.number, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
	$15, $16, $17, $18, $19, $20, $21
FROM versions v
WHERE v.account_id = $1 AND v.prism_id = $3 AND v.number = $4
ON CONFLICT DO NOTHING
RETURNING id`

	selectPrism = `SELECT ` + sqldb.PrismState + ` FROM prisms p WHERE p.account_id = $1 AND p.id = $2`

	selectRetryable = `
SELECT idempotency_key, retried_by, run_id, run_row
FROM results
WHERE account_id = $1 AND id = $2 AND prism_id = $3 AND version = $4 AND status = 'failed'`

	markRetried = `
UPDATE results SET retried_by = $3, idempotency_key = NULL
WHERE account_id = $1 AND id = $2`
)

// errIDTaken: the id of the new result is that of a stored result which is not a retry of the same result. Ids are random,
// so this is a fault.
var errIDTaken = errors.New("sqlite: save retry: the id is another result's")

// SaveResult implements sqldb.Database. It is one transaction; SQLite runs no other writing transaction meanwhile.
func (d *database) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (saved store.Saved, err error) {
	args, err := sqldb.Arguments(account, r, sqldb.Nullable(r.IdempotencyKey), nil)
	if err != nil {
		return saved, err
	}
	err = d.write(ctx, fair.Preferred, "save result", func(conn *sqlite.Conn) error {
		inserted, err := insert(conn, args)
		if err != nil {
			return err
		}
		crash.At(crash.InCommit)
		if inserted {
			saved, err = withPrism(conn, account, r)
			return err
		}
		// The id is stored already, or the key is another result's, or the version does not exist.
		if saved, err = load(conn, account, r.ID); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		var held bool
		args := []any{account.UUID, sqldb.Nullable(r.IdempotencyKey)}
		if _, err := find(conn, sqldb.KeyHeld, args, func(r *sqldb.Row) { held = r.Bool() }); err != nil {
			return err
		}
		if held {
			return contract.ErrKeyTaken
		}
		return store.ErrNotFound
	})
	return saved, err
}

// SaveRetry implements sqldb.Database. It is one transaction; SQLite runs no other writing transaction meanwhile.
func (d *database) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, original prism.ResultID,
) (saved store.Saved, err error) {
	err = d.write(ctx, fair.Preferred, "save retry", func(conn *sqlite.Conn) error {
		var (
			retriedBy, run prism.UUID
			number         int64 // of the row
		)
		args := []any{account.UUID, original.UUID, r.Prism.UUID, r.Version}
		failed, err := find(conn, selectRetryable, args, func(row *sqldb.Row) {
			r.IdempotencyKey, retriedBy = row.Text(), row.UUID()
			run, number = row.UUID(), row.Int()
		})
		switch {
		case err != nil:
			return err
		// If there is no such failed result, it may have been deleted after an earlier try of this save.
		case !failed, retriedBy == r.ID.UUID:
			saved, err = load(conn, account, r.ID)
			return err
		case !retriedBy.IsZero():
			return &store.RetriedError{By: prism.ResultID{UUID: retriedBy}}
		}
		if err := retry(conn, account, r, original); err != nil {
			return err
		}
		if !run.IsZero() {
			if err := countRetry(conn, account, r, run, number); err != nil {
				return err
			}
		}
		saved, err = withPrism(conn, account, r)
		return err
	})
	return saved, err
}

func retry(conn *sqlite.Conn, account prism.AccountID, r prism.Result, original prism.ResultID) error {
	args, err := sqldb.Arguments(account, r, sqldb.Nullable(r.IdempotencyKey), original.UUID)
	if err != nil {
		return err
	}
	// The key leaves the old result before the new one takes it: SQLite checks each row when it is written.
	if err := execute(conn, markRetried, account.UUID, original.UUID, r.ID.UUID); err != nil {
		return err
	}
	crash.At(crash.InCommit)
	inserted, err := insert(conn, args)
	if err == nil && !inserted {
		err = errIDTaken
	}
	return err
}

// setRun makes a result the result of a row of a run.
const setRun = `UPDATE results SET run_id = $3, run_row = $4 WHERE account_id = $1 AND id = $2`

// unfoldRun and countRow change a run and a chunk when the result of a row is retried.
var (
	unfoldRun = runs.UnfoldRun("$1", "$2")
	countRow  = runs.CountRetriedRow("$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8")
)

// countRetry makes a retry the result of the row whose result it retries, and changes the counts of the run.
func countRetry(conn *sqlite.Conn, account prism.AccountID, r prism.Result, run prism.UUID, row int64) error {
	if err := execute(conn, setRun, account.UUID, r.ID.UUID, run, row); err != nil {
		return err
	}
	if err := execute(conn, unfoldRun, account.UUID, run); err != nil {
		return err
	}
	var used prism.Usage
	if r.Call != nil {
		used = sqldb.PlausibleUsage(r.Call.Usage)
	}
	return execute(conn, countRow, account.UUID, run, row, string(r.Status), used.InputTokens, used.OutputTokens, used.Cost,
		sqldb.Nullable(used.Currency))
}

// insertRow inserts the result of a row.
const insertRow = `INSERT INTO results (` + sqldb.InsertColumns + sqldb.RunColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
ON CONFLICT DO NOTHING`

// markRowRetried marks a failed result as retried by another one, unless it was before.
const markRowRetried = `UPDATE results SET retried_by = $3, idempotency_key = NULL
WHERE account_id = $1 AND id = $2 AND status = 'failed' AND retried_by IS NULL RETURNING id`

// InsertRows implements sqldb.Database.
func (d *database) InsertRows(ctx context.Context, run sqldb.Run, rows sqldb.Rows) error {
	for i, r := range rows.Results {
		var marked *prism.UUID
		if of := rows.RetryOf[i]; of != nil {
			mark := sqldb.Statement{Text: markRowRetried, Args: []any{rows.Account.UUID, *of, r.ID.UUID}}
			err := run(ctx, mark, func(found iter.Seq[*sqldb.Row]) error {
				for range found {
					marked = of
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		args, err := sqldb.Arguments(rows.Account, r, sqldb.Nullable(r.IdempotencyKey), marked, rows.Runs[i], rows.Numbers[i])
		if err != nil {
			return err
		}
		err = run(ctx, sqldb.Statement{Text: insertRow, Args: args}, func(iter.Seq[*sqldb.Row]) error { return nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// Snapshot implements sqldb.Database: a transaction has one.
func (d *database) Snapshot(context.Context, sqldb.Run) error { return nil }

// Locking implements sqldb.Database: there is one writer at a time.
func (d *database) Locking(bool) string { return "" }

// Sharing implements sqldb.Database, as Locking.
func (d *database) Sharing() string { return "" }

// Size implements sqldb.Database. SQLite knows the size of a value that it has not read.
func (d *database) Size(columns ...string) string {
	return "coalesce(octet_length(" + strings.Join(columns, "), 0) + coalesce(octet_length(") + "), 0)"
}

// EndAfter implements sqldb.Database: SQLite reads one row after the other.
func (d *database) EndAfter(text string, _ int, _ ...string) string { return text }

// insert reports false, and changes nothing, if a unique constraint forbids the row or the version does not exist.
func insert(conn *sqlite.Conn, args []any) (bool, error) {
	return find(conn, insertResult, args, func(*sqldb.Row) {})
}

// withPrism is a result that was just inserted, with its prism.
func withPrism(conn *sqlite.Conn, account prism.AccountID, r prism.Result) (store.Saved, error) {
	saved := store.Saved{Result: r}
	_, err := find(conn, selectPrism, []any{account.UUID, r.Prism.UUID}, func(row *sqldb.Row) { saved.Prism = row.PrismState() })
	return saved, err
}

func load(conn *sqlite.Conn, account prism.AccountID, id prism.ResultID) (saved store.Saved, err error) {
	found, err := find(conn, sqldb.SavedResult, []any{account.UUID, id.UUID}, func(row *sqldb.Row) { saved = row.Saved(store.WithInput) })
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return saved, err
}

// Confirm implements sqldb.Database: a row that is seen is on disk.
func (d *database) Confirm(context.Context, prism.AccountID, prism.ResultID) error { return nil }

// ConfirmAll implements sqldb.Database.
func (d *database) ConfirmAll(context.Context, prism.AccountID) error { return nil }
