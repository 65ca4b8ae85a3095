package search

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The prisms that the index leaves out, or left out, have a row of index_prisms. Their results from old on are in the index, or not, as
// searchable says; null: all of them.
const (
	setSearchable = `INSERT INTO index_prisms (account_id, prism_id, searchable, old) VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, prism_id) DO UPDATE SET searchable = excluded.searchable, old = excluded.old`

	indexedPrisms = `SELECT prism_id, searchable, old FROM index_prisms WHERE account_id = $1`
	nextPrism     = indexedPrisms + ` AND old IS NOT NULL ORDER BY prism_id LIMIT 1`
	movePrism     = `UPDATE index_prisms SET old = $3 WHERE account_id = $1 AND prism_id = $2`
	endPrism      = `DELETE FROM index_prisms WHERE account_id = $1 AND prism_id = $2 AND searchable AND old IS NULL`

	oldOfPrism = `SELECT r.id FROM results r WHERE r.account_id = $1 AND r.prism_id = $2 AND r.id < $3 ORDER BY r.id DESC LIMIT $4`

	// ofSearchable narrows results r to those that the index has.
	ofSearchable = ` AND r.prism_id NOT IN (SELECT i.prism_id FROM index_prisms i WHERE i.account_id = $1 AND NOT i.searchable)`
)

// indexedPrism is what the index has of a prism.
type indexedPrism struct {
	id         prism.PrismID
	searchable bool
	old        *prism.UUID
}

func readIndexedPrism(r *sqldb.Row) indexedPrism {
	p := indexedPrism{id: prism.PrismID{UUID: r.UUID()}, searchable: r.Bool()}
	if old := r.UUID(); old != (prism.UUID{}) {
		p.old = &old
	}
	return p
}

// SetSearchable implements Store.
func (s SQL) SetSearchable(ctx context.Context, account prism.AccountID, id prism.PrismID, searchable bool, by store.By) error {
	return s.Transaction(ctx, "set_searchable", func(run sqldb.Run) error {
		args := []any{account.UUID, id.UUID}
		var p prism.Prism
		if err := run(ctx, sqldb.Statement{Text: prisms.LockPrism, Args: args}, sqldb.ReadRow(&p, prisms.ReadLockedPrism)); err != nil {
			return err
		}
		var known []indexedPrism
		err := run(ctx, sqldb.Statement{Text: indexedPrisms + " AND prism_id = $2", Args: args}, sqldb.ReadRows(&known, readIndexedPrism))
		if err != nil {
			return err
		}
		if is := len(known) == 0 || known[0].searchable; is == searchable {
			return nil
		}
		if err := run(ctx, sqldb.Statement{Text: setSearchable, Args: append(args, searchable, store.Page{}.Before())}, sqldb.NoRow); err != nil {
			return err
		}
		return prisms.Record(ctx, run, account, by, store.PrismSearch, id, p.Slug, api.Searchable{Searchable: searchable})
	})
}

// leaveOut has a search of all leave out the prisms that are not searchable, and a search of one of these look at each of its results in
// the order of their ids, as a deletion does that began before. It says which old results are not indexed.
func (q *searching) leaveOut(ctx context.Context) error {
	var some []indexedPrism
	err := q.Run(ctx, sqldb.Query(q.operation, indexedPrisms, q.account.UUID), sqldb.ReadRows(&some, readIndexedPrism))
	for _, p := range some {
		switch {
		case !p.searchable && p.id == q.filter.Prism:
			none := store.Page{}.Before()
			q.needs, q.old = finding.Needs{}, &none
		case !p.searchable:
			if q.filter.unsearchable == nil {
				q.filter.unsearchable = map[prism.PrismID]bool{}
			}
			q.filter.unsearchable[p.id] = true
		case p.old != nil && (q.filter.Prism.IsZero() || q.filter.Prism == p.id):
			q.old = later(q.old, p.old)
		}
	}
	return err
}

// later is the greater of two ids; nil is less than any.
func later(a, b *prism.UUID) *prism.UUID {
	if a == nil || b != nil && sqldb.CompareIDs(*a, *b) < 0 {
		return b
	}
	return a
}

// indexPrism indexes some results of a prism that was left out before, or takes some out of the index of one that is left out now, newest
// first.
func (s SQL) indexPrism(ctx context.Context, run sqldb.Run, account prism.AccountID, n int) (more bool, err error) {
	var p indexedPrism
	next := sqldb.Statement{Text: nextPrism + s.Locking(true), Args: []any{account.UUID}}
	if err := run(ctx, next, sqldb.ReadRow(&p, readIndexedPrism)); errors.Is(err, store.ErrNotFound) {
		return false, nil // or a call is changing it
	} else if err != nil {
		return false, err
	}
	var ids []prism.ResultID
	args := []any{account.UUID, p.id.UUID, *p.old, int64(n)}
	if err := run(ctx, sqldb.Statement{Text: oldOfPrism, Args: args}, sqldb.ReadRows(&ids, readID)); err != nil {
		return false, err
	}
	if p.searchable {
		err = s.index(ctx, run, account, ids)
	} else {
		err = s.unindex(ctx, run, account, ids)
	}
	if p.old = nil; len(ids) == n {
		p.old = &ids[n-1].UUID
	}
	if err == nil {
		err = run(ctx, sqldb.Statement{Text: movePrism, Args: []any{account.UUID, p.id.UUID, p.old}}, sqldb.NoRow)
	}
	if err == nil && p.old == nil {
		err = run(ctx, sqldb.Statement{Text: endPrism, Args: []any{account.UUID, p.id.UUID}}, sqldb.NoRow)
	}
	return true, err
}

// unindex takes results out of the index.
func (s SQL) unindex(ctx context.Context, run sqldb.Run, account prism.AccountID, ids []prism.ResultID) error {
	if len(ids) == 0 {
		return nil
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id.UUID
	}
	l := sqldb.NewList("unindex")
	l.Add("DELETE FROM result_index WHERE account_id = ", account.UUID)
	l.In(" AND result_id IN (", args)
	return run(ctx, l.Complete(), sqldb.NoRow)
}
