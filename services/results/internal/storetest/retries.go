package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
)

// many is a retry of all failed results of a tenant's prism.
func (f *fixture) many(of tenant) runs.Retry {
	return runs.Retry{Account: of.account, ID: prism.RunID{UUID: f.id()}, Prism: of.prism.ID, Slug: of.prism.Slug, Key: of.keyID}
}

// retrying adds a retry of mine of so many results.
func (f *fixture) retrying(t *testing.T, expected int64) runs.Retry {
	t.Helper()
	r := f.many(f.mine)
	succeeds(t, f.AddRetry(t.Context(), r, expected, f.by(moment(20))))
	return r
}

// under fails the test unless so many results of mine match, and a retry is under way or not.
func (f *fixture) under(t *testing.T, matches int64, underWay bool) {
	t.Helper()
	n, way, err := f.CountRetry(t.Context(), f.many(f.mine))
	succeeds(t, err)
	same(t, n, matches)
	same(t, way, underWay)
}

// failures saves failed results of mine.
func (f *fixture) failures(t *testing.T, n int) (failed []prism.Result) {
	t.Helper()
	for range n {
		failed = append(failed, f.save(t, f.failed(f.mine.prism)).Result)
	}
	return failed
}

// retries are what a worker saves of a lease: a letter for each result in order, or "-" for none.
func retries(l *runs.LeasedChunk, letters string) contract.SaveRows {
	s := contract.SaveRows{Lease: l.Lease}
	for i, r := range l.Retried[:min(len(letters), len(l.Retried))] {
		outcome := contract.RowOutcome{Row: r.Row}
		switch letters[i] {
		case '-':
			continue
		case runs.RowInvalidState:
			outcome.Invalid = "Request too large"
		default:
			outcome.Save = saveOf(l, r.Row, letters[i] == runs.RowOKState)
			outcome.Save.ID, outcome.Save.RetryOf = prism.RowResultID(l.BegunAt, l.Lease.Run, r.Row, 1), &r.ID
			outcome.Save.Ref, outcome.Save.Context, outcome.Save.Fields = r.Ref, r.Context, r.Fields
		}
		s.Rows = append(s.Rows, outcome)
	}
	return s
}

// ends saves the outcomes of a lease, and ends it.
func (f *fixture) ends(t *testing.T, l *runs.LeasedChunk, letters string, at time.Time) {
	t.Helper()
	s := retries(l, letters)
	s.Done = true
	succeeds(t, f.SaveRows(t.Context(), s, at))
}

