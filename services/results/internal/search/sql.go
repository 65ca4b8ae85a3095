package search

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	readIndexed = `SELECT seq, old FROM index_cursors WHERE account_id = $1`

	// younger finds the results that may not be in the index as they are, on one snapshot. What is in the tail gets its number later.
	younger = `-- name: Younger :many
SELECT y.result_id, y.at FROM (
	SELECT c.seq, c.result_id, c.at FROM changes c WHERE c.account_id = $1 AND c.type IN (1, 3)
	AND c.seq > coalesce((SELECT i.seq FROM index_cursors i WHERE i.account_id = $1), 0)
	UNION ALL SELECT 9223372036854775807, t.result_id, t.at FROM tail t WHERE t.account_id = $1 AND t.type IN (1, 3)
) y ORDER BY y.seq LIMIT $2`
)

// younger are the results that may not be in the index as they are, and what the index does not cover.
func (q *searching) younger(ctx context.Context) (ids []prism.ResultID, covered finding.Covered, err error) {
	var until time.Time
	err = q.Run(ctx, sqldb.Query("younger", younger, q.account.UUID, int64(mostYounger)+1), sqldb.ReadRows(&ids, func(r *sqldb.Row) prism.ResultID {
		id := readID(r)
		until = r.Time()
		return id
	}))
	if err != nil {
		return nil, covered, err
	}
	if len(ids) > mostYounger {
		ids, covered.Until = ids[:mostYounger], &until
	}
	var c cursor
	err = q.Run(ctx, sqldb.Query("read_indexed", readIndexed, q.account.UUID), sqldb.ReadRow(&c, readCursor))
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if old := later(c.old, q.old); old != nil {
		from := old.Time()
		if now := time.Now(); from.After(now) {
			from = now
		}
		covered.From = &from
	}
	slices.SortFunc(ids, newestFirst)
	return slices.Compact(ids), covered, err
}

// needs are what the index has of every result that a filter finds.
func (f *Filter) needs(account prism.AccountID) finding.Needs {
	n := finding.Needs{Words: f.Words.Needs(account)}
	if f.Prism.IsZero() {
		return n
	}
	where := f.Where
	is := func(m finding.Measure, value string) {
		where = append(where[:len(where):len(where)], finding.Condition{Subject: finding.Subject{Measure: m}, Operator: finding.Is, Values: []string{value}})
	}
	if f.Status != "" {
		is(finding.Status, string(f.Status))
	}
	if f.Version != 0 {
		is(finding.Version, strconv.Itoa(int(f.Version)))
	}
	if f.Model != "" {
		is(finding.Model, f.Model)
	}
	n.Facts = where.Needs(f.Prism)
	if len(n.Words) > 0 && len(n.Facts) == 0 { // other facts are of the prism, too
		n.Facts = append(n.Facts, finding.PrismNeeds(f.Prism))
	}
	return n
}

// candidates reads ahead the next results of the index, in order, among which are all that the filter finds.
func (q *searching) candidates(ctx context.Context, limit int) error {
	if q.order.ByID() {
		l := sqldb.NewList("find_candidates")
		l.Write("-- name: FindCandidates :many\n")
		_, direction := q.direction()
		q.union(&l, direction, limit, func(needs finding.Needs) {
			l.Write("SELECT f.result_id")
			q.indexed(&l, needs)
			q.next(&l, "f.result_id", limit)
		})
		return q.readCandidates(ctx, &l, func(r *sqldb.Row) Position { return Position{ID: r.UUID()} })
	}
	l := sqldb.NewList("find_sorted")
	l.Write("-- name: FindSorted :many\nWITH x AS MATERIALIZED (")
	q.union(&l, "DESC", MostSorted, func(needs finding.Needs) {
		l.Write("SELECT f.result_id AS id, ")
		q.number(&l, q.order.Subject)
		l.Write(" AS n")
		q.indexed(&l, needs)
		l.Add(" AND f.result_id <= ", q.upto)
		writeOrder(&l, "f.result_id", "DESC", MostSorted)
	})
	l.Write(") SELECT x.id, x.n, (SELECT count(*) FROM x) FROM x")
	comparison, direction := ">", "ASC"
	if q.order.Descending {
		comparison, direction = "<", "DESC"
	}
	switch {
	case q.at == nil:
	case q.at.Without:
		l.Add(" WHERE x.n IS NULL AND x.id < ", q.at.ID)
	default:
		at := finding.AppendNumber(nil, q.at.Number, true)
		l.Add(" WHERE (x.n IS NULL OR x.n "+comparison+" ", at)
		l.Add(" OR x.n = ", at)
		l.Add(" AND x.id < ", q.at.ID)
		l.Write(")")
	}
	writeOrder(&l, "x.n "+direction+" NULLS LAST, x.id", "DESC", limit)
	return q.readCandidates(ctx, &l, func(r *sqldb.Row) Position {
		p := Position{ID: r.UUID(), Upto: q.upto}
		n, ok := finding.ParseNumber(r.Bytes())
		p.Number, p.Without = n, !ok
		if r.Int() == MostSorted {
			q.covered.Newest = MostSorted
		}
		return p
	})
}

