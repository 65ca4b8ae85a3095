package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/columns"
	"github.com/prism-results/prism/services/results/internal/store/internal/storedjson"
)

// These statements are written by hand: their rows are outer joins of whole results and prisms, and sqlc would generate
// one type for each statement. Each is one round trip, one snapshot and one transaction.
const (
	createFactsBySlug = createFactsBeforeColumn + "q.slug" + createFactsAfterColumn
	createFactsByID   = createFactsBeforeColumn + "q.id" + createFactsAfterColumn

	createFactsBeforeColumn = `-- name: CreateFacts :one
SELECT k.account_id, k.id, v.number, q.id, q.slug, q.archived_at IS NOT NULL, q.latest_version, q.lens,
	` + columns.PrismState + `, ` + columns.Fixed + `,
	CASE WHEN r.status = 'failed' OR $5 THEN r.context END, CASE WHEN r.status = 'failed' OR $5 THEN r.fields END
FROM api_keys k
LEFT JOIN prisms q ON q.account_id = k.account_id AND `
	createFactsAfterColumn = ` = $2
LEFT JOIN versions v ON v.account_id = k.account_id AND v.prism_id = q.id
	AND v.number = CASE $3::integer WHEN 0 THEN q.latest_version ELSE $3::integer END
LEFT JOIN results r ON r.account_id = k.account_id AND r.idempotency_key = $4
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE k.digest = $1 AND k.revoked_at IS NULL`

	resultFacts             = resultFactsBeforeInput + columns.Input + resultFactsAfterInput
	resultFactsWithoutInput = resultFactsBeforeInput + columns.NoInput + resultFactsAfterInput

	resultFactsBeforeInput = `-- name: ResultFacts :one
SELECT k.account_id, k.id, ` + columns.PrismState + `, ` + columns.Fixed
	resultFactsAfterInput = `
FROM api_keys k
LEFT JOIN results r ON r.account_id = k.account_id AND r.id = $2
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE k.digest = $1 AND k.revoked_at IS NULL`

	insertColumns = `account_id, id, prism_id, version, ref, context, fields, status, error, took_ms, created_at, answers,
	idempotency_key, retry_of`
	// insertValues are the columns from ref to answers.
	insertValues = `$5::text, $6::text, $7::json, $8::text, $9::text, $10::bigint, $11::timestamptz, $12::json`

	saveResult = `-- name: SaveResult :one
WITH inserted AS (
	INSERT INTO results (` + insertColumns + `)
	SELECT v.account_id, $2::uuid, v.prism_id, v.number, ` + insertValues + `, $13::text, NULL
	FROM versions v
	WHERE v.account_id = $1 AND v.prism_id = $3 AND v.number = $4
	ON CONFLICT DO NOTHING
	RETURNING id
)
SELECT EXISTS (SELECT 1 FROM inserted), ` + columns.PrismState + `
FROM prisms p
WHERE p.account_id = $1 AND p.id = $3`

	// saveRetry locks the old result, which orders concurrent retries of it. A retry that had to wait for the lock sees, in
	// what the lock returns, that the result was retried, although its snapshot is older. The key leaves the old row before
	// the new row takes it, because inserted reads what marked returns.
	saveRetry = `-- name: SaveRetry :one
WITH old AS (
	SELECT o.id, o.idempotency_key, o.retried_by
	FROM results o
	WHERE o.account_id = $1 AND o.id = $13 AND o.prism_id = $3 AND o.version = $4 AND o.status = 'failed'
	FOR UPDATE
), marked AS (
	UPDATE results m
	SET retried_by = $2, idempotency_key = NULL
	FROM old
	WHERE m.account_id = $1 AND m.id = old.id AND old.retried_by IS NULL
	RETURNING old.idempotency_key
), inserted AS (
	INSERT INTO results (` + insertColumns + `)
	SELECT $1::uuid, $2::uuid, $3::uuid, $4::integer, ` + insertValues + `, marked.idempotency_key, $13::uuid
	FROM marked
)
SELECT coalesce(old.retried_by, $2::uuid), coalesce(old.idempotency_key, ''), old.retried_by IS NULL, ` + columns.PrismState + `
FROM old
JOIN prisms p ON p.account_id = $1 AND p.id = $3`

	savedResult = `-- name: SavedResult :one
SELECT ` + columns.PrismState + `, ` + columns.Fixed + columns.Input + `
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE r.account_id = $1 AND r.id = $2`

	keyHeld = `-- name: KeyHeld :one
SELECT EXISTS (SELECT 1 FROM results WHERE account_id = $1 AND idempotency_key = $2)`
)

// CreateFacts implements store.Results.
func (s *Store) CreateFacts(ctx context.Context, q contract.CreateQuery) (store.CreateFacts, error) {
	statement, ref := createFactsBySlug, any(q.Prism.Slug)
	if q.Prism.Slug == "" {
		statement, ref = createFactsByID, q.Prism.ID.UUID
	}
	var facts columns.CreateFacts
	found, err := s.lookUp(ctx, "create facts", facts.Targets(target),
		statement, q.Key[:], ref, q.Version, columns.Nullable(q.IdempotencyKey), q.Format.Tabular())
	if err != nil || !found {
		return store.CreateFacts{}, err
	}
	return facts.Facts()
}

