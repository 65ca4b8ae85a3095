package storetest

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/usage"
)

// spec: usage-is-exact
func usageTests() []test {
	day := prism.DayOf(moment(0))
	return []test{
		{"an account without results used nothing", func(t *testing.T, f *fixture) {
			same(t, f.usage(t, usage.Filter{By: api.ByDay}), nil)
		}},
		// spec: usage-days
		{"a result is of the day in UTC on which it was saved", func(t *testing.T, f *fixture) {
			for _, at := range []time.Time{moment(0), moment(3_600_000), (day + 1).Start().Add(-time.Millisecond), (day + 1).Start()} {
				r := f.ok(f.mine.prism)
				r.CreatedAt = at
				f.save(t, r)
			}
			same(t, f.usage(t, usage.Filter{By: api.ByDay}), []usage.Sum{
				{Day: day, Results: 3}, {Day: day + 1, Results: 1},
			})
			same(t, f.usage(t, usage.Filter{By: api.ByDay, From: day + 1, To: day + 2}), []usage.Sum{{Day: day + 1, Results: 1}})
			same(t, f.usage(t, usage.Filter{By: api.ByDay, From: day, To: day}), nil)
		}},
		{"usage is added up by day, prism, model and key, and of each filter", func(t *testing.T, f *fixture) {
			other, another := f.addPrism(t, f.mine, "other"), prism.KeyID{UUID: f.id()}
			f.save(t, called(f.ok(f.mine.prism), f.mine.keyID, "fast", 10, 3_000_000_000_001, "USD"))
			f.save(t, called(f.failed(other), another, "fast", 5, 4_999_999_999_999, "USD"))
			f.save(t, called(f.ok(other), another, "strong", 1, 7, "EUR"))
			f.save(t, called(f.ok(other), another, "strong", 1, 0, ""))
			f.save(t, f.ok(other))
			_, err := f.SaveResult(t.Context(), f.theirs.account, f.ok(f.theirs.prism))
			succeeds(t, err)
			fast := usage.Sum{
				Currency: "USD", Results: 2, Failed: 1, InputTokens: 15, OutputTokens: 30, Cost: prism.Cost{Whole: 8},
			}
			euro := usage.Sum{Currency: "EUR", Results: 1, InputTokens: 1, OutputTokens: 2, Cost: prism.Cost{Rest: 7}}
			none := usage.Sum{Results: 2, InputTokens: 1, OutputTokens: 2}
			cheap := usage.Sum{
				Currency: "USD", Results: 1, InputTokens: 10, OutputTokens: 20, Cost: prism.Cost{Whole: 3, Rest: 1},
			}
			dear := usage.Sum{
				Currency: "USD", Results: 1, Failed: 1, InputTokens: 5, OutputTokens: 10, Cost: prism.Cost{Whole: 4, Rest: 999_999_999_999},
			}
			unpriced := usage.Sum{Results: 1, InputTokens: 1, OutputTokens: 2}
			on := func(s usage.Sum) usage.Sum { s.Day = day; return s }
			named := func(name string, s usage.Sum) usage.Sum { s.Name = name; return s }
			by := func(key prism.KeyID, s usage.Sum) usage.Sum { s.Key = key; return s }
			for _, c := range []struct {
				filter usage.Filter
				want   []usage.Sum
			}{
				{usage.Filter{By: api.ByDay}, []usage.Sum{on(none), on(euro), on(fast)}},
				{
					usage.Filter{By: api.ByPrism},
					[]usage.Sum{named("other", none), named("other", euro), named("other", dear), named("triage", cheap)},
				},
				{
					usage.Filter{By: api.ByModel},
					[]usage.Sum{named("fast", fast), named("strong", unpriced), named("strong", euro), {Results: 1}},
				},
				{
					usage.Filter{By: api.ByKey},
					[]usage.Sum{
						by(another, unpriced), by(another, euro), by(another, dear), {Results: 1}, by(f.mine.keyID, cheap),
					},
				},
				{usage.Filter{By: api.ByDay, Prism: f.mine.prism.ID}, []usage.Sum{on(cheap)}},
				{usage.Filter{By: api.ByDay, Model: "strong"}, []usage.Sum{on(unpriced), on(euro)}},
				{usage.Filter{By: api.ByDay, Key: &f.mine.keyID}, []usage.Sum{on(cheap)}},
				{usage.Filter{By: api.ByDay, Prism: f.mine.prism.ID, Model: "strong"}, nil},
				{usage.Filter{By: api.ByPrism, Key: &another, Model: "fast", Prism: other.ID}, []usage.Sum{named("other", dear)}},
			} {
				for range 2 { // before and after they are folded
					got := f.usage(t, c.filter)
					for i, s := range got {
						got[i].Cost = whole(s.Cost)
					}
					same(t, got, c.want)
					succeeds(t, f.Fold(t.Context()))
				}
			}
		}},
		{"what an archived prism used stays, with its slug", func(t *testing.T, f *fixture) {
			f.save(t, f.ok(f.mine.prism))
			f.archive(t, f.mine.prism.ID, 5)
			same(t, f.usage(t, usage.Filter{By: api.ByPrism}), []usage.Sum{{Name: "triage", Results: 1}})
		}},
		{"a save that changes nothing, or that is refused, is not counted", func(t *testing.T, f *fixture) {
			old := keyed(f.failed(f.mine.prism), "a key")
			retry := f.failed(f.mine.prism)
			for range 3 {
				f.save(t, old)
			}
			for range 3 {
				f.retry(t, retry, old)
			}
			_, err := f.SaveResult(t.Context(), f.mine.account, keyed(f.ok(f.mine.prism), "a key"))
			failsWith(t, err, contract.ErrKeyTaken)
			_, err = f.SaveRetry(t.Context(), f.mine.account, f.ok(f.mine.prism), old.ID)
			retriedBy(t, err, retry.ID)
			_, err = f.SaveResult(t.Context(), f.mine.account, f.ok(f.theirs.prism))
			failsWith(t, err, store.ErrNotFound)
			succeeds(t, f.ProbeWrite(t.Context()))
			same(t, f.usage(t, usage.Filter{By: api.ByPrism}), []usage.Sum{{Name: "triage", Results: 2, Failed: 2}})
		}},
		{"costs above the greatest 64-bit integer are added up exactly", func(t *testing.T, f *fixture) {
			for range 3 {
				f.save(t, called(f.ok(f.mine.prism), f.mine.keyID, "fast", 1<<40, math.MaxInt64, "USD"))
				succeeds(t, f.Fold(t.Context()))
			}
			got := f.usage(t, usage.Filter{By: api.ByModel})
			same(t, len(got), 1)
			same(t, whole(got[0].Cost), prism.Cost{Whole: 27_670_116, Rest: 110_564_327_421})
			same(t, got[0].InputTokens, 3<<40)
		}},
		// spec: try-counts
		{"a use without a result counts each time, and is of no prism", func(t *testing.T, f *fixture) {
			f.save(t, called(f.ok(f.mine.prism), f.mine.keyID, "fast", 1, 999_999_999_999, "USD"))
			call := called(f.ok(f.mine.prism), f.mine.keyID, "fast", 10, 2, "USD").Call
			use := usage.Use{Day: day, Key: f.mine.keyID, Failed: true, Call: call}
			for range 2 {
				succeeds(t, f.CountUse(t.Context(), f.mine.account, use))
				succeeds(t, f.Fold(t.Context()))
			}
			use.Call.Usage.InputTokens = new(int64(-1)) // which is not known
			succeeds(t, f.CountUse(t.Context(), f.mine.account, use))
			succeeds(t, f.CountUse(t.Context(), f.mine.account, usage.Use{Day: day + 1}))
			dollars := usage.Sum{Currency: "USD", Results: 3, Failed: 3, InputTokens: 20, OutputTokens: 60, Cost: prism.Cost{Rest: 6}}
			saved := usage.Sum{
				Name: "triage", Currency: "USD", Results: 1, InputTokens: 1, OutputTokens: 2, Cost: prism.Cost{Rest: 999_999_999_999},
			}
			same(t, f.usage(t, usage.Filter{By: api.ByPrism}), []usage.Sum{{Results: 1}, dollars, saved})
			same(t, f.usage(t, usage.Filter{By: api.ByPrism, Prism: f.mine.prism.ID}), []usage.Sum{saved})
			got := f.usage(t, usage.Filter{By: api.ByDay, Model: "fast", Key: &f.mine.keyID})
			same(t, len(got), 1)
			same(t, whole(got[0].Cost), prism.Cost{Whole: 1, Rest: 5})
			same(t, got[0].Results, 4)
			same(t, f.usage(t, usage.Filter{By: api.ByDay, From: day + 1}), []usage.Sum{{Day: day + 1, Results: 1}})
		}},
		// spec: usage-most
		{"of many keys those with the most results are told, each with all of its currencies", func(t *testing.T, f *fixture) {
			const workers = 8
			key := func(n int) prism.KeyID { return prism.KeyID{UUID: prism.UUID{14: byte(n >> 8), 15: byte(n)}} }
			count := func(n int, currency string) error {
				call := called(f.ok(f.mine.prism), key(n), "fast", 1, 1, currency).Call
				return f.CountUse(t.Context(), f.mine.account, usage.Use{Day: day, Key: key(n), Call: call})
			}
			for _, err := range together(workers, func(worker int) error {
				for n := 1 + worker; n <= usage.MaxSums; n += workers { // one result of each, two of the last
					if err := count(n, "USD"); err != nil {
						return err
					}
				}
				return nil
			}) {
				succeeds(t, err)
			}
			read := func(by api.UsageBy) (sums []usage.Sum, more bool) {
				sums, more, err := f.ReadUsage(t.Context(), f.mine.account, usage.Filter{By: by, To: math.MaxInt32})
				succeeds(t, err)
				return sums, more
			}
			sums, more := read(api.ByKey)
			same(t, len(sums), usage.MaxSums)
			same(t, more, false)
			succeeds(t, count(usage.MaxSums, "EUR")) // which makes two sums of the key with the most results
			sums, more = read(api.ByKey)
			same(t, len(sums), usage.MaxSums)
			same(t, more, true)
			same(t, []string{sums[0].Currency, sums[1].Currency}, []string{"EUR", "USD"})
			same(t, []prism.KeyID{sums[0].Key, sums[1].Key, sums[2].Key}, []prism.KeyID{key(usage.MaxSums), key(usage.MaxSums), key(1)})
			same(t, sums[usage.MaxSums-1].Key, key(usage.MaxSums-2))
			succeeds(t, count(usage.MaxSums-1, "EUR")) // two sums at the end of the order, where one has room
			succeeds(t, count(1, "EUR"))
			sums, more = read(api.ByKey)
			same(t, more, true)
			same(t, len(sums), usage.MaxSums)
			sums, more = read(api.ByModel)
			same(t, more, false)
			same(t, sums[1].Results, int64(usage.MaxSums))
		}},
		{"usage is exact at every moment of saves and folds at once", func(t *testing.T, f *fixture) { f.foldsAtOnce(t) }},
	}
}

