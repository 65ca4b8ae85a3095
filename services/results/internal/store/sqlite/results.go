package sqlite

import (
	"context"
	"errors"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/sqlstore"
)

const (
	// The WHERE is also what tells SQLite that ON CONFLICT is not the ON of a join.
	insertResult = `
INSERT INTO results (` + sqlstore.InsertColumns + `)
SELECT v.account_id, $2, v.prism_id, v.number, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
	$15, $16, $17, $18, $19, $20, $21
FROM versions v
WHERE v.account_id = $1 AND v.prism_id = $3 AND v.number = $4
ON CONFLICT DO NOTHING
RETURNING id`

	selectPrism = `SELECT ` + sqlstore.PrismState + ` FROM prisms p WHERE p.account_id = $1 AND p.id = $2`

	selectRetryable = `
SELECT idempotency_key, retried_by
FROM results
WHERE account_id = $1 AND id = $2 AND prism_id = $3 AND version = $4 AND status = 'failed'`

	markRetried = `
UPDATE results SET retried_by = $3, idempotency_key = NULL
WHERE account_id = $1 AND id = $2`
)

// errIDTaken: the id of the new result is that of a stored result which is not a retry of the same result. Ids are random,
// so this is a fault.
var errIDTaken = errors.New("sqlite: save retry: the id is another result's")

// SaveResult implements sqlstore.Database. It is one transaction; SQLite runs no other writing transaction meanwhile.
func (d *database) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (saved store.Saved, err error) {
	args, err := sqlstore.Arguments(account, r, sqlstore.Nullable(r.IdempotencyKey), nil)
	if err != nil {
		return saved, err
	}
	err = d.write(ctx, "save result", func(conn *sqlite.Conn) error {
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
		args := []any{account.UUID, sqlstore.Nullable(r.IdempotencyKey)}
		if _, err := find(conn, sqlstore.KeyHeld, args, func(r *sqlstore.Row) { held = r.Bool() }); err != nil {
			return err
		}
		if held {
			return contract.ErrKeyTaken
		}
		return store.ErrNotFound
	})
	return saved, err
}

// SaveRetry implements sqlstore.Database. It is one transaction; SQLite runs no other writing transaction meanwhile.
func (d *database) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (saved store.Saved, err error) {
	err = d.write(ctx, "save retry", func(conn *sqlite.Conn) error {
		var retriedBy prism.UUID
		args := []any{account.UUID, of.UUID, r.Prism.UUID, r.Version}
		failed, err := find(conn, selectRetryable, args, func(row *sqlstore.Row) {
			r.IdempotencyKey, retriedBy = row.Text(), row.UUID()
		})
		switch {
		case err != nil:
			return err
		case !failed: // or the old result was deleted, maybe after an earlier try of this save
			saved, err = load(conn, account, r.ID)
			return err
		case retriedBy == r.ID.UUID:
			saved, err = load(conn, account, r.ID)
			return err
		case !retriedBy.IsZero():
			return &store.RetriedError{By: prism.ResultID{UUID: retriedBy}}
		}
		if err := retry(conn, account, r, of); err != nil {
			return err
		}
		saved, err = withPrism(conn, account, r)
		return err
	})
	return saved, err
}

func retry(conn *sqlite.Conn, account prism.AccountID, r prism.Result, of prism.ResultID) error {
	args, err := sqlstore.Arguments(account, r, sqlstore.Nullable(r.IdempotencyKey), of.UUID)
	if err != nil {
		return err
	}
	// The key leaves the old result before the new one takes it: SQLite checks each row when it is written.
	if err := execute(conn, markRetried, account.UUID, of.UUID, r.ID.UUID); err != nil {
		return err
	}
	crash.At(crash.InCommit)
	inserted, err := insert(conn, args)
	if err == nil && !inserted {
		err = errIDTaken
	}
	return err
}

// insert reports false, and changes nothing, if a unique constraint forbids the row or the version does not exist.
func insert(conn *sqlite.Conn, args []any) (bool, error) {
	return find(conn, insertResult, args, func(*sqlstore.Row) {})
}

// withPrism is a result that was just inserted, with its prism.
func withPrism(conn *sqlite.Conn, account prism.AccountID, r prism.Result) (store.Saved, error) {
	saved := store.Saved{Result: r}
	_, err := find(conn, selectPrism, []any{account.UUID, r.Prism.UUID}, func(row *sqlstore.Row) { saved.Prism = row.PrismState() })
	return saved, err
}

func load(conn *sqlite.Conn, account prism.AccountID, id prism.ResultID) (saved store.Saved, err error) {
	found, err := find(conn, sqlstore.SavedResult, []any{account.UUID, id.UUID}, func(row *sqlstore.Row) { saved = row.Saved(store.WithInput) })
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return saved, err
}

// Confirm implements sqlstore.Database: a row that is seen is on disk.
func (d *database) Confirm(context.Context, prism.AccountID, prism.ResultID) error { return nil }