// ResultFacts implements store.Results.
func (s *Store) ResultFacts(
	ctx context.Context, digest contract.KeyDigest, id prism.ResultID, in store.Input,
) (store.ResultFacts, error) {
	statement := resultFactsWithoutInput
	if in == store.WithInput {
		statement = resultFacts
	}
	var facts columns.ResultFacts
	found, err := s.lookUp(ctx, "result facts", facts.Targets(target), statement, digest[:], id.UUID)
	if err != nil || !found {
		return store.ResultFacts{}, err
	}
	return facts.Facts()
}

// lookUp scans the row of an API key, and reports false if the key is unknown or revoked.
func (s *Store) lookUp(ctx context.Context, operation string, targets []any, statement string, args ...any) (bool, error) {
	c := &call{ctx: ctx, statement: statement, args: args, targets: targets}
	err := s.lookups.do(operation, c, func() error {
		return s.do(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
			return conn.QueryRow(ctx, statement, args...).Scan(targets...)
		})
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, readError(operation, err)
}

// SaveResult implements store.Results. It is one round trip, unless the result is not inserted.
func (s *Store) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error) {
	const operation = "save result"
	args, err := arguments(account, r, columns.Nullable(r.IdempotencyKey))
	if err != nil {
		return store.Saved{}, err
	}
	var (
		inserted bool
		state    columns.Prism
	)
	targets := append([]any{&inserted}, state.Targets(target)...)
	c := &call{
		ctx: ctx, statement: saveResult, args: args, targets: targets,
		account: account.UUID, id: r.ID.UUID, idempotencyKey: r.IdempotencyKey, bytes: size(r),
	}
	err = s.saves.do(operation, c, func() error {
		return s.do(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
			row := conn.QueryRow(ctx, saveResult, args...)
			crash.At(crash.InCommit)
			return row.Scan(targets...)
		})
	})
	switch {
	case err != nil:
		return store.Saved{}, err
	case inserted:
		return saved(r, state)
	}
	// The id is stored already, or the key is another result's, or the version does not exist. If the insert met the row of
	// a concurrent transaction, it waited for the commit, so new statements see the row.
	stored, err := s.load(ctx, operation, account, r.ID)
	if !errors.Is(err, store.ErrNotFound) {
		return stored, err
	}
	var held bool
	err = s.do(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, keyHeld, account.UUID, columns.Nullable(r.IdempotencyKey)).Scan(&held)
	})
	if err == nil && held {
		err = contract.ErrKeyTaken
	} else if err == nil {
		err = store.ErrNotFound
	}
	return store.Saved{}, err
}

// SaveRetry implements store.Results. It is one round trip, unless the retry was saved before.
func (s *Store) SaveRetry(
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
		state    columns.Prism
	)
	err = s.do(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
		row := conn.QueryRow(ctx, saveRetry, args...)
		crash.At(crash.InCommit)
		return row.Scan(append([]any{&by, &r.IdempotencyKey, &inserted}, state.Targets(target)...)...)
	})
	switch {
	case err != nil:
		return store.Saved{}, err
	case by != r.ID.UUID:
		return store.Saved{}, &store.RetriedError{By: prism.ResultID{UUID: by}}
	case inserted:
		return saved(r, state)
	default:
		return s.load(ctx, operation, account, r.ID)
	}
}

// saved is a result that was just inserted, with the prism that the insert read.
func saved(r prism.Result, p columns.Prism) (store.Saved, error) {
	state, err := p.State()
	if err != nil {
		return store.Saved{}, err
	}
	return store.Saved{Result: r, Prism: *state}, nil
}

func (s *Store) load(
	ctx context.Context, operation string, account prism.AccountID, id prism.ResultID,
) (store.Saved, error) {
	var stored columns.Saved
	err := s.do(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, savedResult, account.UUID, id.UUID).Scan(stored.Targets(target)...)
	})
	if err != nil {
		return store.Saved{}, err
	}
	return stored.Saved()
}

// size is the approximate size of the arguments.
func size(r prism.Result) int {
	n := len(r.Context) + len(r.Answers)
	for _, f := range r.Fields {
		n += len(f.Key) + len(f.Value)
	}
	return n
}

// arguments are the parameters that both saves share, and one more.
func arguments(account prism.AccountID, r prism.Result, last any) ([]any, error) {
	fields, err := storedjson.Marshal(r.Fields)
	if err != nil {
		return nil, err
	}
	return []any{
		account.UUID, r.ID.UUID, r.Prism.UUID, r.Version, r.Ref, r.Context, fields, string(r.Status), columns.Error(r), r.TookMS,
		r.CreatedAt, r.Answers, last,
	}, nil
}
