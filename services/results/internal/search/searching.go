package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// searching is a search that goes on behind a position, until it has seen enough.
type searching struct {
	SQL
	operation string // of its first statements
	account   prism.AccountID
	filter    Filter
	needs     finding.Needs // of the filter
	rarity    sqldb.Rarity  // of the needs
	order     finding.Order
	upto      prism.UUID
	ahead     []Position // candidates that were not looked at, behind which there are others unless they are the last
	last      bool
	old       *prism.UUID // from which on results of prisms that were left out are indexed
	at        *Position   // behind which nothing was looked at
	looked    int
	covered   finding.Covered
	// visit is called with what the filter finds, in order. It returns false when it has seen enough.
	visit func(at Position, f *finding.Found) bool
	// stops tells whether to stop although there may be more.
	stops func(looked int) bool
}

// Search implements Store.
func (s SQL) Search(
	ctx context.Context, account prism.AccountID, f Filter, o finding.Order, after *Position, limit int,
) (page Page, err error) {
	q := &searching{SQL: s, operation: "search_results", account: account, filter: f, needs: f.needs(account), order: o, at: after}
	q.visit = func(at Position, _ *finding.Found) bool {
		if len(page.Hits) == limit {
			page.Next = &page.Hits[limit-1]
			return false
		}
		page.Hits = append(page.Hits, at)
		return true
	}
	q.stops = func(looked int) bool { return looked >= mostLooked }
	more, err := q.run(ctx, limit+1)
	if page.Covered = q.covered; more && page.Next == nil {
		page.Next = q.at
	}
	return page, err
}

// CountLimit is how long results are counted: those that are counted until then are the newest.
const CountLimit = 400 * time.Millisecond

// Visit implements Store.
func (s SQL) Visit(ctx context.Context, account prism.AccountID, f Filter, count func(*finding.Found)) (finding.Covered, error) {
	began := time.Now()
	q := &searching{SQL: s, operation: "count_results", account: account, filter: f, needs: f.needs(account)}
	q.visit = func(_ Position, f *finding.Found) bool {
		count(f)
		return true
	}
	q.stops = func(int) bool { return time.Since(began) > CountLimit }
	more, err := q.run(ctx, together)
	if more {
		if from := q.at.ID.Time(); q.covered.From == nil || q.covered.From.Before(from) {
			q.covered.From = &from
		}
	}
	return q.covered, err
}

// Counts implements Store.
func (s SQL) Counts(ctx context.Context, account prism.AccountID, f Filter, by []finding.Subject) (c Counts, err error) {
	counts := make([]map[string]int64, len(by))
	for i := range counts {
		counts[i] = map[string]int64{}
	}
	covered, err := s.Visit(ctx, account, f, func(f *finding.Found) {
		c.Total++
		for i, of := range by {
			for _, value := range f.Counted(of) {
				counts[i][value]++
			}
		}
	})
	c.Exact = covered.Complete()
	for _, values := range counts {
		var some []ValueCount
		for value, n := range values {
			some = append(some, ValueCount{value, n})
		}
		slices.SortFunc(some, func(a, b ValueCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Value, b.Value)) })
		c.By = append(c.By, some)
	}
	return c, err
}

