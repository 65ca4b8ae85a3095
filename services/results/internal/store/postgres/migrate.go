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

// newestMigration is the number of the last migration. A test compares it with the files and the migrations in Go.
const newestMigration = 18

// A replica that waits for another replica's migration asks for the lock once a second, for up to ten minutes.
const (
	lockPeriodSeconds = 1
	lockTries         = 600
)

// workLock is the key of an advisory lock that every session which migrates shares until it ends.
const workLock = lock.DefaultLockID + 1

// Migrate brings the database to the newest schema: store.ErrUnavailable if the database is down. Replicas may race: one
// of them migrates, and the others wait and then find nothing to do. The previous release works on the newest schema.
//
// The lock belongs to a session, so url must not lead through a pooler that shares sessions.
func Migrate(ctx context.Context, url string) error { return migrateTo(ctx, url, math.MaxInt64) }

// migrateTo applies the migrations up to a number.
func migrateTo(ctx context.Context, url string, number int64) (err error) {
	const operation = "migrate"
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("postgres: %w", err) // pgx takes the password out
	}
	prepare(config, url)
	locking := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, locking.Close()) }() // ends the turn
	if err := locking.PingContext(ctx); err != nil {
		return unavailable(operation, err)
	}
	if err := takeTurn(ctx, locking); err != nil {
		return migrationError(operation, err)
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock_shared($1)", workLock)
		return err
	}))
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("postgres: %s: %w", operation, err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithGoMigrations(
			goose.NewGoMigration(2, &goose.GoFunc{RunDB: listByID}, &goose.GoFunc{RunDB: listByTime}),
			goose.NewGoMigration(3, &goose.GoFunc{RunDB: addRoles}, &goose.GoFunc{RunDB: dropRoles}),
			goose.NewGoMigration(4, &goose.GoFunc{RunDB: addVersionsHash}, &goose.GoFunc{RunDB: dropVersionsHash}),
			goose.NewGoMigration(6, &goose.GoFunc{RunDB: addLimits}, &goose.GoFunc{RunDB: dropLimits}),
			goose.NewGoMigration(7, &goose.GoFunc{RunDB: addRecords}, &goose.GoFunc{RunDB: dropRecords}),
			goose.NewGoMigration(8, &goose.GoFunc{RunDB: addDeletions}, &goose.GoFunc{RunDB: dropDeletions}),
			goose.NewGoMigration(10, &goose.GoFunc{RunDB: addRuns}, &goose.GoFunc{RunDB: dropRuns}),
			goose.NewGoMigration(11, &goose.GoFunc{RunDB: addMembers}, &goose.GoFunc{RunDB: dropMembers}),
			goose.NewGoMigration(12, &goose.GoFunc{RunDB: addRetries}, &goose.GoFunc{RunDB: dropRetries}),
			goose.NewGoMigration(13, &goose.GoFunc{RunDB: addLabels}, &goose.GoFunc{RunDB: dropLabels}),
			goose.NewGoMigration(15, &goose.GoFunc{RunDB: addCalibrations}, &goose.GoFunc{RunDB: dropCalibrations}),
			goose.NewGoMigration(16, &goose.GoFunc{RunDB: addDrift}, &goose.GoFunc{RunDB: dropDrift}),
			goose.NewGoMigration(17, &goose.GoFunc{RunDB: addStorage}, &goose.GoFunc{RunDB: removeStorage}),
			goose.NewGoMigration(18, &goose.GoFunc{RunDB: addClaims}, &goose.GoFunc{RunDB: dropClaims}),
		),
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

// Migrated checks that the tables are at least as new as this program: store.ErrOutdated, store.ErrUnavailable. It is one
// statement, so unlike Migrate it works through a pooler that shares sessions.
func (s *Store) Migrated(ctx context.Context) error {
	var found int64
	err := s.database.read(ctx, fair.Preferred, "migrated", func(ctx context.Context, conn *pgxpool.Conn) error {
		const applied = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"
		err := conn.QueryRow(ctx, applied).Scan(&found)
		if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && refusal.Code == undefinedTable {
			return nil // nothing has been migrated yet
		}
		return err
	})
	if err == nil && found < newestMigration {
		return fmt.Errorf("postgres: %w: at %d of %d", store.ErrOutdated, found, newestMigration)
	}
	return err
}
