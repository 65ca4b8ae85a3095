package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/services/results/internal/background"
)

// The steps of migrations that change tables with rows while calls go on. A migration of such steps is no transaction, so each of its
// statements can be repeated after an interruption, and no step waits for a lock longer than lockTimeout. It is a
// goose.NewGoMigration; one that only makes new tables is a file beside the baseline.

// lockTimeout bounds how long a migration waits for the lock of a table, for example during a backup: what comes behind it waits
// as long.
const lockTimeout = "50ms"

// lockNotAvailable is Postgres's code for the end of lock_timeout.
const lockNotAvailable = "55P03"

// changeTables executes statements that change tables, in one transaction. A column with a constant default does not make Postgres write
// the rows. Without its locks within lockTimeout it lets other statements run for a second, and tries again.
func changeTables(ctx context.Context, db *sql.DB, statements string) error {
	for {
		_, err := db.ExecContext(ctx, "DO $$ BEGIN SET LOCAL lock_timeout = '"+lockTimeout+"'; "+statements+"; END $$")
		refusal, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || refusal.Code != lockNotAvailable {
			return err
		}
		if !background.Pause(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// eachConcurrently executes statements outside of a transaction. An index is dropped, if it exists, before it is built: an
// interruption leaves an invalid one behind. Postgres can't build an index of a partitioned table concurrently, so if results is
// partitioned the statements lock their table.
func eachConcurrently(ctx context.Context, db *sql.DB, statements ...string) error {
	var partitioned bool
	const query = "SELECT relkind = 'p' FROM pg_class WHERE oid = 'results'::regclass"
	if err := db.QueryRowContext(ctx, query).Scan(&partitioned); err != nil {
		return err
	}
	for _, statement := range statements {
		if partitioned {
			statement = strings.Replace(statement, " CONCURRENTLY", "", 1)
		}
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