// run looks at results, the first ones together, and tells whether there may be more behind those that it looked at.
func (q *searching) run(ctx context.Context, first int) (more bool, err error) {
	if err := q.leaveOut(ctx); err != nil {
		return false, err
	}
	if q.order.ByID() {
		goesOn, more, err := q.walk(ctx, first)
		if !goesOn || err != nil {
			return more, err
		}
	}
	changed, covered, err := q.younger(ctx)
	if q.covered = covered; err != nil {
		return false, err
	}
	if !q.order.ByID() {
		if err := q.setUpto(ctx); err != nil {
			return false, err
		}
	}
	if err := q.setRarity(ctx); err != nil {
		return false, err
	}
	younger, err := q.FindAmong(ctx, q.Run, q.account, q.filter, changed)
	if err != nil {
		return false, err
	}
	rest := q.behind(younger)
	for n := first; ; n = together {
		some, ended, err := q.take(ctx, n)
		if err != nil {
			return false, err
		}
		var ids []prism.ResultID
		for _, p := range some { // what has changed is among the rest, where it is now
			id := prism.ResultID{UUID: p.ID}
			if _, is := slices.BinarySearchFunc(changed, id, newestFirst); !is {
				ids = append(ids, id)
			}
		}
		found, err := q.FindAmong(ctx, q.Run, q.account, q.filter, ids)
		if err != nil {
			return false, err
		}
		q.looked += len(some)
		hits, upto := q.behind(found), len(rest)
		if !ended {
			last := some[len(some)-1]
			q.at = &last
			upto, _ = slices.BinarySearchFunc(rest, last, func(h hit, p Position) int { return compare(q.order, h.at, p) })
		}
		hits = append(hits, rest[:upto]...)
		slices.SortFunc(hits, func(a, b hit) int { return compare(q.order, a.at, b.at) })
		for _, h := range hits {
			if !q.visit(h.at, h.Found) {
				return true, nil
			}
		}
		if rest = rest[upto:]; ended {
			return false, nil
		}
		if q.stops(q.looked) {
			return true, nil
		}
	}
}

// take is the next candidates, n at most, and tells whether they are the last. Many are read ahead: the next page of them costs as much.
func (q *searching) take(ctx context.Context, n int) (some []Position, ended bool, err error) {
	if len(q.ahead) == 0 {
		limit := max(n, readAhead)
		if err := q.candidates(ctx, limit); err != nil {
			return nil, false, err
		}
		q.last = len(q.ahead) < limit
	}
	n = min(n, len(q.ahead))
	some, q.ahead = q.ahead[:n], q.ahead[n:]
	return some, q.last && len(q.ahead) == 0, nil
}

// walk looks at the next results in the order of their ids without the index, and tells whether to go on with the index. If it does not
// go on there may be more: where an index is of no use, walk looks at as many results as a search may.
func (q *searching) walk(ctx context.Context, first int) (goesOn, more bool, err error) {
	indexed := !q.needs.None()
	hits := 0
	for n := first; q.looked == 0 || !q.stops(q.looked); n = min(together, 4*n) {
		if indexed && q.looked > 0 && (q.looked >= newest || q.looked >= few && hits*frequent < q.looked) {
			break
		}
		l := sqldb.NewList(q.operation)
		q.filter.list(&l, q.account)
		q.next(&l, "r.id", n)
		results, err := q.read(ctx, q.Run, q.account, l.Complete(), q.filter.input())
		if err != nil {
			return false, false, err
		}
		for _, f := range results {
			f.Definition = q.filter.Versions[f.Result.Version]
			at := Position{ID: f.Result.ID.UUID}
			if q.filter.finds(f) {
				if hits++; !q.visit(at, f) {
					return false, true, nil
				}
			}
			q.at = &at
		}
		if q.looked += n; len(results) < n {
			return false, false, nil
		}
	}
	return indexed, true, nil
}

type hit struct {
	at Position
	*finding.Found
}

// behind are those of some results that are behind the position, in order.
func (q *searching) behind(found []*finding.Found) (hits []hit) {
	for _, f := range found {
		at := positionOf(q.order, f)
		at.Upto = q.upto
		if q.at == nil || compare(q.order, *q.at, at) < 0 {
			hits = append(hits, hit{at, f})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return compare(q.order, a.at, b.at) })
	return hits
}

// setUpto keeps what is sorted from one page to the next one: the newest results, up to the one that is newest for the first page.
func (q *searching) setUpto(ctx context.Context) error {
	if q.at != nil {
		q.upto = q.at.Upto
		return nil
	}
	l := sqldb.NewList("newest_result")
	l.Add("SELECT r.id FROM results r WHERE r.account_id = ", q.account.UUID)
	l.Write(" ORDER BY r.id DESC LIMIT 1")
	var ids []prism.ResultID
	err := q.Run(ctx, l.Complete(), sqldb.ReadRows(&ids, readID))
	if len(ids) > 0 {
		q.upto = ids[0].UUID
	}
	return err
}