// spec: retry-many, retry-many-count, retry-many-once, retry-many-stops, retry-many-under-way, retry-many-of-runs
func manyRetryTests() []test {
	return []test{
		// spec: search-of-all
		{"a retry of what a search has found has those that can be retried", func(t *testing.T, f *fixture) {
			failed := f.failures(t, 4)
			f.retry(t, f.ok(f.mine.prism), failed[0])
			succeeds(t, f.delete(t, failed[1].ID))
			r := f.many(f.mine)
			r.Among, r.By = []prism.ResultID{failed[0].ID, failed[1].ID, failed[2].ID, f.save(t, f.ok(f.mine.prism)).Result.ID}, []string{"q"}
			n, _, err := f.CountRetry(t.Context(), r)
			succeeds(t, err)
			same(t, n, 1)
			succeeds(t, f.AddRetry(t.Context(), r, 1, f.by(moment(20))))
			same(t, string(f.entriesOf(t, store.ResultsRetry)[0].Detail), `{"by":["q"],"retrying":1}`)
			l := f.leased(t, moment(21))
			same(t, len(l.Retried), 1)
			same(t, l.Retried[0].ID, failed[2].ID)
			r = f.many(f.mine)
			r.By = []string{"where"}
			n, _, err = f.CountRetry(t.Context(), r)
			succeeds(t, err)
			same(t, n, 0)
		}},
		{"a retry has the failed results of its prism and period, if they are as many as expected", func(t *testing.T, f *fixture) {
			failed := f.failures(t, 3)
			f.save(t, f.ok(f.mine.prism))
			f.save(t, f.failed(f.addPrism(t, f.mine, "other")))
			again := f.failed(f.mine.prism)
			f.retry(t, again, failed[0])
			late := f.failed(f.mine.prism)
			late.CreatedAt = moment(12)
			f.save(t, late)
			f.under(t, 4, false)
			r := f.many(f.mine)
			r.From, r.To = moment(10), moment(12)
			for _, expected := range []int64{0, 2, 4} {
				err := f.AddRetry(t.Context(), r, expected, f.by(moment(20)))
				match, ok := errors.AsType[*store.MatchError](err)
				if !ok || match.Matches != 3 {
					t.Errorf("got error %v, want one that 3 match", err)
				}
			}
			f.under(t, 4, false)
			same(t, f.lease(t, moment(21)), nil)
			succeeds(t, f.AddRetry(t.Context(), r, 3, f.by(moment(20))))
			f.under(t, 4, true)
			entries := f.entriesOf(t, store.ResultsRetry)
			same(t, len(entries), 1)
			same(t, string(entries[0].Detail),
				`{"from":"`+prism.FormatTime(moment(10))+`","to":"`+prism.FormatTime(moment(12))+`","retrying":3}`)
			same(t, entries[0].Object, store.Object{Kind: store.PrismObject, ID: f.mine.prism.ID.UUID, Name: "triage"})
			l := f.leased(t, moment(21))
			want := []prism.Result{failed[1], failed[2], again}
			for i := range want {
				want[i] = *f.stored(t, want[i].ID)
			}
			var got []prism.Result
			for _, found := range l.Retried {
				got = append(got, found.Result)
			}
			same(t, got, want)
			same(t, l.Run, runs.Run{ID: r.ID, Prism: f.mine.prism.ID, Key: f.mine.keyID, Version: 1})
			same(t, f.lease(t, moment(22)), nil)
			f.ends(t, l, "ofo", moment(23))
			f.under(t, 2, false) // the late one, and the one that failed again
		}},
		{"a retry is stored as a single one: once, with the idempotency key", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "k")).Result
			f.retrying(t, 1)
			l := f.leased(t, moment(21))
			s := retries(l, "o")
			succeeds(t, f.SaveRows(t.Context(), s, moment(22)))
			succeeds(t, f.SaveRows(t.Context(), s, moment(23))) // its response was lost
			same(t, f.count(t), 2)
			by := f.stored(t, old.ID).RetriedBy
			f.holds(t, "k", *by)
			record := f.record(t, *by)
			same(t, *record.RetryOf, old.ID)
			same(t, record.Result.CreatedAt, moment(22))
			same(t, record.Result.Key, f.mine.keyID)
			failsWith(t, f.SaveRows(t.Context(), contract.SaveRows{Lease: contract.Lease{
				Account: f.mine.account, Run: l.Run.ID, Token: f.id(),
			}}, moment(24)), contract.ErrLeaseLost)
			succeeds(t, f.SaveRows(t.Context(), contract.SaveRows{Lease: l.Lease, Done: true}, moment(25)))
			f.under(t, 0, false)
		}},
		{"results of several versions are in chunks of their own, at most 200 of each", func(t *testing.T, f *fixture) {
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("l"))))
			for i := range 203 {
				r := f.failed(f.mine.prism)
				r.Version = int32(1 + i%202/201) // the last but one is of version 2
				f.save(t, r)
			}
			f.retrying(t, 203)
			var sizes []int
			for range 3 {
				l := f.leased(t, moment(21))
				sizes = append(sizes, len(l.Retried), int(l.Run.Version))
				f.ends(t, l, strings.Repeat("o", 200), moment(22))
			}
			same(t, sizes[:2], []int{200, 1})
			same(t, sizes[2]+sizes[4], 3)
			f.under(t, 0, false)
		}},
		{"a lease has 512 KiB, or one result", func(t *testing.T, f *fixture) {
			for range 3 {
				r := f.failed(f.mine.prism)
				r.Context = strings.Repeat("x", contract.ChunkBytes*2/5)
				f.save(t, r)
			}
			r := f.failed(f.mine.prism)
			r.Context = strings.Repeat("x", contract.ChunkBytes+1)
			f.save(t, r)
			f.retrying(t, 4)
			for _, want := range []int{2, 1, 1} {
				l := f.leased(t, moment(21))
				same(t, len(l.Retried), want)
				f.ends(t, l, "oo", moment(22))
			}
			f.under(t, 0, false)
		}},
		{"what was deleted or retried by itself meanwhile is left out", func(t *testing.T, f *fixture) {
			failed := f.failures(t, 6)
			f.retrying(t, 6)
			succeeds(t, f.delete(t, failed[0].ID))
			f.retry(t, f.ok(f.mine.prism), failed[1])
			l := f.leased(t, moment(21))
			same(t, len(l.Retried), 4)
			succeeds(t, f.delete(t, failed[2].ID))
			other := f.retry(t, f.ok(f.mine.prism), failed[3]).Result
			f.ends(t, l, "oooi", moment(22))
			same(t, f.count(t), 7) // 4 of the failed ones, two single retries, and one of the retry of many
			same(t, *f.stored(t, failed[3].ID).RetriedBy, other.ID)
			f.under(t, 1, false)
		}},
		{"a retry of which nothing is left ends", func(t *testing.T, f *fixture) {
			failed := f.failures(t, 2)
			f.retrying(t, 2)
			for _, r := range failed {
				succeeds(t, f.delete(t, r.ID))
			}
			same(t, f.lease(t, moment(21)), nil)
			f.under(t, 0, false)
			same(t, f.lease(t, moment(22)), nil)
		}},
		{"a prism has one retry at a time, also of calls at once", func(t *testing.T, f *fixture) {
			f.failures(t, 2)
			made := make([]runs.Retry, 4)
			for i := range made {
				made[i] = f.many(f.mine)
			}
			by := []store.By{f.by(moment(20)), f.by(moment(20)), f.by(moment(20)), f.by(moment(20))}
			winner(t, together(4, func(i int) error { return f.AddRetry(t.Context(), made[i], 2, by[i]) }), is(store.ErrRetrying))
			f.ends(t, f.leased(t, moment(21)), "of", moment(22))
			f.retrying(t, 1) // before TendRuns
			f.ends(t, f.leased(t, moment(23)), "o", moment(24))
			f.under(t, 0, false)
		}},
		{"a lease that ends is another worker's, and what was saved of it stays", func(t *testing.T, f *fixture) {
			f.failures(t, 3)
			f.retrying(t, 3)
			dead := f.leased(t, moment(21))
			succeeds(t, f.SaveRows(t.Context(), retries(dead, "o"), moment(22)))
			f.tend(t, moment(21).Add(contract.LeaseTime-time.Millisecond))
			same(t, f.lease(t, moment(23)), nil)
			f.tend(t, moment(21).Add(contract.LeaseTime))
			l := f.leased(t, moment(70_000))
			same(t, len(l.Retried), 2)
			failsWith(t, f.SaveRows(t.Context(), retries(dead, "-oo"), moment(70_001)), contract.ErrLeaseLost)
			f.ends(t, l, "oo", moment(70_002))
			same(t, f.count(t), 6)
			f.tend(t, moment(70_003))
			f.under(t, 0, false)
		}},
		{"a worker that dies with all saved leaves nothing", func(t *testing.T, f *fixture) {
			f.failures(t, 1)
			f.retrying(t, 1)
			succeeds(t, f.SaveRows(t.Context(), retries(f.leased(t, moment(21)), "o"), moment(22)))
			f.tend(t, moment(21).Add(contract.LeaseTime))
			f.under(t, 0, false)
		}},
		// spec: retry-many-stops
		{"an archived prism and a caller who may not go on end the rest, and what is under way is saved", func(t *testing.T, f *fixture) {
			nothing := func() {}
			member := func(role prism.Role) prism.MemberID {
				m := f.member(t, f.mine, role)
				f.mine.keyID.UUID = m.ID.UUID // spec: session-key-id
				return m.ID
			}
			for _, prepare := range []func() (stop func()){
				func() func() { return func() { f.archive(t, f.mine.prism.ID, 30) } },
				func() func() {
					return func() { succeeds(t, revoked(f.RevokeKey(t.Context(), f.mine.account, f.mine.keyID, moment(30)))) }
				},
				func() func() { f.mine.keyID = f.keyUntil(t, moment(31)); return nothing },
				func() func() { id := member(prism.Caller); return func() { succeeds(t, f.remove(t, id)) } },
				func() func() {
					id := member(prism.Editor)
					return func() {
						_, err := f.change(t, id, api.MemberChange{Role: prism.Reader})
						succeeds(t, err)
					}
				},
			} {
				f.mine.prism = f.addPrism(t, f.mine, "of "+f.id().String())
				stop := prepare()
				f.failures(t, 201)
				f.retrying(t, 201)
				l := f.leased(t, moment(21))
				states, err := f.RenewLeases(t.Context(), []contract.Lease{l.Lease}, moment(22), moment(22).Add(contract.LeaseTime))
				succeeds(t, err)
				same(t, states, []contract.LeaseState{{Lease: l.Lease}})
				stop()
				same(t, f.lease(t, moment(31)), nil)
				states, err = f.RenewLeases(t.Context(), []contract.Lease{l.Lease}, moment(31), moment(31).Add(contract.LeaseTime))
				succeeds(t, err)
				same(t, states, []contract.LeaseState{{Lease: l.Lease, Stop: true}})
				f.tend(t, moment(32))
				f.ends(t, l, strings.Repeat("o", len(l.Retried)-1), moment(33))
				f.tend(t, moment(34))
				if n, err := f.TendRuns(t.Context(), moment(35)); n != 0 || err != nil {
					t.Errorf("tending goes on: %d, %v", n, err)
				}
				n, underWay, err := f.CountRetry(t.Context(), f.many(f.mine))
				succeeds(t, err)
				same(t, underWay, false)
				same(t, n > 0, true)
			}
		}},
		{"a retry ends when the member who made it is removed or may not make one", func(t *testing.T, f *fixture) {
			for i, stop := range []func(prism.MemberID) error{
				func(id prism.MemberID) error { return f.remove(t, id) },
				func(id prism.MemberID) error {
					_, err := f.change(t, id, api.MemberChange{Role: prism.Reader})
					return err
				},
			} {
				f.failures(t, 201)
				m := f.member(t, f.mine, prism.Caller)
				r := f.many(f.mine)
				r.Key = prism.KeyID(m.ID)
				succeeds(t, f.AddRetry(t.Context(), r, int64(201*(i+1)), f.by(moment(19))))
				succeeds(t, stop(m.ID))
				same(t, f.lease(t, moment(31)), nil)
				f.tend(t, moment(32))
				_, underWay, err := f.CountRetry(t.Context(), f.many(f.mine))
				succeeds(t, err)
				same(t, underWay, false)
			}
		}},
		{"a lease lasts until it is not renewed, and its accounts take turns with those of runs", func(t *testing.T, f *fixture) {
			f.takeTurns(t)
			f.failures(t, 201)
			r := f.retrying(t, 201)
			run := f.run(t, f.theirs, moment(19), 5)
			mine := f.run(t, f.mine, moment(19), 5)
			order := []prism.RunID{run.ID, mine.ID, r.ID, r.ID} // who waited longest, then the fewest rows of an account
			var leases []contract.Lease
			for _, want := range order {
				l := f.leased(t, moment(21+len(leases)))
				same(t, l.Run.ID, want)
				leases = append(leases, l.Lease)
			}
			until := moment(40_000).Add(contract.LeaseTime)
			states, err := f.RenewLeases(t.Context(), leases, moment(40_000), until)
			succeeds(t, err)
			for i, s := range states {
				same(t, s, contract.LeaseState{Lease: leases[i]})
			}
			f.tend(t, until.Add(-time.Millisecond))
			same(t, f.lease(t, moment(99_000)), nil)
			q, err := f.QueueOfRuns(t.Context(), moment(99_000))
			succeeds(t, err)
			same(t, q, runs.Queue{Runs: 3, PendingRows: 211, Leases: 4})
		}},
		{"a result of a run keeps its row, and the run's counts change with it", func(t *testing.T, f *fixture) {
			a, b := f.run(t, f.mine, moment(5), 3, 2), f.run(t, f.mine, moment(5), 4)
			for range 3 {
				l := f.leased(t, moment(10))
				f.saves(t, l, strings.Repeat("f", len(l.Chunk.States)), moment(11))
			}
			f.tend(t, moment(12))
			f.tend(t, moment(13))
			f.retrying(t, 9)
			l := f.leased(t, moment(21))
			for _, err := range together(9, func(i int) error {
				return f.SaveRows(t.Context(), retries(l, strings.Repeat("-", i)+"o"), moment(22))
			}) {
				succeeds(t, err)
			}
			f.counts(t, a.ID, "ooooo")
			f.counts(t, b.ID, "oooo")
			rows, results := f.rowResults(t, b.ID, 3)
			same(t, strings.Join(rows, ", "), "1 failed, 1 ok, 2 failed, 2 ok, 3 failed, 3 ok, 4 failed, 4 ok")
			same(t, *f.record(t, results[1].ID).RetryOf, results[0].ID)
			same(t, f.found(t, b.ID).Usage.InputTokens > 0, true)
		}},
	}
}
