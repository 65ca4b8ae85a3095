package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/document"
	"github.com/prism-results/prism/services/results/internal/store/internal/row"
)

// The hot path is written by hand: its rows are outer joins of whole results and prisms, which sqlc would turn into one
// type for each statement. Each method is one statement, so that it is one round trip, one snapshot and one transaction.

const (
	createFactsBySlug = createFactsUntilPrism + "q.slug" + createFactsSincePrism
	createFactsByID   = createFactsUntilPrism + "q.id" + createFactsSincePrism

	createFactsUntilPrism = `-- name: CreateFacts :one
SELECT k.account_id, k.id, v.number, q.id, q.slug, q.archived_at IS NOT NULL, q.latest_version, q.lens,
	` + row.PrismColumns + `, ` + row.ResultColumns + `
FROM api_keys k
LEFT JOIN prisms q ON q.account_id = k.account_id AND `
	createFactsSincePrism = ` = $2
LEFT JOIN versions v ON v.account_id = k.account_id AND v.prism_id = q.id
	AND v.number = CASE $3::integer WHEN 0 THEN q.latest_version ELSE $3::integer END
LEFT JOIN results r ON r.account_id = k.account_id AND r.idempotency_key = $4
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE k.digest = $1 AND k.revoked_at IS NULL`

	resultFacts = `-- name: ResultFacts :one
SELECT k.account_id, k.id, ` + row.PrismColumns + `, ` + row.ResultColumns + `
FROM api_keys k
LEFT JOIN results r ON r.account_id = k.account_id AND r.id = $2
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE k.digest = $1 AND k.revoked_at IS NULL`

	columns = `account_id, id, prism_id, version, ref, context, fields, status, error, took_ms, created_at, answers,
	idempotency_key, retry_of, retried_by`
	// What insert's parameters $2 to $12 are.
	values = `$5::text, $6::text, $7::json, $8::text, $9::text, $10::bigint, $11::timestamptz, $12::json`
)

// saveResult inserts the result unless its id or its idempotency key is there, and returns the row with the id: the new
// one, or the one that this statement's snapshot has. ON CONFLICT DO NOTHING waits for a transaction that is about to
// insert the same, and then may have met a row that the snapshot does not have: then held and saved are both missing, and
// only a new snapshot can tell.
const saveResult = `-- name: SaveResult :one
WITH inserted AS (
	INSERT INTO results (` + columns + `)
	SELECT v.account_id, $2::uuid, v.prism_id, v.number, ` + values + `, $13::text, NULL, NULL
	FROM versions v
	WHERE v.account_id = $1 AND v.prism_id = $3 AND v.number = $4
	ON CONFLICT DO NOTHING
	RETURNING ` + columns + `
), stored AS (
	SELECT ` + columns + ` FROM inserted
	UNION ALL
	SELECT ` + columns + ` FROM results WHERE account_id = $1 AND id = $2
)
SELECT
	CASE WHEN r.id IS NULL
		THEN EXISTS (SELECT 1 FROM results h WHERE h.account_id = $1 AND h.idempotency_key = $13) ELSE false END,
	` + row.PrismColumns + `, ` + row.ResultColumns + `
FROM versions v
JOIN prisms p ON p.account_id = v.account_id AND p.id = v.prism_id
LEFT JOIN stored r ON true
WHERE v.account_id = $1 AND v.prism_id = $3 AND v.number = $4`

// errRaced is met when a row decided that the statement's snapshot does not have. The next snapshot has it.
var errRaced = errors.New("postgres: lost a race to a row that is not visible yet")

// SaveResult is one round trip, but for races.
func (s *Store) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error) {
	args, err := arguments(account, r, row.Nullable(r.IdempotencyKey))
	if err != nil {
		return store.Saved{}, err
	}
	var (
		saved row.Saved
		held  bool
	)
	scan := func(r pgx.Row) error {
		saved, held = row.Saved{}, false
		err := r.Scan(append([]any{&held}, saved.Targets(target)...)...)
		switch {
		case err != nil:
			return err // no row: no such version
		case saved.Result.Found():
			return nil
		case held:
			return contract.ErrKeyTaken
		default:
			return errRaced
		}
	}
	save := &call{
		statement: saveResult, args: args, scan: scan,
		account: account.UUID, id: r.ID.UUID, key: r.IdempotencyKey, bytes: size(r),
	}
	err = s.saves.do(ctx, "save result", save, func() error {
		return s.untilVisible(ctx, "save result", func(ctx context.Context, conn *pgxpool.Conn) error {
			sent := conn.QueryRow(ctx, saveResult, args...)
			crash.At(crash.InCommit)
			return scan(sent)
		})
	})
	if err != nil {
		return store.Saved{}, err
	}
	return saved.Saved()
}