// whole carries whole units from the rest.
func whole(c prism.Cost) prism.Cost {
	const unit = 1_000_000_000_000
	return prism.Cost{Whole: c.Whole + c.Rest/unit, Rest: c.Rest % unit}
}

// usage is that of all days, unless the filter has some.
func (f *fixture) usage(t *testing.T, filter usage.Filter) []usage.Sum {
	t.Helper()
	if filter.To == 0 {
		filter.To = math.MaxInt32
	}
	sums, _, err := f.ReadUsage(t.Context(), f.mine.account, filter)
	succeeds(t, err)
	return sums
}

// foldsAtOnce saves, counts, folds and reads at once. A reader that begins after a save and ends before another counts the one
// and not the other.
func (f *fixture) foldsAtOnce(t *testing.T) {
	t.Helper()
	const savers, each = 4, 12
	var (
		mu           sync.Mutex
		begun, saved int64
		done         = make(chan struct{})
		others       sync.WaitGroup
	)
	count := func(n *int64, by int64) int64 {
		mu.Lock()
		defer mu.Unlock()
		*n += by
		return *n
	}
	until := func(fn func() error) {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if err := fn(); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 2 {
		until(func() error { return f.Fold(t.Context()) })
	}
	until(func() error {
		least := count(&saved, 0)
		sums, _, err := f.ReadUsage(t.Context(), f.mine.account, usage.Filter{By: api.ByModel, To: math.MaxInt32})
		var got int64
		for _, s := range sums {
			got += s.Results
		}
		if most := count(&begun, 0); got < least || got > most {
			return fmt.Errorf("usage has %d results, want %d to %d", got, least, most)
		}
		return err
	})
	for _, err := range together(savers, func(saver int) error {
		for i := range each {
			count(&begun, 1)
			r := called(f.ok(f.mine.prism), f.mine.keyID, fmt.Sprint("model ", i%3), int64(saver), 1, "USD")
			var err error
			if saver == 0 {
				err = f.CountUse(t.Context(), f.mine.account, usage.Use{Day: prism.DayOf(r.CreatedAt), Key: r.Key, Call: r.Call})
			} else {
				_, err = f.SaveResult(t.Context(), f.mine.account, r)
			}
			if err != nil {
				return err
			}
			count(&saved, 1)
		}
		return nil
	}) {
		succeeds(t, err)
	}
	close(done)
	others.Wait()
	succeeds(t, f.Fold(t.Context()))
	var want []usage.Sum
	for i := range 3 {
		want = append(want, usage.Sum{
			Name: fmt.Sprint("model ", i), Currency: "USD", Results: savers * each / 3, InputTokens: 6 * each / 3, OutputTokens: 12 * each / 3,
			Cost: prism.Cost{Rest: savers * each / 3},
		})
	}
	same(t, f.usage(t, usage.Filter{By: api.ByModel}), want)
}
