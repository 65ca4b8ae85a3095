package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// retryModel is workers, callers and time acting on the failed results of one prism. Workers die: their leases are forgotten, or are
// used when they were lost.
type retryModel struct {
	f       *fixture
	ctx     context.Context // of the test that owns the model
	owner   tenant
	at      time.Time
	leases  []*runs.LeasedChunk // that some worker believes to have
	sent    []contract.SaveRows // to be repeated
	results map[prism.ResultID]prism.Result
	keys    int
	// snapshot is what the last retry of many is of.
	snapshot map[prism.ResultID]bool
	gone     map[prism.ResultID]bool // deleted
}

// checkRetriesAgainstModel lets workers with lost leases and repeated saves, callers who retry many and single results and delete, and
// TendRuns act in any order.
//
// spec: retry-many-once, retry-many-count, key-moves-to-the-retry
func checkRetriesAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	f := newFixture(t, open(t))
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		m := &retryModel{
			f: f, ctx: t.Context(), owner: f.mine, at: moment(1000), results: map[prism.ResultID]prism.Result{}, gone: map[prism.ResultID]bool{},
		}
		m.owner.prism = f.addPrism(t, f.mine, fmt.Sprint("retried-", n))
		for range rapid.IntRange(1, 6).Draw(rt, "failed") {
			m.fail(rt)
		}
		m.many(rt)
		steps := []func(*rapid.T){m.fail, m.many, m.lease, m.lease, m.save, m.save, m.save, m.again, m.tend, m.single, m.delete}
		for range rapid.IntRange(1, 16).Draw(rt, "steps") {
			m.at = m.at.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 17_000, 61_000}).Draw(rt, "ms")) * time.Millisecond)
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
			m.holds(rt)
		}
		m.finish(rt)
	})
}

func (m *retryModel) fail(t *rapid.T) {
	r := m.f.failed(m.owner.prism)
	r.ID, r.CreatedAt = prism.ResultID{UUID: By().Entry}, m.at
	if rapid.Bool().Draw(t, "keyed") {
		m.keys++
		r.IdempotencyKey = fmt.Sprint(m.owner.prism.Slug, m.keys)
	}
	_, err := m.f.SaveResult(m.ctx, m.owner.account, r)
	must(t, err)
	m.results[r.ID] = r
}

// matching are the results that a retry of many is of now.
func (m *retryModel) matching() map[prism.ResultID]bool {
	matching := map[prism.ResultID]bool{}
	for id, r := range m.results {
		if r.Status == prism.Failed && r.RetriedBy == nil {
			matching[id] = true
		}
	}
	return matching
}

func (m *retryModel) many(t *rapid.T) {
	r := m.f.many(m.owner)
	r.ID = prism.RunID{UUID: By().Entry}
	match := m.matching()
	counted, underWay, err := m.f.CountRetry(m.ctx, r)
	must(t, err)
	if int(counted) != len(match) {
		t.Fatalf("%d results match, want %d", counted, len(match))
	}
	expected := counted + int64(rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "wrong"))
	err = m.f.AddRetry(m.ctx, r, expected, store.By{Entry: r.ID.UUID, At: m.at, Actor: operator()})
	mismatch, wrong := errors.AsType[*store.MatchError](err)
	switch {
	case underWay:
		if !errors.Is(err, store.ErrRetrying) {
			t.Fatalf("got error %v while a retry is under way", err)
		}
	case expected != counted:
		if !wrong || mismatch.Matches != counted {
			t.Fatalf("got error %v, want that %d match", err, counted)
		}
	default:
		must(t, err)
		m.snapshot = match
	}
}

func (m *retryModel) lease(t *rapid.T) {
	l, err := m.f.LeaseChunk(m.ctx, By().Entry, m.at, m.at.Add(contract.LeaseTime))
	must(t, err)
	if l == nil {
		return
	}
	for _, r := range l.Retried {
		if !m.snapshot[r.ID] || m.gone[r.ID] || m.results[r.ID].RetriedBy != nil {
			t.Fatalf("result %s was leased", r.ID)
		}
	}
	m.leases = append(m.leases, l)
}

func (m *retryModel) save(t *rapid.T) {
	if len(m.leases) == 0 {
		return
	}
	l := rapid.SampledFrom(m.leases).Draw(t, "lease")
	s := retries(l, rapid.StringOfN(rapid.RuneFrom([]rune("ooffi-")), 0, len(l.Retried), -1).Draw(t, "outcomes"))
	s.Done = rapid.Bool().Draw(t, "done")
	m.sent = append(m.sent, s)
	m.store(t, s)
}

// again repeats a save whose response was lost, maybe long after.
func (m *retryModel) again(t *rapid.T) {
	if len(m.sent) > 0 {
		m.store(t, rapid.SampledFrom(m.sent).Draw(t, "sent"))
	}
}

