package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/columns"
	"github.com/prism-results/prism/services/results/internal/store/internal/storedjson"
	"github.com/prism-results/prism/services/results/internal/store/sqlite/litedb"
)

// These statements are written by hand: their rows are outer joins of whole results and prisms, and sqlc would generate
// one type for each statement.
const (
	createFactsBySlug = createFactsBeforeColumn + "q.slug" + createFactsAfterColumn
	createFactsByID   = createFactsBeforeColumn + "q.id" + createFactsAfterColumn

	createFactsBeforeColumn = `
SELECT k.account_id, k.id, v.number, q.id, q.slug, q.archived_at IS NOT NULL, q.latest_version, q.lens,
	` + columns.PrismState + `, ` + columns.Fixed + `,
	CASE WHEN r.status = 'failed' OR ?5 THEN r.context END, CASE WHEN r.status = 'failed' OR ?5 THEN r.fields END
FROM api_keys k
LEFT JOIN prisms q ON q.account_id = k.account_id AND `
	createFactsAfterColumn = ` = ?2
LEFT JOIN versions v ON v.account_id = k.account_id AND v.prism_id = q.id
	AND v.number = CASE ?3 WHEN 0 THEN q.latest_version ELSE ?3 END
LEFT JOIN results r ON r.account_id = k.account_id AND r.idempotency_key = ?4
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE k.digest = ?1 AND k.revoked_at IS NULL`

	resultFacts             = resultFactsBeforeInput + columns.Input + resultFactsAfterInput
	resultFactsWithoutInput = resultFactsBeforeInput + columns.NoInput + resultFactsAfterInput

	resultFactsBeforeInput = `
SELECT k.account_id, k.id, ` + columns.PrismState + `, ` + columns.Fixed
	resultFactsAfterInput = `
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

	selectPrism = `SELECT ` + columns.PrismState + ` FROM prisms p WHERE p.account_id = ?1 AND p.id = ?2`

	selectSaved = `
SELECT ` + columns.PrismState + `, ` + columns.Fixed + columns.Input + `
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

// errIDTaken: the id of the new result is that of a stored result which is not a retry of the same result. Ids are random,
// so this is a fault.
var errIDTaken = errors.New("sqlite: save retry: the id is another result's")

// CreateFacts implements store.Results.
func (s *Store) CreateFacts(ctx context.Context, q contract.CreateQuery) (store.CreateFacts, error) {
	text, ref := createFactsBySlug, any(q.Prism.Slug)
	if q.Prism.Slug == "" {
		text, ref = createFactsByID, q.Prism.ID.UUID[:]
	}
	var key any
	if q.IdempotencyKey != "" {
		key = q.IdempotencyKey
	}
	var facts columns.CreateFacts
	found, err := s.lookups.row(ctx, text, facts.Targets(target), q.Key[:], ref, q.Version, key, q.Format.Tabular())
	if err != nil || !found {
		return store.CreateFacts{}, translate("create facts", err)
	}
	return facts.Facts()
}

// ResultFacts implements store.Results.
func (s *Store) ResultFacts(
	ctx context.Context, digest contract.KeyDigest, id prism.ResultID, in store.Input,
) (store.ResultFacts, error) {
	text := resultFactsWithoutInput
	if in == store.WithInput {
		text = resultFacts
	}
	var facts columns.ResultFacts
	found, err := s.lookups.row(ctx, text, facts.Targets(target), digest[:], id.UUID[:])
	if err != nil || !found {
		return store.ResultFacts{}, translate("result facts", err)
	}
	return facts.Facts()
}

// SaveResult implements store.Results. It is one transaction; SQLite runs no other writing transaction meanwhile.
func (s *Store) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error) {
	saved := store.Saved{Result: r}
	err := s.write(ctx, "save result", func(ctx context.Context, _ *litedb.Queries, tx *sql.Tx) error {
		inserted, err := insert(ctx, tx, account, r, nil)
		if err != nil {
			return err
		}
		crash.At(crash.InCommit)
		if inserted {
			saved.Prism, err = prismState(ctx, tx, account, r.Prism)
			return err
		}
		// The id is stored already, or the key is another result's, or the version does not exist.
		if saved, err = load(ctx, tx, account, r.ID); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var held bool
		key := columns.Nullable(r.IdempotencyKey)
		if err := tx.QueryRowContext(ctx, selectKeyHeld, account.UUID[:], key).Scan(&held); err != nil {
			return err
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

// SaveRetry implements store.Results. It is one transaction; SQLite runs no other writing transaction meanwhile.
func (s *Store) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (saved store.Saved, err error) {
	err = s.write(ctx, "save retry", func(ctx context.Context, _ *litedb.Queries, tx *sql.Tx) error {
		var (
			key       *string
			retriedBy *prism.UUID
		)
		err := tx.QueryRowContext(ctx, selectRetryable, account.UUID[:], of.UUID[:], r.Prism.UUID[:], r.Version).
			Scan(&key, uuidTarget{&retriedBy})
		switch {
		case err != nil:
			return err
		case retriedBy == nil:
			r.IdempotencyKey = ""
			if key != nil {
				r.IdempotencyKey = *key
			}
			if err := retry(ctx, tx, account, r, of); err != nil {
				return err
			}
			saved.Result = r
			saved.Prism, err = prismState(ctx, tx, account, r.Prism)
		case *retriedBy != r.ID.UUID:
			return &store.RetriedError{By: prism.ResultID{UUID: *retriedBy}}
		default:
			saved, err = load(ctx, tx, account, r.ID)
		}
		return err
	})
	if err != nil {
		return store.Saved{}, err
	}
	return saved, nil
}

func retry(ctx context.Context, tx *sql.Tx, account prism.AccountID, r prism.Result, of prism.ResultID) error {
	// The key leaves the old result before the new one takes it: SQLite checks each row when it is written.
	if _, err := tx.ExecContext(ctx, markRetried, account.UUID[:], of.UUID[:], r.ID.UUID[:]); err != nil {
		return err
	}
	crash.At(crash.InCommit)
	inserted, err := insert(ctx, tx, account, r, of.UUID[:])
	if err == nil && !inserted {
		err = errIDTaken
	}
	return err
}

// insert reports false, and changes nothing, if a unique constraint forbids the row or the version does not exist.
func insert(ctx context.Context, tx *sql.Tx, account prism.AccountID, r prism.Result, retryOf []byte) (bool, error) {
	fields, err := storedjson.Marshal(r.Fields)
	if err != nil {
		return false, err
	}
	done, err := tx.ExecContext(ctx, insertResult,
		account.UUID[:], r.ID.UUID[:], r.Prism.UUID[:], r.Version, r.Ref, r.Context, fields, string(r.Status),
		columns.Error(r), r.TookMS, r.CreatedAt.UnixMilli(), r.Answers, columns.Nullable(r.IdempotencyKey), retryOf)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}

func prismState(ctx context.Context, tx *sql.Tx, account prism.AccountID, id prism.PrismID) (store.PrismState, error) {
	var p columns.Prism
	if err := tx.QueryRowContext(ctx, selectPrism, account.UUID[:], id.UUID[:]).Scan(p.Targets(target)...); err != nil {
		return store.PrismState{}, err
	}
	state, err := p.State()
	if err != nil {
		return store.PrismState{}, err
	}
	return *state, nil
}

func load(ctx context.Context, tx *sql.Tx, account prism.AccountID, id prism.ResultID) (store.Saved, error) {
	var saved columns.Saved
	if err := tx.QueryRowContext(ctx, selectSaved, account.UUID[:], id.UUID[:]).Scan(saved.Targets(target)...); err != nil {
		return store.Saved{}, err
	}
	return saved.Saved()
}
