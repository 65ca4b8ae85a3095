package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

func listingTests() []test {
	return []test{
		{"results are listed by id, newest first, with their prisms, page by page", func(t *testing.T, f *fixture) {
			want := f.assorted(t)
			for _, limit := range []int{1, 2, 3, len(want) - 1, len(want), len(want) + 1} {
				got := pages(t, limit, f.lister(t, store.Filter{}), savedID)
				same(t, got, listed(want))
			}
		}},
		// spec: result-list-fields
		{"listed results have their input if it is wanted, those of a run too", func(t *testing.T, f *fixture) {
			want := f.assorted(t)
			for i := range want {
				want[i].Result.Key, want[i].Result.Call = prism.KeyID{}, nil
			}
			got := pages(t, 5, func(page store.Page) ([]store.Saved, bool, error) {
				return f.ListResults(t.Context(), f.mine.account, store.Filter{}, store.WithInput, page)
			}, savedID)
			same(t, got, want)
			run := f.run(t, f.mine, moment(5), 2)
			succeeds(t, f.SaveRows(t.Context(), outcomes(f.leased(t, moment(10)), "oo"), moment(11)))
			rows, _, err := f.ListResults(t.Context(), f.mine.account, store.Filter{Run: &run.ID}, store.WithInput, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(rows), 2)
			for _, row := range rows {
				record, err := f.Record(t.Context(), f.mine.account, row.Result.ID)
				succeeds(t, err)
				same(t, row.Result.Fields, record.Result.Fields)
				same(t, len(row.Result.Fields) > 0, true)
			}
		}},
		{"listed and exported results are those of some ids, in order", func(t *testing.T, f *fixture) {
			all := f.assorted(t)
			var ids []prism.UUID
			for i := 0; i < len(all); i += 3 {
				ids = append(ids, savedID(all[i]))
			}
			ids = append(ids, f.id())
			found, more, err := f.ListResults(t.Context(), f.mine.account, store.Filter{IDs: ids}, store.WithoutInput, store.Page{Limit: len(ids)})
			succeeds(t, err)
			same(t, more, false)
			same(t, positions(found, savedID), ids[:len(ids)-1])
			rows, err := f.ExportResults(t.Context(), f.mine.account, f.mine.prism.ID, store.Filter{IDs: ids}, store.Page{After: ids[len(ids)-2], Limit: 9})
			succeeds(t, err)
			for _, r := range rows {
				same(t, slices.Contains(ids[:len(ids)-2], r.ID.UUID), true)
			}
			same(t, len(rows) > 0, true)
		}},
		{"listed results are narrowed by prism, status, ref and time, alone and together", func(t *testing.T, f *fixture) {
			all := f.assorted(t)
			refs := []*string{nil, pointer("one"), pointer("two"), pointer("none has it")}
			prisms := []prism.PrismID{{}, f.mine.prism.ID, all[0].Prism.ID, f.theirs.prism.ID}
			for _, of := range prisms {
				for _, status := range []prism.Status{"", prism.OK, prism.Failed} {
					for _, ref := range refs {
						for _, between := range [][2]time.Time{{}, {moment(102)}, {{}, moment(103)}, {moment(102), moment(103)}} {
							filter := store.Filter{Prism: of, Status: status, Ref: ref, From: between[0], To: between[1]}
							same(t, pages(t, 4, f.lister(t, filter), savedID), listed(matching(all, filter)))
						}
					}
				}
			}
		}},
		{"listed results are narrowed by version, model and key with every other filter", func(t *testing.T, f *fixture) {
			all := f.assorted(t)
			check := func(t *rapid.T) {
				filter := store.Filter{
					Prism:   rapid.SampledFrom([]prism.PrismID{{}, {}, f.mine.prism.ID, all[0].Prism.ID}).Draw(t, "prism"),
					Status:  rapid.SampledFrom([]prism.Status{"", "", prism.OK, prism.Failed}).Draw(t, "status"),
					Ref:     rapid.SampledFrom([]*string{nil, nil, pointer("one"), pointer("")}).Draw(t, "ref"),
					Version: rapid.Int32Range(0, 3).Draw(t, "version"),
					Model:   rapid.SampledFrom([]string{"", "fast", "strong", "none has it"}).Draw(t, "model"),
					Key:     rapid.SampledFrom([]*prism.KeyID{nil, {}, &f.mine.keyID, &f.theirs.keyID, {UUID: prism.UUID{9}}}).Draw(t, "key"),
					From:    rapid.SampledFrom([]time.Time{{}, {}, moment(102)}).Draw(t, "from"),
					To:      rapid.SampledFrom([]time.Time{{}, {}, moment(103)}).Draw(t, "to"),
				}
				limit := rapid.IntRange(1, 5).Draw(t, "limit")
				some := matching(all, filter)
				page := store.Page{Limit: limit}
				if from := rapid.IntRange(0, len(all)).Draw(t, "after"); from > 0 {
					page.After = savedID(all[from-1])
					some = matching(all[from:], filter)
				}
				got, _, err := f.ListResults(f.ctx, f.mine.account, filter, store.WithoutInput, page)
				must(t, err)
				if want := listed(some[:min(limit, len(some))]); len(got) != 0 || len(want) != 0 {
					alike(t, got, want)
				}
				filter.Prism = f.mine.prism.ID
				rows, err := f.ExportResults(f.ctx, f.mine.account, filter.Prism, filter, store.Page{Limit: 100})
				must(t, err)
				if want := exported(matching(all, filter)); len(rows) != 0 || len(want) != 0 {
					alike(t, rows, want)
				}
			}
			f.ctx = t.Context()
			rapid.Check(t, check)
		}},
		// spec: result-list-looks
		{"a list that ends where it looked at some results goes on behind them", func(t *testing.T, f *fixture) {
			all := f.assorted(t)
			for _, filter := range []store.Filter{
				{Model: "fast"}, {Prism: f.mine.prism.ID, Status: prism.OK}, {Version: 1, To: moment(103)}, {Key: &f.mine.keyID, From: moment(102)},
			} {
				for looked := 1; looked <= len(all)+1; looked++ {
					var got []store.Saved
					page := store.Page{Limit: 100}
					for rest := looked; ; rest += looked {
						var err error
						page.Until, err = f.LookedAt(t.Context(), f.mine.account, filter, page.After, looked)
						succeeds(t, err)
						some, _, err := f.ListResults(t.Context(), f.mine.account, filter, store.WithoutInput, page)
						succeeds(t, err)
						got = append(got, some...)
						if len(some) > looked || rest > len(all)+looked {
							t.Fatalf("%d results of %d that were looked at, %d in all", len(some), looked, rest)
						}
						if page.After = page.Until; page.Until.IsZero() {
							break
						}
					}
					same(t, got, listed(matching(all, filter)))
				}
			}
		}},
		{"results of another account are not listed", func(t *testing.T, f *fixture) {
			_, err := f.SaveResult(t.Context(), f.theirs.account, f.ok(f.theirs.prism))
			succeeds(t, err)
			same(t, f.count(t), 0)
			got, _, err := f.ListResults(t.Context(), f.mine.account, store.Filter{Prism: f.theirs.prism.ID}, store.WithoutInput, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(got), 0)
		}},
		// spec: lens-preview
		{"results of a prism are found by their ids, without their input", func(t *testing.T, f *fixture) {
			all := f.assorted(t)
			mine := exported(matching(all, store.Filter{Prism: f.mine.prism.ID}))
			foreign, err := f.SaveResult(t.Context(), f.theirs.account, f.ok(f.theirs.prism))
			succeeds(t, err)
			ids := []prism.ResultID{foreign.Result.ID, {UUID: f.id()}}
			for _, saved := range all { // also those of the other prism
				ids = append(ids, saved.Result.ID, saved.Result.ID)
			}
			want := map[prism.ResultID]prism.Result{}
			for _, r := range mine {
				want[r.ID] = withoutInput(r)
			}
			got, err := f.FindResults(t.Context(), f.mine.account, f.mine.prism.ID, ids, store.WithoutInput)
			succeeds(t, err)
			same(t, len(got), len(want))
			for _, r := range got {
				same(t, r, want[r.ID])
			}
			full, err := f.FindResults(t.Context(), f.mine.account, f.mine.prism.ID, ids, store.WithInput)
			succeeds(t, err)
			same(t, len(full), len(want))
			for _, r := range full {
				same(t, withoutInput(r), want[r.ID])
				same(t, len(r.Fields) > 0, true)
			}
			got, err = f.FindResults(t.Context(), f.mine.account, f.mine.prism.ID, nil, store.WithInput)
			succeeds(t, err)
			same(t, len(got), 0)
		}},
		{"a prism's results are exported by id, oldest first, page by page", func(t *testing.T, f *fixture) {
			all := f.assorted(t)
			want := exported(matching(all, store.Filter{Prism: f.mine.prism.ID}))
			for limit := 1; limit <= len(want)+1; limit++ {
				same(t, pages(t, limit, f.exporter(t, f.mine.prism.ID, store.Filter{}), resultID), want)
			}
		}},
		{"exported results are narrowed by status, ref and time, and by no other prism", func(t *testing.T, f *fixture) {
			all := f.assorted(t)
			for _, status := range []prism.Status{"", prism.OK, prism.Failed} {
				for _, between := range [][2]time.Time{{}, {moment(102)}, {{}, moment(103)}, {moment(102), moment(103)}} {
					for _, ref := range []*string{nil, pointer("one")} {
						filter := store.Filter{Prism: f.mine.prism.ID, Status: status, Ref: ref, From: between[0], To: between[1]}
						want := exported(matching(all, filter))
						filter.Prism = all[0].Prism.ID
						same(t, pages(t, 2, f.exporter(t, f.mine.prism.ID, filter), resultID), want)
					}
				}
			}
		}},
		{"a filter by time finds a result that was saved long after its id was chosen", func(t *testing.T, f *fixture) {
			r := f.ok(f.mine.prism)
			r.CreatedAt = moment(0).Add(store.MaxIDAge)
			f.save(t, r)
			filter := store.Filter{From: r.CreatedAt, To: r.CreatedAt.Add(time.Millisecond)}
			same(t, pages(t, 2, f.exporter(t, f.mine.prism.ID, filter), resultID), []prism.Result{r})
			filter = store.Filter{To: r.CreatedAt}
			same(t, pages(t, 2, f.exporter(t, f.mine.prism.ID, filter), resultID), nil)
		}},
		{"a filter by time finds a result whose id had its time of a clock that was ahead", func(t *testing.T, f *fixture) {
			r := f.ok(f.mine.prism)
			r.CreatedAt = moment(0).Add(-store.MaxIDLead)
			f.save(t, r)
			filter := store.Filter{From: r.CreatedAt, To: r.CreatedAt.Add(time.Millisecond)}
			same(t, pages(t, 2, f.exporter(t, f.mine.prism.ID, filter), resultID), []prism.Result{r})
			filter = store.Filter{To: r.CreatedAt}
			same(t, pages(t, 2, f.exporter(t, f.mine.prism.ID, filter), resultID), nil)
		}},
		{"a page of an export ends before the row that would be too much, and has one row at least", func(t *testing.T, f *fixture) {
			var want []prism.Result
			for i := range 7 {
				r := f.ok(f.mine.prism)
				r.Fields[0].Value, r.CreatedAt = strings.Repeat("x", store.PageBytes/5), moment(100+i)
				want = append(want, f.save(t, r).Result)
			}
			large := f.ok(f.mine.prism)
			large.Fields[0].Value, large.CreatedAt = strings.Repeat("x", store.PageBytes+1), moment(200)
			large = f.save(t, large).Result
			export := f.exporter(t, f.mine.prism.ID, store.Filter{})
			first, _, err := export(store.Page{Limit: 100})
			succeeds(t, err)
			same(t, first, want[:4])
			rest, _, err := export(store.Page{After: resultID(first[3]), Limit: 100})
			succeeds(t, err)
			same(t, rest, want[4:])
			alone, _, err := export(store.Page{After: resultID(rest[2]), Limit: 100})
			succeeds(t, err)
			same(t, alone, []prism.Result{large})
		}},
		{"another account's prism exports nothing", func(t *testing.T, f *fixture) {
			_, err := f.SaveResult(t.Context(), f.theirs.account, f.ok(f.theirs.prism))
			succeeds(t, err)
			got, err := f.ExportResults(t.Context(), f.mine.account, f.theirs.prism.ID, store.Filter{}, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(got), 0)
		}},
		{"an export goes on from its place while results are saved", func(t *testing.T, f *fixture) {
			early := f.ok(f.mine.prism) // its id is older than those of the first page
			f.assorted(t)
			export := f.exporter(t, f.mine.prism.ID, store.Filter{})
			first, _, err := export(store.Page{Limit: 2})
			succeeds(t, err)
			late := f.ok(f.mine.prism)
			f.save(t, late)
			f.save(t, early)
			rest, _, err := export(store.Page{After: resultID(first[1]), Limit: 100})
			succeeds(t, err)
			same(t, rest[len(rest)-1], late)
			for _, r := range rest {
				if r.ID == early.ID || r.ID == first[0].ID || r.ID == first[1].ID {
					t.Errorf("%s is before the page", r.ID)
				}
			}
		}},
	}
}

