package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
func (s SQL) younger(ctx context.Context, account prism.AccountID) (ids []prism.ResultID, covered Covered, err error) {
	var until time.Time
	err = s.Run(ctx, sqldb.Query("younger", younger, account.UUID, int64(mostYounger)+1), sqldb.ReadRows(&ids, func(r *sqldb.Row) prism.ResultID {
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
	err = s.Run(ctx, sqldb.Query("read_indexed", readIndexed, account.UUID), sqldb.ReadRow(&c, readCursor))
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if c.old != nil {
		from := c.old.Time()
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
		is(finding.Version, fmt.Sprint(f.Version))
	}
	if f.Model != "" {
		is(finding.Model, f.Model)
	}
	n.Facts = where.Needs(f.Prism)
	if len(n.Words) > 0 || len(n.Facts) > 0 {
		n.Facts = append(n.Facts, finding.PrismNeeds(f.Prism))
	}
	return n
}

// candidates are some results of the index behind a position, in order, among which are all that a filter finds. sorted is how many
// were sorted.
func (s SQL) candidates(
	ctx context.Context, account prism.AccountID, f Filter, o finding.Order, after *Position, limit int,
) (some []Position, sorted int, err error) {
	l := sqldb.NewList("find_candidates")
	if o.ByID() {
		l.Write("-- name: FindCandidates :many\nSELECT f.result_id")
		s.indexed(&l, account, f)
		comparison, direction := "<", "DESC"
		if oldestFirst(o) {
			comparison, direction = ">", "ASC"
		}
		if after != nil {
			l.Add(" AND f.result_id "+comparison+" ", after.ID)
		}
		l.Add(" ORDER BY f.result_id "+direction+" LIMIT ", int64(limit))
		err = s.Run(ctx, l.Complete(), sqldb.ReadRows(&some, func(r *sqldb.Row) Position { return Position{ID: r.UUID()} }))
		return some, 0, err
	}
	l.Write("-- name: FindSorted :many\nWITH x AS MATERIALIZED (SELECT f.result_id AS id, ")
	number(&l, f, o.Subject)
	l.Write(" AS n")
	s.indexed(&l, account, f)
	if after != nil && after.Upto != (prism.UUID{}) {
		l.Add(" AND f.result_id <= ", after.Upto)
	}
	l.Add(" ORDER BY f.result_id DESC LIMIT ", int64(MostSorted))
	l.Write(") SELECT x.id, x.n, (SELECT count(*) FROM x) FROM x")
	comparison, direction := ">", "ASC"
	if o.Descending {
		comparison, direction = "<", "DESC"
	}
	switch {
	case after == nil:
	case after.Without:
		l.Add(" WHERE x.n IS NULL AND x.id < ", after.ID)
	default:
		at := finding.AppendNumber(nil, after.Number, true)
		l.Add(" WHERE (x.n IS NULL OR x.n "+comparison+" ", at)
		l.Add(" OR x.n = ", at)
		l.Add(" AND x.id < ", after.ID)
		l.Write(")")
	}
	l.Add(" ORDER BY x.n "+direction+" NULLS LAST, x.id DESC LIMIT ", int64(limit))
	err = s.Run(ctx, l.Complete(), sqldb.ReadRows(&some, func(r *sqldb.Row) Position {
		p := Position{ID: r.UUID()}
		n, ok := finding.ParseNumber(r.Bytes())
		p.Number, p.Without = n, !ok
		sorted = int(r.Int())
		return p
	}))
	return some, sorted, err
}

// indexed writes which rows f of the index have what a filter needs.
func (s SQL) indexed(l *sqldb.List, account prism.AccountID, f Filter) {
	needs := f.needs(account)
	if needs.None() && !f.Prism.IsZero() { // results have an index by prism
		l.Add(" FROM results r JOIN result_index f ON f.account_id = r.account_id AND f.result_id = r.id WHERE r.account_id = ", account.UUID)
		l.Add(" AND r.prism_id = ", f.Prism.UUID)
	} else {
		l.Add(" FROM result_index f WHERE f.account_id = ", account.UUID)
	}
	s.Having(l, needs)
	for _, c := range f.Where {
		if from, to, ok := c.Interval(); ok && c.Question != "" {
			l.Write(" AND ")
			number(l, f, c.Subject)
			l.Add(" BETWEEN ", finding.AppendNumber(nil, from, true))
			l.Add(" AND ", finding.AppendNumber(nil, to, true))
		}
	}
	if !f.From.IsZero() {
		l.Add(" AND f.result_id >= ", prism.FirstUUID(f.From.Add(-store.MaxIDAge)))
	}
	if !f.To.IsZero() {
		l.Add(" AND f.result_id < ", prism.FirstUUID(f.To.Add(store.MaxIDLead)))
	}
	if f.Ref != nil || f.Key != nil || f.Run != nil { // of which the index knows nothing
		l.Write(" AND f.result_id IN (")
		l.Results("SELECT r.id FROM results r", account, f.Filter)
		l.Write(")")
	}
}

// number writes an expression for the number of a subject in a row f of the index: null if it has none.
func number(l *sqldb.List, f Filter, of finding.Subject) {
	versions := map[int][]string{}
	for version, d := range f.Versions {
		if at := finding.NumberAt(d, of); at > 0 {
			versions[at] = append(versions[at], fmt.Sprint(version))
		}
	}
	place := "NULL"
	if took := (finding.Subject{Measure: finding.Took}); of == took {
		place = fmt.Sprint(finding.NumberAt(prism.Definition{}, took))
	} else if len(versions) > 0 {
		place = "CASE"
		for at, some := range versions {
			slices.Sort(some)
			place += fmt.Sprintf(" WHEN f.version IN (%s) THEN %d", strings.Join(some, ", "), at)
		}
		place += " END"
	}
	l.Add("NULLIF(NULLIF(substr(f.numbers, "+place+", 4), ", []byte{})
	l.Add("), ", []byte{0, 0, 0, 0})
	l.Write(")")
}
