package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
)

// watch has the fixture's prism watched from a time.
func (f *fixture) watch(t *testing.T, of tenant, at time.Time, c drift.Change) {
	t.Helper()
	c.Watched, c.Version = true, max(1, c.Version)
	succeeds(t, f.SetDrift(t.Context(), of.account, of.prism.ID, c, f.by(at)))
}

// taken is the watch that is due at a time.
func (f *fixture) taken(t *testing.T, at time.Time) drift.Watch {
	t.Helper()
	w, err := f.TakeDriftWatch(t.Context(), at, at.Add(time.Minute))
	succeeds(t, err)
	return w
}

// joined is what the suite stores as counts: text, of which the sum is both.
func joined(stored, more []byte) ([]byte, error) { return fmt.Appendf(stored, "+%s", more), nil }

// countsOf reads the counts of spans of version 1 as text.
func (f *fixture) countsOf(t *testing.T, span drift.Span) (all []string) {
	t.Helper()
	far := moment(0).Add(1000 * 24 * time.Hour)
	counts, err := f.DriftCounts(t.Context(), f.mine.account, f.mine.prism.ID, 1, span, time.UnixMilli(0), far)
	succeeds(t, err)
	for _, c := range counts {
		all = append(all, fmt.Sprintf("%s %d %s", c.At.Format("2006-01-02T15:04"), c.Results, c.Counts))
	}
	return all
}

