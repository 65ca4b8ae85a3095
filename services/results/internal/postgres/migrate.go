package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/results/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// newestMigration is the number of the last migration.
const newestMigration = store.Baseline + 18

// A replica that waits for another replica's migration asks for the lock once a second, for up to ten minutes.
const (
	lockPeriodSeconds = 1
	lockTries         = 600
)

// workLock is the key of an advisory lock that every session which migrates shares until it ends.
const workLock = lock.DefaultLockID + 1

// Migrate brings the database to the newest schema: store.ErrUnavailable if the database is down, store.ErrPredates if no migration
// leads from it. Replicas may race: one of them migrates, and the others wait and then find nothing to do. The release before works
// on the newest schema (spec: newer-schema).
//
// The lock belongs to a session, so url must not lead through a pooler that shares sessions.
func Migrate(ctx context.Context, url string) error { return Auth{}.Migrate(ctx, url) }

// Migrate is the function Migrate with these credentials.
func (a Auth) Migrate(ctx context.Context, url string) error {
	return migrateTo(ctx, url, a, math.MaxInt64, steps()...)
}

// migrateTo applies the migrations of the files, and those of steps, up to a number.
func migrateTo(ctx context.Context, url string, auth Auth, number int64, ofSteps ...*goose.Migration) (err error) {
	const operation = "migrate"
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("postgres: %w", err) // pgx takes the password out
	}
	prepare(config, url)
	authenticated := stdlib.OptionBeforeConnect(auth.before(nil))
	locking := stdlib.OpenDB(*config, authenticated)
	defer func() { err = errors.Join(err, locking.Close()) }() // ends the turn
	if err := auth.try(ctx, func() error { return locking.PingContext(ctx) }); err != nil {
		return unavailable(operation, err)
	}
	if err := takeTurn(ctx, locking); err != nil {
		return migrationError(operation, err)
	}
	db := stdlib.OpenDB(*config, authenticated, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock_shared($1)", workLock)
		return err
	}))
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("postgres: %s: %w", operation, err)
	}
	last, err := lastApplied(db.QueryRowContext(ctx, selectLastApplied))
	if err != nil {
		return migrationError(operation, err)
	}
	if err := store.CheckBaseline(last); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithGoMigrations(ofSteps...),
		goose.WithDisableGlobalRegistry(true)) // it may hold migrations of other packages
	if err != nil {
		return fmt.Errorf("postgres: %s: %w", operation, err)
	}
	_, err = p.UpTo(ctx, number)
	return migrationError(operation, err)
}

// takeTurn waits until no other process migrates, and until no session of a process that was killed does: Postgres executes a
// statement to its end before it notices that its client is gone. The turn ends with the session, so db has one.
func takeTurn(ctx context.Context, db *sql.DB) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, key := range []int64{lock.DefaultLockID, workLock} {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(key), lock.WithLockTimeout(lockPeriodSeconds, lockTries))
		if err != nil {
			return err
		}
		if err := locker.SessionLock(ctx, conn); err != nil {
			return err
		}
		if key == workLock { // the sessions to come share it
			return locker.SessionUnlock(ctx, conn)
		}
	}
	return nil
}

// migrationError tells whether the database was away. A migration that was cut off can be repeated: it is a transaction, or its
// statements can be repeated.
func migrationError(operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case isUnknown(err), errors.Is(err, driver.ErrBadConn), errors.Is(translate(operation, err), store.ErrUnavailable):
		return unavailable(operation, err)
	}
	return fmt.Errorf("postgres: %s: %w", operation, err) // migrations contain no values
}

// undefinedTable is Postgres's code for a table that does not exist.
const undefinedTable = "42P01"

const selectLastApplied = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"

// lastApplied is the number of the last migration that was applied, of the row of selectLastApplied. It is 0 if there is none.
func lastApplied(row interface{ Scan(into ...any) error }) (number int64, err error) {
	err = row.Scan(&number)
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && refusal.Code == undefinedTable {
		return 0, nil
	}
	return number, err
}

// Migrated checks that the tables are at least as new as this program: store.ErrOutdated, store.ErrPredates, store.ErrUnavailable. It is
// one statement, so unlike Migrate it works through a pooler that shares sessions.
func (s *Store) Migrated(ctx context.Context) error {
	var last int64
	err := s.database.read(ctx, fair.Preferred, "migrated", func(ctx context.Context, conn *pgxpool.Conn) (err error) {
		last, err = lastApplied(conn.QueryRow(ctx, selectLastApplied))
		return err
	})
	if err == nil {
		err = store.CheckBaseline(last)
	}
	if err == nil && last < newestMigration {
		return fmt.Errorf("postgres: %w: at %d of %d", store.ErrOutdated, last, newestMigration)
	}
	return err
}