// saveRetry locks the old result, which orders concurrent retries of it: who comes second sees, in what the lock returns,
// that it was retried, though its snapshot is older. The key leaves the old row before the new one takes it, for inserted
// reads what marked returns.
const saveRetry = `-- name: SaveRetry :one
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
	INSERT INTO results (` + columns + `)
	SELECT $1::uuid, $2::uuid, $3::uuid, $4::integer, ` + values + `, marked.idempotency_key, $13::uuid, NULL
	FROM marked
	RETURNING ` + columns + `
), stored AS (
	SELECT ` + columns + ` FROM inserted
	UNION ALL
	SELECT ` + columns + ` FROM results WHERE account_id = $1 AND id = $2
)
SELECT old.retried_by, ` + row.PrismColumns + `, ` + row.ResultColumns + `
FROM old
JOIN prisms p ON p.account_id = $1 AND p.id = $3
LEFT JOIN stored r ON true`

// SaveRetry is one round trip, but for races.
func (s *Store) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (store.Saved, error) {
	args, err := arguments(account, r, of.UUID)
	if err != nil {
		return store.Saved{}, err
	}
	var saved row.Saved
	err = s.untilVisible(ctx, "save retry", func(ctx context.Context, conn *pgxpool.Conn) error {
		var by *prism.UUID
		saved = row.Saved{}
		sent := conn.QueryRow(ctx, saveRetry, args...)
		crash.At(crash.InCommit)
		err := sent.Scan(append([]any{target(&by)}, saved.Targets(target)...)...)
		switch {
		case err != nil:
			return err // no row: no such failed result
		case by != nil && *by != r.ID.UUID:
			return &store.RetriedError{By: prism.ResultID{UUID: *by}}
		case saved.Result.Found():
			return nil
		default:
			return errRaced
		}
	})
	if err != nil {
		return store.Saved{}, err
	}
	return saved.Saved()
}

// untilVisible is do, and again after errRaced.
func (s *Store) untilVisible(ctx context.Context, operation string, fn roundTrip) (err error) {
	for range attempts {
		if err = s.do(ctx, operation, fn); !errors.Is(err, errRaced) {
			return err
		}
	}
	return err
}

// size is about how much of r is sent.
func size(r prism.Result) int {
	n := len(r.Context) + len(r.Answers)
	for _, f := range r.Fields {
		n += len(f.Key) + len(f.Value)
	}
	return n
}

// arguments are the parameters that both saves have, and one more.
func arguments(account prism.AccountID, r prism.Result, last any) ([]any, error) {
	fields, err := document.Fields(r.Fields)
	if err != nil {
		return nil, err
	}
	return []any{
		account.UUID, r.ID.UUID, r.Prism.UUID, r.Version, r.Ref, r.Context, fields, string(r.Status), row.Failure(r), r.TookMS,
		r.CreatedAt, r.Answers, last,
	}, nil
}

// CreateFacts is one round trip.
func (s *Store) CreateFacts(ctx context.Context, q store.CreateQuery) (store.CreateFacts, error) {
	statement, ref := createFactsBySlug, any(q.Prism.Slug)
	if q.Prism.Slug == "" {
		statement, ref = createFactsByID, q.Prism.ID.UUID
	}
	var facts row.Facts
	found, err := s.facts(ctx, "create facts", facts.Targets(target),
		statement, q.Key[:], ref, q.Version, row.Nullable(q.IdempotencyKey))
	if err != nil || !found {
		return store.CreateFacts{}, err
	}
	return facts.Facts()
}

// ResultFacts is one round trip.
func (s *Store) ResultFacts(ctx context.Context, digest contract.KeyDigest, id prism.ResultID) (store.ResultFacts, error) {
	var facts row.ResultFacts
	found, err := s.facts(ctx, "result facts", facts.Targets(target), resultFacts, digest[:], id.UUID)
	if err != nil || !found {
		return store.ResultFacts{}, err
	}
	return facts.Facts()
}

// facts scans the one row, which a key that is unknown or revoked does not have.
func (s *Store) facts(ctx context.Context, operation string, targets []any, statement string, args ...any) (bool, error) {
	lookup := &call{statement: statement, args: args, scan: func(r pgx.Row) error { return r.Scan(targets...) }}
	err := s.lookups.do(ctx, operation, lookup, func() error {
		return s.do(ctx, operation, func(ctx context.Context, conn *pgxpool.Conn) error {
			return conn.QueryRow(ctx, statement, args...).Scan(targets...)
		})
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return true, harmless(operation, err)
}
