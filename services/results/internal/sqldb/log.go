package sqldb

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Log is a table of what happened, whose rows have the numbers seq, without gaps in each account. Its view of counts has for each account
// the number of the last row, and of the last one that was removed.
type Log struct {
	operation                string // that removes rows
	count, old, last, remove string
}

// removedAtOnce bounds how many rows of a log are removed at once.
const removedAtOnce = 5000

// ChangesOfResults is the log of the changes of results.
var ChangesOfResults = NewLog("Changes", "changes", "change_counts")

// NewLog is the log of a table and its view of counts.
func NewLog(name, table, counts string) Log {
	return Log{
		operation: "remove_" + table,
		count: `-- name: Count` + name + ` :one
SELECT seq, removed FROM ` + counts + ` WHERE account_id = $1`,
		// old finds an account whose first row is from before $1, and not its last.
		old: `-- name: Old` + name + ` :one
SELECT c.account_id, c.seq, c.removed FROM ` + counts + ` c JOIN ` + table + ` x ON x.account_id = c.account_id AND x.seq = c.removed + 1
WHERE c.removed + 1 < c.seq AND x.at < $1 AND c.account_id` + StaysHere + ` LIMIT 1`,
		last:   `SELECT max(seq) FROM ` + table + ` WHERE account_id = $1 AND seq > $2 AND seq <= $3 AND at < $4`,
		remove: `DELETE FROM ` + table + ` WHERE account_id = $1 AND seq > $2 AND seq <= $3`,
	}
}

// LogCounts are the numbers of the last row of an account in a log, and of the last one that was removed.
type LogCounts struct{ Last, Removed int64 }

// Counts reads the counts of an account, for an operation.
func (l Log) Counts(ctx context.Context, run Run, operation string, account prism.AccountID) (c LogCounts, err error) {
	st := Query(operation, l.count, account.UUID)
	err = run(ctx, st, ReadRow(&c, func(r *Row) LogCounts { return LogCounts{r.Int(), r.Int()} }))
	if errors.Is(err, store.ErrNotFound) {
		err = nil // of an account to which nothing has happened
	}
	return c, err
}

// Behind is the number behind which a caller reads, of whom 0 stands before the first row that is kept: store.ErrChangesRemoved,
// store.ErrNoSuchChange.
func (c LogCounts) Behind(after int64) (int64, error) {
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
func (l Log) RemoveBefore(ctx context.Context, db Database, before time.Time) (more bool, err error) {
	err = db.Transaction(ctx, l.operation, func(run Run) error {
		more = false
		var (
			account prism.UUID
			c       LogCounts
			last    int64
		)
		err := run(ctx, Statement{Text: l.old, Args: []any{before}}, ReadRow(&account, func(r *Row) prism.UUID {
			account := r.UUID()
			c = LogCounts{r.Int(), r.Int()}
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
		if err := run(ctx, Statement{Text: l.last, Args: args}, ReadRow(&last, (*Row).Int)); err != nil {
			return err
		}
		return run(ctx, Statement{Text: l.remove, Args: []any{account, c.Removed, last}}, NoRow)
	})
	return more, err
}
