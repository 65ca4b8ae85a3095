package postgres

import "context"

// For tests that stop between migrations.
var MigrateTo = migrateTo

const (
	NewestMigration = newestMigration
	InsertResults   = insertResults
)

// HoldSaves makes saves wait, to be sent together when release is called.
func (s *Store) HoldSaves(ctx context.Context) (waiting func() int, release func()) {
	b := s.database.saves
	b.mu.Lock()
	defer b.mu.Unlock()
	b.underWay += maxUnderWay
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