// assorted saves results of all kinds and returns them newest first. Their times of saving have another order.
func (f *fixture) assorted(t *testing.T) []store.Saved {
	t.Helper()
	other := f.addPrism(t, f.mine, "other")
	refs := []*string{nil, pointer("one"), pointer("two"), pointer("")}
	succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("l"))))
	var all []store.Saved
	for i := range 12 {
		p := f.mine.prism
		if i%4 == 3 {
			p = other
		}
		r := f.ok(p)
		if i%3 == 1 {
			r = f.failed(p)
		}
		if i%2 == 0 {
			r = keyed(r, fmt.Sprintf("key %d", i))
		}
		r.Ref, r.CreatedAt = refs[i%len(refs)], moment(100+i*7%5)
		if i%5 == 2 && p.ID == f.mine.prism.ID {
			r.Version = 2
		}
		r.Key = []prism.KeyID{{}, f.mine.keyID, f.theirs.keyID}[i%3]
		if model := []string{"", "", "fast", "strong"}[i%4]; model != "" {
			r.Call = &prism.ModelCall{Name: model, Provider: "offline", Tries: 1}
		}
		saved := f.save(t, r)
		saved.Result.Key, saved.Result.Call = r.Key, r.Call // which filters find and lists do not read
		all = append(all, saved)
	}
	_, err := f.SaveResult(t.Context(), f.theirs.account, f.ok(f.theirs.prism))
	succeeds(t, err)
	slices.Reverse(all)
	return all
}

