package changes

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	countChanges = `-- name: CountChanges :one
SELECT seq, removed FROM change_counts WHERE account_id = $1`

	readChanges = `-- name: ReadChanges :many
SELECT c.seq, c.at, c.type, p.slug, c.result_id
FROM changes c JOIN prisms p ON p.account_id = c.account_id AND p.id = c.prism_id
WHERE c.account_id = `

	// oldChanges finds an account whose first change is from before $1, and not its last: the numbers of an account have no gaps.
	oldChanges = `-- name: OldChanges :one
SELECT c.account_id, c.seq, c.removed FROM change_counts c JOIN changes x ON x.account_id = c.account_id AND x.seq = c.removed + 1
WHERE c.removed + 1 < c.seq AND x.at < $1 LIMIT 1`
	lastOld       = `SELECT max(seq) FROM changes WHERE account_id = $1 AND seq > $2 AND seq <= $3 AND at < $4`
	removeChanges = `DELETE FROM changes WHERE account_id = $1 AND seq > $2 AND seq <= $3`
)

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// changeCounts are the numbers of the last change of an account, and of the last one that was removed.
type changeCounts struct{ last, removed int64 }

func (s SQL) changeCounts(ctx context.Context, account prism.AccountID) (c changeCounts, err error) {
	statement := sqldb.Query("count_changes", countChanges, account.UUID)
	err = s.Run(ctx, statement, sqldb.ReadRow(&c, func(r *sqldb.Row) changeCounts { return changeCounts{r.Int(), r.Int()} }))
	if errors.Is(err, store.ErrNotFound) {
		err = nil // of an account without results
	}
	return c, err
}

// ReadChanges implements Store. It reads no number above the last one that it has looked up, so what it has read is all that there
// will ever be. It looks again whether something was removed meanwhile.
func (s SQL) ReadChanges(ctx context.Context, account prism.AccountID, f Filter) (page Page, err error) {
	counts, err := s.changeCounts(ctx, account)
	if err != nil {
		return page, err
	}
	after := f.After
	if after == 0 {
		after = counts.removed
	}
	switch {
	case after < counts.removed:
		return page, store.ErrChangesRemoved
	case after > counts.last:
		return page, store.ErrNoSuchChange
	case after == counts.last:
		return Page{Next: after}, nil
	}
	page.Next = min(counts.last, after+Scanned)
	l := sqldb.NewList("read_changes")
	l.Add(readChanges, account.UUID)
	l.Add(" AND c.seq > ", after)
	l.Add(" AND c.seq <= ", page.Next)
	if !f.Prism.IsZero() {
		l.Add(" AND c.prism_id = ", f.Prism.UUID)
	}
	l.Add(" ORDER BY c.seq LIMIT ", int64(f.Limit))
	err = s.Run(ctx, l.Complete(), sqldb.ReadRows(&page.Changes, func(r *sqldb.Row) Change {
		return Change{
			Seq: r.Int(), At: r.Time(), Type: Type(r.Int32()), Prism: r.Text(), Result: prism.ResultID{UUID: r.UUID()},
		}
	}))
	if err != nil {
		return Page{}, err
	}
	if n := len(page.Changes); n == f.Limit {
		page.Next = page.Changes[n-1].Seq
	}
	counts, err = s.changeCounts(ctx, account)
	if err == nil && counts.removed > after {
		err = store.ErrChangesRemoved
	}
	if err == nil { // the numbers, too, must be as durable as what they number
		err = s.ConfirmAll(ctx, account)
	}
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

// RemoveChanges implements Store.
func (s SQL) RemoveChanges(ctx context.Context, before time.Time) (more bool, err error) {
	err = s.Transaction(ctx, "remove_changes", func(run sqldb.Run) error {
		more = false
		var (
			account prism.UUID
			counts  changeCounts
			last    int64
		)
		err := run(ctx, sqldb.Statement{Text: oldChanges, Args: []any{before}}, sqldb.ReadRow(&account, func(r *sqldb.Row) prism.UUID {
			account := r.UUID()
			counts = changeCounts{r.Int(), r.Int()}
			return account
		}))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		more = true
		args := []any{account, counts.removed, min(counts.last-1, counts.removed+removedAtOnce), before}
		if err := run(ctx, sqldb.Statement{Text: lastOld, Args: args}, sqldb.ReadRow(&last, (*sqldb.Row).Int)); err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: removeChanges, Args: []any{account, counts.removed, last}}, sqldb.NoRow)
	})
	return more, err
}
