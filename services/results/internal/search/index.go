package search

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// An account without a cursor was made after the migration that made the index, so all of its results have changes.
	startIndex = `INSERT INTO index_cursors (account_id, seq) VALUES ($1, 0) ON CONFLICT (account_id) DO NOTHING`
	lockIndex  = `SELECT seq, old FROM index_cursors WHERE account_id = $1`
	toIndex    = `SELECT seq, type, result_id FROM changes WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`
	moveIndex  = `UPDATE index_cursors SET seq = $2, old = $3 WHERE account_id = $1`

	oldResults = `SELECT r.id FROM results r WHERE r.account_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3`

	behind = `-- name: Behind :many
SELECT c.account_id, c.seq > coalesce(i.seq, 0), i.old IS NOT NULL OR p.account_id IS NOT NULL, x.at
FROM change_counts c
LEFT JOIN index_cursors i ON i.account_id = c.account_id
LEFT JOIN (SELECT DISTINCT account_id FROM index_prisms WHERE old IS NOT NULL) p ON p.account_id = c.account_id
LEFT JOIN changes x ON x.account_id = c.account_id AND x.seq = coalesce(i.seq, 0) + 1
WHERE (i.old IS NOT NULL OR p.account_id IS NOT NULL OR c.seq > coalesce(i.seq, 0)) AND c.account_id` + sqldb.StaysHere + `
ORDER BY x.at LIMIT 1000`
)

// SQL is a Store in a database.
type SQL struct{ sqldb.Database }

// cursor is how far the index of an account is: it has the changes up to seq, and of the older results those from old on; nil: all.
type cursor struct {
	seq int64
	old *prism.UUID
}

func readCursor(r *sqldb.Row) cursor {
	c := cursor{seq: r.Int()}
	if old := r.UUID(); old != (prism.UUID{}) {
		c.old = &old
	}
	return c
}

// IndexChanges implements Store.
func (s SQL) IndexChanges(ctx context.Context, account prism.AccountID, n int) (more bool, err error) {
	err = s.advance(ctx, "index_changes", account, func(run sqldb.Run, c *cursor) error {
		var changed []prism.ResultID
		var seqs []int64
		args := []any{account.UUID, c.seq, int64(n)}
		err := run(ctx, sqldb.Statement{Text: toIndex, Args: args}, sqldb.ReadRows(&seqs, func(r *sqldb.Row) int64 {
			seq := r.Int()
			if kind, id := changes.Type(r.Int32()), r.UUID(); kind == changes.Created || kind == changes.Labelled {
				changed = append(changed, prism.ResultID{UUID: id})
			}
			return seq
		}))
		if more = len(seqs) == n; err != nil || len(seqs) == 0 {
			return err
		}
		c.seq = seqs[len(seqs)-1]
		slices.SortFunc(changed, newestFirst)
		return s.index(ctx, run, account, slices.Compact(changed))
	})
	return more, err
}

// IndexOld implements Store.
func (s SQL) IndexOld(ctx context.Context, account prism.AccountID, n int) (more bool, err error) {
	err = s.advance(ctx, "index_old", account, func(run sqldb.Run, c *cursor) error {
		if c.old == nil {
			more, err = s.indexPrism(ctx, run, account, n)
			return err
		}
		var ids []prism.ResultID
		args := []any{account.UUID, *c.old, int64(n)}
		if err := run(ctx, sqldb.Statement{Text: oldResults, Args: args}, sqldb.ReadRows(&ids, readID)); err != nil {
			return err
		}
		if c.old = nil; len(ids) == n {
			c.old = &ids[n-1].UUID
		}
		more = c.old != nil
		return s.index(ctx, run, account, ids)
	})
	return more, err
}

// advance has a function move the cursor of an account, which no one else moves meanwhile.
func (s SQL) advance(
	ctx context.Context, operation string, account prism.AccountID, move func(run sqldb.Run, c *cursor) error,
) error {
	err := s.Transaction(ctx, operation, func(run sqldb.Run) error {
		start := sqldb.Statement{Text: startIndex, Args: []any{account.UUID}}
		if err := run(ctx, start, sqldb.NoRow); err != nil {
			return err
		}
		var c cursor
		err := run(ctx, sqldb.Statement{Text: lockIndex + s.Locking(true), Args: []any{account.UUID}}, sqldb.ReadRow(&c, readCursor))
		if errors.Is(err, store.ErrNotFound) {
			return nil // another process is at it
		}
		before := c
		if err == nil {
			err = move(run, &c)
		}
		if err != nil {
			return err
		}
		crash.At(crash.InIndex)
		if c == before {
			return nil
		}
		return run(ctx, sqldb.Statement{Text: moveIndex, Args: []any{account.UUID, c.seq, c.old}}, sqldb.NoRow)
	})
	if err == nil {
		crash.At(crash.AfterIndex)
	}
	return err
}

// index writes what is to know of results. It locks them, so that none is deleted meanwhile.
func (s SQL) index(ctx context.Context, run sqldb.Run, account prism.AccountID, ids []prism.ResultID) error {
	for some := range slices.Chunk(ids, together) {
		l := sqldb.NewList("found_results")
		l.Results(foundTexts+ofResults, account, store.Filter{})
		l.In(" AND r.id IN (", sqldb.FewTexts(sqldb.UUIDs(some)))
		l.Write(ofSearchable + s.Locking(false))
		rows, err := s.read(ctx, run, account, l.Complete(), store.WithInput)
		if err != nil {
			return err
		}
		if err := define(ctx, run, account, rows); err != nil {
			return err
		}
		indexed := make([]sqldb.Indexed, len(rows))
		for i, f := range rows {
			indexed[i] = sqldb.Indexed{ID: f.Result.ID, Version: f.Result.Version, Terms: f.Terms(account), Numbers: f.Numbers()}
		}
		if err := s.IndexResults(ctx, run, account, indexed); err != nil {
			return err
		}
	}
	return nil
}

// Behind implements Store.
func (s SQL) Behind(ctx context.Context) (lags []Lag, err error) {
	err = s.Run(ctx, sqldb.Query("behind", behind), sqldb.ReadRows(&lags, func(r *sqldb.Row) Lag {
		lag := Lag{Account: prism.AccountID{UUID: r.UUID()}}
		changed := r.Bool()
		lag.Old = r.Bool()
		if at := r.OptionalTime(); changed {
			lag.At = at
		}
		return lag
	}))
	return lags, err
}

func readID(r *sqldb.Row) prism.ResultID { return prism.ResultID{UUID: r.UUID()} }

func newestFirst(a, b prism.ResultID) int { return sqldb.CompareIDs(b.UUID, a.UUID) }