// spec: drift-counting
func driftTests() []test {
	hour := moment(0).Truncate(time.Hour)
	count := func(version int32, span drift.Span, at time.Time, results int64, counts string) drift.SpanCounts {
		return drift.SpanCounts{Version: version, Span: span, At: at, Results: results, Counts: []byte(counts)}
	}
	return []test{
		// spec: drift-set
		{"a prism is watched once, and not before or after", func(t *testing.T, f *fixture) {
			_, err := f.DriftWatch(t.Context(), f.mine.account, f.mine.prism.ID)
			failsWith(t, err, store.ErrNotFound)
			_, err = f.TakeDriftWatch(t.Context(), moment(9), moment(10))
			failsWith(t, err, store.ErrNotFound)
			f.watch(t, f.mine, moment(5), drift.Change{Start: prism.UUID{7}})
			f.watch(t, f.mine, moment(6), drift.Change{Start: prism.UUID{8}})
			w, err := f.DriftWatch(t.Context(), f.mine.account, f.mine.prism.ID)
			succeeds(t, err)
			want := drift.Watch{Account: f.mine.account, Prism: f.mine.prism.ID, WatchedAt: moment(5), Reached: prism.UUID{7}}
			same(t, w, want)
			_, err = f.DriftWatch(t.Context(), f.theirs.account, f.mine.prism.ID)
			failsWith(t, err, store.ErrNotFound)
			succeeds(t, f.SetDrift(t.Context(), f.mine.account, f.mine.prism.ID, drift.Change{}, f.by(moment(7))))
			_, err = f.DriftWatch(t.Context(), f.mine.account, f.mine.prism.ID)
			failsWith(t, err, store.ErrNotFound)
			err = f.SetDrift(t.Context(), f.theirs.account, f.mine.prism.ID, drift.Change{Watched: true}, f.by(moment(7)))
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: audit-actions, drift-audit
		{"each change is one entry of the audit, and what changes nothing is none", func(t *testing.T, f *fixture) {
			period := drift.Change{Version: 2, From: hour, To: hour.Add(time.Hour)}
			for range 2 {
				f.watch(t, f.mine, moment(5), drift.Change{})
			}
			for range 2 {
				f.watch(t, f.mine, moment(6), period)
			}
			f.watch(t, f.mine, moment(7), drift.Change{Version: 2})
			for range 2 {
				succeeds(t, f.SetDrift(t.Context(), f.mine.account, f.mine.prism.ID, drift.Change{Version: 9}, f.by(moment(8))))
			}
			var details []string
			for _, e := range f.entriesOf(t, store.PrismDrift) {
				same(t, e.Object, store.Object{Kind: store.PrismObject, ID: f.mine.prism.ID.UUID, Name: "triage"})
				details = append(details, string(e.Detail))
			}
			slices.Reverse(details)
			same(t, details, []string{
				`{"watched":true,"version":1}`,
				`{"watched":true,"version":2,"from":"2026-03-29T00:00:00.000Z","to":"2026-03-29T01:00:00.000Z"}`,
				`{"watched":true,"version":2}`, `{"watched":false}`,
			})
		}},
		// spec: drift-reference-set
		{"a reference period is of one version, and stays while results are counted", func(t *testing.T, f *fixture) {
			f.watch(t, f.mine, moment(5), drift.Change{Version: 2, From: hour, To: hour.Add(time.Hour)})
			first := drift.VersionReference{Version: 2, First: 3, FirstFrom: moment(1), FirstTo: moment(2)}
			other := drift.VersionReference{Version: 1, First: 1, FirstFrom: moment(3), FirstTo: moment(3)}
			succeeds(t, f.AddDrift(t.Context(), f.taken(t, moment(6)), drift.Step{
				Reached: prism.UUID{1}, DueAt: moment(7), Versions: []drift.VersionReference{first, other}, Add: joined,
			}))
			first.From, first.To = hour, hour.Add(time.Hour)
			for _, want := range []drift.VersionReference{first, other, {Version: 3}} {
				v, err := f.DriftVersion(t.Context(), f.mine.account, f.mine.prism.ID, want.Version)
				succeeds(t, err)
				same(t, v, want)
			}
			f.watch(t, f.mine, moment(8), drift.Change{Version: 2})
			first.From, first.To = time.Time{}, time.Time{}
			v, err := f.DriftVersion(t.Context(), f.mine.account, f.mine.prism.ID, 2)
			succeeds(t, err)
			same(t, v, first)
		}},
		{"counts of a span are added, and read by version, span and time", func(t *testing.T, f *fixture) {
			f.watch(t, f.mine, moment(5), drift.Change{})
			later := hour.Add(time.Hour)
			for i, counts := range [][]drift.SpanCounts{
				{count(1, drift.OfHour, later, 2, "b"), count(1, drift.OfHour, hour, 1, "a"), count(2, drift.OfHour, hour, 9, "x")},
				{count(1, drift.OfHour, later, 3, "c"), count(1, drift.OfTenMinutes, hour, 5, "t"), count(1, drift.OfFirst, drift.FirstAt(), 4, "f")},
			} {
				step := drift.Step{Reached: prism.UUID{byte(i + 1)}, DueAt: moment(6), Counts: counts, Add: joined}
				succeeds(t, f.AddDrift(t.Context(), f.taken(t, moment(6)), step))
			}
			same(t, f.countsOf(t, drift.OfHour), []string{"2026-03-29T00:00 1 a", "2026-03-29T01:00 5 b+c"})
			same(t, f.countsOf(t, drift.OfTenMinutes), []string{"2026-03-29T00:00 5 t"})
			same(t, f.countsOf(t, drift.OfFirst), []string{"1970-01-01T00:00 4 f"})
			some, err := f.DriftCounts(t.Context(), f.mine.account, f.mine.prism.ID, 1, drift.OfHour, hour, later)
			succeeds(t, err)
			same(t, some, []drift.SpanCounts{count(1, drift.OfHour, hour, 1, "a")})
			none, err := f.DriftCounts(t.Context(), f.theirs.account, f.mine.prism.ID, 1, drift.OfHour, hour, later)
			succeeds(t, err)
			same(t, len(none), 0)
		}},
		// spec: drift-not-watched
		{"what was counted is deleted with the watch", func(t *testing.T, f *fixture) {
			f.watch(t, f.mine, moment(5), drift.Change{From: hour, To: hour.Add(time.Hour)})
			w := f.taken(t, moment(6))
			step := drift.Step{
				Reached: prism.UUID{1}, DueAt: moment(7), Counts: []drift.SpanCounts{count(1, drift.OfHour, hour, 1, "a")}, Add: joined,
			}
			succeeds(t, f.AddDrift(t.Context(), w, step))
			w.Reached = step.Reached
			succeeds(t, f.SetDrift(t.Context(), f.mine.account, f.mine.prism.ID, drift.Change{}, f.by(moment(8))))
			failsWith(t, f.AddDrift(t.Context(), w, step), store.ErrNotFound)
			f.watch(t, f.mine, moment(9), drift.Change{Start: w.Reached})
			failsWith(t, f.AddDrift(t.Context(), w, step), store.ErrNotFound) // it is another watch
			same(t, len(f.countsOf(t, drift.OfHour)), 0)
			v, err := f.DriftVersion(t.Context(), f.mine.account, f.mine.prism.ID, 1)
			succeeds(t, err)
			same(t, v, drift.VersionReference{Version: 1})
		}},
		{"a step is stored once, whoever counts it", func(t *testing.T, f *fixture) {
			f.watch(t, f.mine, moment(5), drift.Change{})
			w := f.taken(t, moment(6))
			var (
				workers sync.WaitGroup
				errs    [4]error
			)
			for i := range errs {
				workers.Go(func() {
					errs[i] = f.AddDrift(t.Context(), w, drift.Step{
						Reached: prism.UUID{byte(i + 1)}, DueAt: moment(7), Counts: []drift.SpanCounts{count(1, drift.OfHour, hour, 1, "a")}, Add: joined,
					})
				})
			}
			workers.Wait()
			stored := 0
			for _, err := range errs {
				if err == nil {
					stored++
				} else if !errors.Is(err, store.ErrNotFound) {
					t.Error(err)
				}
			}
			same(t, stored, 1)
			same(t, f.countsOf(t, drift.OfHour), []string{"2026-03-29T00:00 1 a"})
		}},
		{"a watch is leased by one worker, the one that is due the longest first", func(t *testing.T, f *fixture) {
			f.takeTurns(t)
			f.watch(t, f.mine, moment(5), drift.Change{})
			f.watch(t, f.theirs, moment(4), drift.Change{})
			same(t, f.taken(t, moment(6)).Account, f.theirs.account)
			same(t, f.taken(t, moment(7)).Account, f.mine.account)
			_, err := f.TakeDriftWatch(t.Context(), moment(8), moment(9))
			failsWith(t, err, store.ErrNotFound)
			same(t, f.taken(t, moment(8).Add(time.Minute)).Account, f.theirs.account) // its worker died
		}},
		// spec: drift-spans
		{"spans that are too old are deleted, but not those of a reference period", func(t *testing.T, f *fixture) {
			now := hour.Add(200 * 24 * time.Hour)
			oldest, recent := now.Add(-drift.HistoryTime), now.Add(-drift.RecentTime)
			f.watch(t, f.mine, moment(5), drift.Change{From: hour, To: hour.Add(time.Hour)})
			succeeds(t, f.AddDrift(t.Context(), f.taken(t, moment(6)), drift.Step{
				Reached: prism.UUID{1}, DueAt: now, Ended: true, Add: joined, Counts: []drift.SpanCounts{
					count(1, drift.OfFirst, drift.FirstAt(), 1, "f"),
					count(1, drift.OfHour, hour, 1, "r"), count(2, drift.OfHour, hour, 1, "x"),
					count(1, drift.OfHour, hour.Add(time.Hour), 1, "x"), count(1, drift.OfHour, oldest, 1, "k"),
					count(1, drift.OfTenMinutes, recent.Add(-10*time.Minute), 1, "x"), count(1, drift.OfTenMinutes, recent, 1, "t"),
				},
			}))
			same(t, f.countsOf(t, drift.OfFirst), []string{"1970-01-01T00:00 1 f"})
			same(t, f.countsOf(t, drift.OfHour), []string{"2026-03-29T00:00 1 r", oldest.Format("2006-01-02T15:04") + " 1 k"})
			same(t, f.countsOf(t, drift.OfTenMinutes), []string{recent.Format("2006-01-02T15:04") + " 1 t"})
			others, err := f.DriftCounts(t.Context(), f.mine.account, f.mine.prism.ID, 2, drift.OfHour, hour, now)
			succeeds(t, err)
			same(t, len(others), 0)
		}},
		{"the results of a prism are read in the order of their ids, failed ones too", func(t *testing.T, f *fixture) {
			var want []drift.Answer
			for i := range 4 {
				r := f.ok(f.mine.prism)
				if i == 2 {
					r = f.failed(f.mine.prism)
				}
				f.save(t, r)
				want = append(want, drift.Answer{ID: r.ID, Version: 1, Answers: r.Answers})
			}
			f.save(t, f.ok(f.addPrism(t, f.mine, "other")))
			read := func(after, last prism.UUID) []drift.Answer {
				answers, err := f.DriftAnswers(t.Context(), f.mine.account, f.mine.prism.ID, after, last)
				succeeds(t, err)
				return answers
			}
			same(t, read(prism.UUID{}, prism.UUID{0xff}), want)
			same(t, read(want[0].ID.UUID, want[2].ID.UUID), want[1:3])
			same(t, len(read(want[3].ID.UUID, prism.UUID{0xff})), 0)
		}},
		// spec: drift-late-results
		{"the oldest lease of a prism is that of a run or a retry", func(t *testing.T, f *fixture) {
			oldest := func(of tenant) time.Time {
				at, err := f.OldestLease(t.Context(), of.account, of.prism.ID)
				succeeds(t, err)
				return at
			}
			same(t, oldest(f.mine), time.Time{})
			f.run(t, f.mine, moment(5), 2, 2)
			same(t, oldest(f.mine), time.Time{})
			first, second := f.leased(t, moment(10)), f.leased(t, moment(20))
			same(t, oldest(f.mine), moment(10))
			same(t, oldest(f.theirs), time.Time{})
			for _, l := range []*runs.LeasedChunk{first, second} {
				save := outcomes(l, "oo")
				save.Done = true
				succeeds(t, f.SaveRows(t.Context(), save, moment(21)))
			}
			same(t, oldest(f.mine), time.Time{})
			f.save(t, f.failed(f.mine.prism))
			f.retrying(t, 1)
			l, err := f.LeaseChunk(t.Context(), prism.UUID{9}, moment(40), moment(40).Add(contract.LeaseTime))
			succeeds(t, err)
			same(t, l != nil, true)
			same(t, oldest(f.mine), moment(40))
		}},
		// spec: drift-slots
		{"watches are listed with the latest versions, the first one of each account first, without those of archived prisms", func(t *testing.T, f *fixture) {
			f.takeTurns(t)
			f.watch(t, f.mine, moment(5), drift.Change{})
			f.watch(t, f.theirs, moment(7), drift.Change{})
			later := tenant{account: f.mine.account, prism: f.addPrism(t, f.mine, "later")}
			f.watch(t, later, moment(6), drift.Change{})
			archived := tenant{account: f.mine.account, prism: f.addPrism(t, f.mine, "old")}
			f.watch(t, archived, moment(3), drift.Change{})
			_, err := f.Store.SetArchived(t.Context(), f.mine.account, archived.prism.ID, true, f.by(moment(6)))
			succeeds(t, err)
			succeeds(t, f.Store.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("a")), nil, f.by(moment(7))))
			want := []prism.PrismID{f.mine.prism.ID, f.theirs.prism.ID, later.prism.ID}
			for limit, left := range map[int]int64{1: 2, 2: 1, 3: 0, 9: 0} {
				watches, more, err := f.ListDriftWatches(t.Context(), limit)
				succeeds(t, err)
				same(t, more, left)
				var got []prism.PrismID
				for _, w := range watches {
					got = append(got, w.Prism)
				}
				same(t, got, want[:min(limit, len(want))])
				same(t, watches[0].Latest, 2)
			}
		}},
	}
}
