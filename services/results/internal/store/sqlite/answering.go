package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/document"
	"github.com/prism-results/prism/services/results/internal/store/internal/row"
	"github.com/prism-results/prism/services/results/internal/store/sqlite/litedb"
)

// The hot path is written by hand: its rows are outer joins of whole results and prisms, which sqlc would turn into one
// type for each statement.

const (
	createFactsBySlug = createFactsUntilPrism + "q.slug" + createFactsSincePrism
	createFactsByID   = createFactsUntilPrism + "q.id" + createFactsSincePrism

	createFactsUntilPrism = `
SELECT k.account_id, k.id, v.number, q.id, q.slug, q.archived_at IS NOT NULL, q.latest_version, q.lens,
	` + row.PrismColumns + `, ` + row.ResultColumns + `
FROM api_keys k
LEFT JOIN prisms q ON q.account_id = k.account_id AND `
	createFactsSincePrism = ` = ?2
LEFT JOIN versions v ON v.account_id = k.account_id AND v.prism_id = q.id
	AND v.number = CASE ?3 WHEN 0 THEN q.latest_version ELSE ?3 END
LEFT JOIN results r ON r.account_id = k.account_id AND r.idempotency_key = ?4
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE k.digest = ?1 AND k.revoked_at IS NULL`

	resultFacts = `
SELECT k.account_id, k.id, ` + row.PrismColumns + `, ` + row.ResultColumns + `
FROM api_keys k
LEFT JOIN results r ON r.account_id = k.account_id AND r.id = ?2
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE k.digest = ?1 AND k.revoked_at IS NULL`

	// The WHERE is also what tells SQLite that ON CONFLICT is not the ON of a join.
	insertResult = `
INSERT INTO results (account_id, id, prism_id, version, ref, context, fields, status, error, took_ms, created_at, answers,
	idempotency_key, retry_of)
SELECT v.account_id, ?2, v.prism_id, v.number, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
FROM versions v
WHERE v.account_id = ?1 AND v.prism_id = ?3 AND v.number = ?4
ON CONFLICT DO NOTHING`

	selectSaved = `
SELECT ` + row.PrismColumns + `, ` + row.ResultColumns + `
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE r.account_id = ?1 AND r.id = ?2`

	selectKeyHeld = `SELECT EXISTS (SELECT 1 FROM results WHERE account_id = ?1 AND idempotency_key = ?2)`

	selectRetryable = `
SELECT idempotency_key, retried_by
FROM results
WHERE account_id = ?1 AND id = ?2 AND prism_id = ?3 AND version = ?4 AND status = 'failed'`

	markRetried = `
UPDATE results SET retried_by = ?3, idempotency_key = NULL
WHERE account_id = ?1 AND id = ?2`
)

// errIDTaken: the id of a retry's result is that of a result that retried something else. Ids are random, so it is a fault.
var errIDTaken = errors.New("sqlite: save retry: the id is another result's")

// CreateFacts is one statement, and so one snapshot.
func (s *Store) CreateFacts(ctx context.Context, query store.CreateQuery) (store.CreateFacts, error) {
	text, ref := createFactsBySlug, any(query.Prism.Slug)
	if query.Prism.Slug == "" {
		text, ref = createFactsByID, query.Prism.ID.UUID[:]
	}
	var key any
	if query.IdempotencyKey != "" {
		key = query.IdempotencyKey
	}
	var facts row.Facts
	found, err := s.lookups.row(ctx, text, facts.Targets(target), query.Key[:], ref, query.Version, key)
	if err != nil || !found {
		return store.CreateFacts{}, translate("create facts", err)
	}
	return facts.Facts()
}

// ResultFacts is one statement, and so one snapshot.
func (s *Store) ResultFacts(ctx context.Context, digest contract.KeyDigest, id prism.ResultID) (store.ResultFacts, error) {
	var facts row.ResultFacts
	found, err := s.lookups.row(ctx, resultFacts, facts.Targets(target), digest[:], id.UUID[:])
	if err != nil || !found {
		return store.ResultFacts{}, translate("result facts", err)
	}
	return facts.Facts()
}

