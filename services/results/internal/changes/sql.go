package changes

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const readChanges = `-- name: ReadChanges :many
SELECT c.seq, c.at, c.type, p.slug, c.result_id
FROM changes c JOIN prisms p ON p.account_id = c.account_id AND p.id = c.prism_id
WHERE c.account_id = `

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// ReadChanges implements Store. It reads no number above the last one that it has looked up, so what it has read is all that there
// will ever be. It looks again whether something was removed meanwhile.
func (s SQL) ReadChanges(ctx context.Context, account prism.AccountID, f Filter) (page Page, err error) {
	counts, err := sqldb.ChangesOfResults.Counts(ctx, s.Run, "count_changes", account)
	if err != nil {
		return page, err
	}
	after, err := counts.Behind(f.After)
	if err != nil || after == counts.Last {
		return Page{Next: after}, err
	}
	page.Next = min(counts.Last, after+Scanned)
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
	counts, err = sqldb.ChangesOfResults.Counts(ctx, s.Run, "count_changes", account)
	if err == nil && counts.Removed > after {
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
	return sqldb.ChangesOfResults.RemoveBefore(ctx, s.Database, before)
}