// setRarity asks how many results have what is needed. What a list of a whole prism needs is the fact that its results share, unless
// results are found in less time by their prism.
func (q *searching) setRarity(ctx context.Context) (err error) {
	needs := q.needs
	if needs.None() && !q.filter.Prism.IsZero() {
		needs.Facts = [][]finding.Term{finding.PrismNeeds(q.filter.Prism)}
	}
	if needs.None() {
		return nil
	}
	if q.rarity, err = q.Rarity(ctx, needs); q.rarity != sqldb.Some {
		q.needs = needs
	}
	return err
}

// readCandidates reads ahead. How many have the terms of a filter differs by far, so that no plan is the best one for all filters.
func (q *searching) readCandidates(ctx context.Context, l *sqldb.List, read func(*sqldb.Row) Position) error {
	s := l.Complete()
	s.PlanByArgs = true
	return q.Run(ctx, s, sqldb.ReadRows(&q.ahead, read))
}

// union writes a list of what the filter needs: the first rows of each alternative, each once, and of these the first.
func (q *searching) union(l *sqldb.List, direction string, limit int, list func(finding.Needs)) {
	all := q.Alternatives(q.needs)
	if len(all) == 1 {
		list(all[0])
		return
	}
	between := "("
	for _, needs := range all {
		l.Write(between)
		list(needs)
		between = ") UNION ("
	}
	l.Write(")")
	writeOrder(l, "1", direction, limit)
}

// next writes that a list goes on behind the position, by the ids of a column.
func (q *searching) next(l *sqldb.List, column string, limit int) {
	comparison, direction := q.direction()
	if q.at != nil {
		l.Add(" AND "+column+" "+comparison+" ", q.at.ID)
	}
	writeOrder(l, column, direction, limit)
}

// direction is how ids behind the position compare with its id, and how they are sorted.
func (q *searching) direction() (comparison, direction string) {
	if oldestFirst(q.order) {
		return ">", "ASC"
	}
	return "<", "DESC"
}

func writeOrder(l *sqldb.List, columns, direction string, limit int) {
	l.Add(" ORDER BY "+columns+" "+direction+" LIMIT ", int64(limit))
}

// indexed writes which rows f of the index have what is needed.
func (q *searching) indexed(l *sqldb.List, needs finding.Needs) {
	f := &q.filter
	if needs.None() && !f.Prism.IsZero() { // results have an index by prism
		l.Add(" FROM results r JOIN result_index f ON f.account_id = r.account_id AND f.result_id = r.id WHERE r.account_id = ", q.account.UUID)
		l.Add(" AND r.prism_id = ", f.Prism.UUID)
	} else {
		q.Having(l, q.account, needs, q.rarity)
	}
	for _, c := range f.Where {
		if from, to, ok := c.Interval(); ok && c.Question != "" {
			l.Write(" AND ")
			q.number(l, c.Subject)
			l.Add(" BETWEEN ", finding.AppendNumber(nil, from, true))
			l.Add(" AND ", finding.AppendNumber(nil, to, true))
		}
	}
	l.IDsBetween("f.result_id", f.From, f.To)
	if f.Ref != nil || f.Key != nil || f.Run != nil || f.Assignee != nil || f.IDs != nil { // of which the index knows nothing
		l.Write(" AND f.result_id IN (")
		l.Results("SELECT r.id FROM results r", q.account, f.Filter)
		l.Write(")")
	}
}

// number writes an expression for the number of a subject in a row f of the index: null if it has none.
func (q *searching) number(l *sqldb.List, subject finding.Subject) {
	versions := map[int][]string{}
	for _, version := range slices.Sorted(maps.Keys(q.filter.Versions)) {
		if at := finding.NumberAt(q.filter.Versions[version], subject); at > 0 {
			versions[at] = append(versions[at], strconv.Itoa(int(version)))
		}
	}
	place := "NULL"
	if took := (finding.Subject{Measure: finding.Took}); subject == took {
		place = strconv.Itoa(finding.NumberAt(prism.Definition{}, took))
	} else if len(versions) > 0 {
		place = "CASE"
		for _, at := range slices.Sorted(maps.Keys(versions)) {
			place += " WHEN f.version IN (" + strings.Join(versions[at], ", ") + ") THEN " + strconv.Itoa(at)
		}
		place += " END"
	}
	l.Add("NULLIF(NULLIF(substr(f.numbers, "+place+", 4), ", []byte{})
	l.Add("), ", []byte{0, 0, 0, 0})
	l.Write(")")
}
