package postgres

import (
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store/internal/listsql"
)

// target is a columns.Dialect: pgx scans into all pointers of package columns itself.
func target(pointer any) any { return pointer }

func dialect() listsql.Dialect {
	return listsql.Dialect{
		Parameter: "$",
		UUID:      func(id prism.UUID) any { return id },
		Time:      func(t time.Time) any { return t },
	}
}

// inUTC converts a time that pgx read, which is in the zone of the process.
func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}
