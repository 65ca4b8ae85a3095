package postgres

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// addRoles is migration 3. API keys have a role and may expire (spec: roles, key-expiry). A key that was made before, or
// that the previous release makes, is an owner. Lists are ordered by id, and the active keys of an account are counted.
//
// Calls go on meanwhile, as in listByID. Neither column makes Postgres write the rows.
func addRoles(ctx context.Context, db *sql.DB) error {
	const columns = `ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS role text NOT NULL DEFAULT 'owner',
	ADD COLUMN IF NOT EXISTS expires_at timestamptz(3)`
	if err := alter(ctx, db, columns); err != nil {
		return err
	}
	return eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_by_id",
		"CREATE INDEX CONCURRENTLY api_keys_by_id ON api_keys (account_id, id)",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_active",
		"CREATE INDEX CONCURRENTLY api_keys_active ON api_keys (account_id) WHERE revoked_at IS NULL",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_newest",
	)
}

// dropRoles undoes addRoles.
func dropRoles(ctx context.Context, db *sql.DB) error {
	err := eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_newest",
		"CREATE INDEX CONCURRENTLY api_keys_newest ON api_keys (account_id, created_at, id)",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_active",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_by_id",
	)
	if err != nil {
		return err
	}
	return alter(ctx, db, "ALTER TABLE api_keys DROP COLUMN IF EXISTS role, DROP COLUMN IF EXISTS expires_at")
}

// lockNotAvailable is Postgres's code for the end of lock_timeout.
const lockNotAvailable = "55P03"

// lockTimeout bounds how long a migration waits for the lock of a table, for example during a backup: what comes behind it waits
// as long.
const lockTimeout = "50ms"

// alter changes tables, in one transaction.
func alter(ctx context.Context, db *sql.DB, statements string) error {
	return untilLocked(ctx, func() error {
		_, err := db.ExecContext(ctx, "DO $$ BEGIN SET LOCAL lock_timeout = '"+lockTimeout+"'; "+statements+"; END $$")
		return err
	})
}

// untilLocked repeats a transaction that did not get its locks within lockTimeout. It lets other statements run for a second
// in between.
func untilLocked(ctx context.Context, transaction func() error) error {
	for {
		err := transaction()
		refusal, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || refusal.Code != lockNotAvailable {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
