package postgres

import (
	"context"
	"database/sql"
	"iter"
	"runtime"
	"testing"

	"github.com/pressly/goose/v3"
)

const (
	// NextMigration is the number of nextMigration.
	NextMigration = newestMigration + 1
	InsertResults = insertResults
	WorkLock      = workLock
)

// ReferenceTables are the tables that every node of Citus has.
var ReferenceTables = referenceTables

// IsUnknown reports whether the outcome of what failed is unknown.
var IsUnknown = isUnknown

// MigrateTo applies the migrations up to a number, and behind the newest one nextMigration.
func MigrateTo(ctx context.Context, url string, number int64) error {
	return migrateTo(ctx, url, Auth{}, number, append(steps(), nextMigration())...)
}

// nextMigration is a migration as a release to come may have it: it changes the tables with the most rows while calls go on.
func nextMigration() *goose.Migration {
	return goose.NewGoMigration(NextMigration, &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
		const columns = `ALTER TABLE results ADD COLUMN IF NOT EXISTS mood text COLLATE "C";
			ALTER TABLE prisms ADD COLUMN IF NOT EXISTS moods integer NOT NULL DEFAULT 7`
		if err := changeTables(ctx, db, columns); err != nil {
			return err
		}
		return eachConcurrently(ctx, db,
			"DROP INDEX CONCURRENTLY IF EXISTS results_by_mood",
			"CREATE INDEX CONCURRENTLY results_by_mood ON results (account_id, mood, id) WHERE mood IS NOT NULL",
			"DROP INDEX CONCURRENTLY IF EXISTS results_by_ref",
		)
	}}, nil)
}

// HoldSaves makes saves wait, to be sent together when release is called.
func (s *Store) HoldSaves(ctx context.Context) (waiting func() int, release func()) {
	return s.database.saves.hold(ctx)
}

// HoldLookUps is HoldSaves for look-ups.
func (s *Store) HoldLookUps(ctx context.Context) (waiting func() int, release func()) {
	return s.database.reads.hold(ctx)
}

func (b *batches) hold(ctx context.Context) (waiting func() int, release func()) {
	for !b.holdIdle() { // a round trip under way would take the calls with it
		runtime.Gosched()
	}
	waiting = func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.waiting)
	}
	return waiting, func() {
		for range maxUnderWay {
			b.next(ctx)
		}
	}
}

// holdIdle counts as many round trips as may be under way, if none is.
func (b *batches) holdIdle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.underWay > 0 {
		return false
	}
	b.underWay = maxUnderWay
	return true
}

// LookUpsOf yields the statements of several look-ups that were made, by the statement of one.
func (s *Store) LookUpsOf() iter.Seq2[any, any] { return s.database.lookUps.Range }

// Plans are how often the only connection executed prepared statements with the plan that fits all parameters, and with others.
func (s *Store) Plans(t *testing.T, like string) (generic, custom int64) {
	t.Helper()
	err := s.database.pool.QueryRow(t.Context(), `SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements
		WHERE statement LIKE $1`, like).Scan(&generic, &custom)
	if err != nil {
		t.Fatal(err)
	}
	return generic, custom
}

// Waiting is how many calls wait for a place among the connections.
func (s *Store) Waiting() int { return s.database.places.Waiting() }

// Reconnect ends the connections: the idle ones now, and the others when they are free.
func (s *Store) Reconnect() { s.database.pool.Reset() }