func (m *retryModel) store(t *rapid.T, s contract.SaveRows) {
	if err := m.f.SaveRows(m.ctx, s, m.at); err != nil && !errors.Is(err, contract.ErrLeaseLost) {
		t.Fatal(err)
	}
	for _, row := range s.Rows {
		if row.Save == nil {
			continue
		}
		facts, err := m.f.ResultFacts(m.ctx, m.owner.digest, row.Save.ID, store.WithInput)
		must(t, err)
		if _, known := m.results[row.Save.ID]; known || facts.Result == nil {
			continue
		}
		if m.gone[row.Save.ID] {
			t.Fatalf("result %s was saved again after its deletion", row.Save.ID)
		}
		m.retried(t, *row.Save.RetryOf, *facts.Result)
	}
}

// retried takes a retry, which must be the first of a result that there is.
func (m *retryModel) retried(t *rapid.T, original prism.ResultID, by prism.Result) {
	old, known := m.results[original]
	if !known || old.RetriedBy != nil {
		t.Fatalf("result %s was retried: deleted %v, retried before %v", original, m.gone[original], old.RetriedBy)
	}
	if by.IdempotencyKey != old.IdempotencyKey {
		t.Fatalf("the retry of %s has the key %q, want %q", original, by.IdempotencyKey, old.IdempotencyKey)
	}
	old.RetriedBy, old.IdempotencyKey = &by.ID, ""
	m.results[original], m.results[by.ID] = old, by
}

func (m *retryModel) tend(t *rapid.T) {
	_, err := m.f.TendRuns(m.ctx, m.at)
	must(t, err)
}

// some draws a result.
func (m *retryModel) some(t *rapid.T, which func(prism.Result) bool) (prism.ResultID, bool) {
	var ids []prism.ResultID
	for id, r := range m.results {
		if which(r) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return prism.ResultID{}, false
	}
	slices.SortFunc(ids, func(a, b prism.ResultID) int { return slices.Compare(a.UUID[:], b.UUID[:]) })
	return rapid.SampledFrom(ids).Draw(t, "result"), true
}

func (m *retryModel) single(t *rapid.T) {
	original, found := m.some(t, func(r prism.Result) bool { return r.Status == prism.Failed && r.RetriedBy == nil })
	if !found {
		return
	}
	r := m.f.ok(m.owner.prism)
	if rapid.Bool().Draw(t, "fails") {
		r = m.f.failed(m.owner.prism)
	}
	r.ID, r.CreatedAt = prism.ResultID{UUID: By().Entry}, m.at
	saved, err := m.f.SaveRetry(m.ctx, m.owner.account, r, original)
	must(t, err)
	m.retried(t, original, saved.Result)
}

func (m *retryModel) delete(t *rapid.T) {
	if id, found := m.some(t, func(prism.Result) bool { return true }); found {
		must(t, m.f.DeleteResult(m.ctx, m.owner.account, id, By()))
		delete(m.results, id)
		m.gone[id] = true
	}
}

// holds compares the stored results with the model's.
func (m *retryModel) holds(t *rapid.T) {
	all, err := m.f.ExportResults(m.ctx, m.owner.account, m.owner.prism.ID, store.Filter{}, store.Page{Limit: 1000})
	must(t, err)
	if len(all) != len(m.results) {
		t.Fatalf("there are %d results, want %d", len(all), len(m.results))
	}
	for _, r := range all {
		agree(t, r, m.results[r.ID])
	}
}

// finish lets one worker go on: whatever happened before, every result of the retry that is there is retried, and the retry ends.
func (m *retryModel) finish(t *rapid.T) {
	m.at = m.at.Add(time.Hour)
	m.tend(t)
	for range 20 {
		m.at = m.at.Add(time.Millisecond)
		l, err := m.f.LeaseChunk(m.ctx, By().Entry, m.at, m.at.Add(contract.LeaseTime))
		must(t, err)
		if l == nil {
			break
		}
		s := retries(l, "oooooooooooooooooooooooooooooooooooooooooooooooooooooooo"[:len(l.Retried)])
		s.Done = true
		m.store(t, s)
	}
	m.holds(t)
	invalid := map[prism.ResultID]bool{}
	for _, s := range m.sent {
		for _, row := range s.Rows {
			if row.Save == nil {
				for _, l := range m.leases {
					if i := slices.IndexFunc(l.Retried, func(r runs.RowResult) bool { return r.Row == row.Row }); i >= 0 && l.Token == s.Token {
						invalid[l.Retried[i].ID] = true
					}
				}
			}
		}
	}
	for id := range m.snapshot {
		if r, there := m.results[id]; there && r.RetriedBy == nil && !invalid[id] {
			t.Fatalf("result %s was never retried", id)
		}
	}
	m.tend(t)
	if _, underWay, err := m.f.CountRetry(m.ctx, m.f.many(m.owner)); err != nil || underWay {
		t.Fatalf("the retry does not end: %v", err)
	}
}