// SaveResult is one transaction; no other writes beside it.
func (s *Store) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (saved store.Saved, err error) {
	const operation = "save result"
	err = s.write(ctx, operation, func(_ *litedb.Queries, tx *sql.Tx) error {
		if _, err := insert(ctx, tx, operation, account, r, row.Nullable(r.IdempotencyKey), nil); err != nil {
			return err
		}
		crash.At(crash.InCommit)
		saved, err = load(ctx, tx, operation, account, r.ID)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		// It was not inserted: for the key, or for want of a version.
		var held bool
		err := tx.QueryRowContext(ctx, selectKeyHeld, account.UUID[:], row.Nullable(r.IdempotencyKey)).Scan(&held)
		if err != nil {
			return translate(operation, err)
		}
		if held {
			return contract.ErrKeyTaken
		}
		return store.ErrNotFound
	})
	if err != nil {
		return store.Saved{}, err
	}
	return saved, nil
}

// SaveRetry is one transaction; no other writes beside it.
func (s *Store) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (saved store.Saved, err error) {
	const operation = "save retry"
	err = s.write(ctx, operation, func(_ *litedb.Queries, tx *sql.Tx) error {
		var (
			key       *string
			retriedBy *prism.UUID
		)
		err := tx.QueryRowContext(ctx, selectRetryable, account.UUID[:], of.UUID[:], r.Prism.UUID[:], r.Version).
			Scan(&key, uuidTarget{&retriedBy})
		if err != nil {
			return translate(operation, err)
		}
		if retriedBy == nil {
			err = retry(ctx, tx, operation, account, r, of, key)
		} else if by := (prism.ResultID{UUID: *retriedBy}); by != r.ID {
			err = &store.RetriedError{By: by}
		}
		if err != nil {
			return err
		}
		saved, err = load(ctx, tx, operation, account, r.ID)
		return err
	})
	if err != nil {
		return store.Saved{}, err
	}
	return saved, nil
}

func retry(
	ctx context.Context, tx *sql.Tx, operation string, account prism.AccountID, r prism.Result, of prism.ResultID,
	key *string,
) error {
	// The key leaves the old result before the new one takes it, for each row is checked as it is written.
	if _, err := tx.ExecContext(ctx, markRetried, account.UUID[:], of.UUID[:], r.ID.UUID[:]); err != nil {
		return translate(operation, err)
	}
	crash.At(crash.InCommit)
	inserted, err := insert(ctx, tx, operation, account, r, key, of.UUID[:])
	if err == nil && inserted == 0 {
		err = errIDTaken
	}
	return err
}

// insert inserts nothing when a unique constraint says no; what then is there tells which.
func insert(
	ctx context.Context, tx *sql.Tx, operation string, account prism.AccountID, r prism.Result, key *string, retryOf []byte,
) (int64, error) {
	fields, err := document.Fields(r.Fields)
	if err != nil {
		return 0, err
	}
	done, err := tx.ExecContext(ctx, insertResult,
		account.UUID[:], r.ID.UUID[:], r.Prism.UUID[:], r.Version, r.Ref, r.Context, fields, string(r.Status),
		row.Failure(r), r.TookMS, r.CreatedAt.UnixMilli(), r.Answers, key, retryOf)
	if err != nil {
		return 0, translate(operation, err)
	}
	inserted, err := done.RowsAffected()
	return inserted, translate(operation, err)
}

func load(
	ctx context.Context, tx *sql.Tx, operation string, account prism.AccountID, id prism.ResultID,
) (store.Saved, error) {
	var saved row.Saved
	err := tx.QueryRowContext(ctx, selectSaved, account.UUID[:], id.UUID[:]).Scan(saved.Targets(target)...)
	if err != nil {
		return store.Saved{}, translate(operation, err)
	}
	return saved.Saved()
}