func matching(all []store.Saved, f store.Filter) (some []store.Saved) {
	for _, s := range all {
		r := s.Result
		if (f.Prism.IsZero() || r.Prism == f.Prism) && (f.Status == "" || r.Status == f.Status) &&
			(f.Ref == nil || r.Ref != nil && *r.Ref == *f.Ref) && (f.Version == 0 || r.Version == f.Version) &&
			(f.Model == "" || r.Call != nil && r.Call.Name == f.Model) && (f.Key == nil || !r.Key.IsZero() && r.Key == *f.Key) &&
			!r.CreatedAt.Before(f.From) &&
			(f.To.IsZero() || r.CreatedAt.Before(f.To)) {
			some = append(some, s)
		}
	}
	return some
}

// listed is the results as a list shows them: without their input.
func listed(saved []store.Saved) (short []store.Saved) {
	for _, s := range saved {
		s.Result = withoutInput(s.Result)
		short = append(short, s)
	}
	return short
}

// exported is the results, oldest first.
func exported(saved []store.Saved) (results []prism.Result) {
	for _, s := range slices.Backward(saved) {
		s.Result.Key, s.Result.Call = prism.KeyID{}, nil
		results = append(results, s.Result)
	}
	return results
}

func (f *fixture) lister(t *testing.T, filter store.Filter) func(store.Page) ([]store.Saved, bool, error) {
	return func(page store.Page) ([]store.Saved, bool, error) {
		return f.ListResults(t.Context(), f.mine.account, filter, store.WithoutInput, page)
	}
}

func (f *fixture) exporter(t *testing.T, id prism.PrismID, filter store.Filter) func(store.Page) ([]prism.Result, bool, error) {
	return func(page store.Page) ([]prism.Result, bool, error) {
		rows, err := f.ExportResults(t.Context(), f.mine.account, id, filter, page)
		return rows, len(rows) > 0, err
	}
}

func savedID(s store.Saved) prism.UUID { return s.Result.ID.UUID }

func resultID(r prism.Result) prism.UUID { return r.ID.UUID }

func pointer(s string) *string { return &s }

func withoutInput(r prism.Result) prism.Result {
	r.Context, r.Fields, r.IdempotencyKey, r.RetriedBy = "", []prism.FieldValue{}, "", nil
	r.Key, r.Call = prism.KeyID{}, nil
	return r
}
