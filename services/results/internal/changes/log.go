package changes

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Log is a table of what happened, whose rows have the numbers seq, without gaps in each account. Its view of counts has for each account
// the number of the last row, and of the last one that was removed.
type Log struct {
	operation                string // that removes rows
	count, old, last, remove string
}

// NewLog is the log of a table and its view of counts.
func NewLog(name, table, counts string) Log {
	return Log{
		operation: "remove_" + table,
		count: `-- name: Count` + name + ` :one
SELECT seq, removed FROM ` + counts + ` WHERE account_id = $1`,
		// old finds an account whose first row is from before $1, and not its last.
		old: `-- name: Old` + name + ` :one
SELECT c.account_id, c.seq, c.removed FROM ` + counts + ` c JOIN ` + table + ` x ON x.account_id = c.account_id AND x.seq = c.removed + 1
WHERE c.removed + 1 < c.seq AND x.at < $1 LIMIT 1`,
		last:   `SELECT max(seq) FROM ` + table + ` WHERE account_id = $1 AND seq > $2 AND seq <= $3 AND at < $4`,
		remove: `DELETE FROM ` + table + ` WHERE account_id = $1 AND seq > $2 AND seq <= $3`,
	}
}

// Counts are the numbers of the last row of an account, and of the last one that was removed.
type Counts struct{ Last, Removed int64 }

// Counts reads the counts of an account, for an operation.
func (l Log) Counts(ctx context.Context, run sqldb.Run, operation string, account prism.AccountID) (c Counts, err error) {
	st := sqldb.Query(operation, l.count, account.UUID)
	err = run(ctx, st, sqldb.ReadRow(&c, func(r *sqldb.Row) Counts { return Counts{r.Int(), r.Int()} }))
	if errors.Is(err, store.ErrNotFound) {
		err = nil // of an account to which nothing has happened
	}
	return c, err
}

// Behind is the number behind which a caller reads, of whom 0 stands before the first row that is kept: store.ErrChangesRemoved,
// store.ErrNoSuchChange.
func (c Counts) Behind(after int64) (int64, error) {
	switch {
	case after == 0:
		return c.Removed, nil
	case after < c.Removed:
		return after, store.ErrChangesRemoved
	case after > c.Last:
		return after, store.ErrNoSuchChange
	}
	return after, nil
}

// RemoveBefore removes a number of rows of an account from before a time, but never its last, and reports whether there may be more.
func (l Log) RemoveBefore(ctx context.Context, db sqldb.Database, before time.Time) (more bool, err error) {
	err = db.Transaction(ctx, l.operation, func(run sqldb.Run) error {
		more = false
		var (
			account prism.UUID
			c       Counts
			last    int64
		)
		err := run(ctx, sqldb.Statement{Text: l.old, Args: []any{before}}, sqldb.ReadRow(&account, func(r *sqldb.Row) prism.UUID {
			account := r.UUID()
			c = Counts{r.Int(), r.Int()}
			return account
		}))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		more = true
		args := []any{account, c.Removed, min(c.Last-1, c.Removed+removedAtOnce), before}
		if err := run(ctx, sqldb.Statement{Text: l.last, Args: args}, sqldb.ReadRow(&last, (*sqldb.Row).Int)); err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: l.remove, Args: []any{account, c.Removed, last}}, sqldb.NoRow)
	})
	return more, err
}
