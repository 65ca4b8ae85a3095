package postgres

import (
	"context"
	"iter"
	"runtime"
	"testing"
)

// For tests that stop between migrations.
var MigrateTo = migrateTo

const (
	NewestMigration = newestMigration
	InsertResults   = insertResults
	WorkLock        = workLock
)

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
