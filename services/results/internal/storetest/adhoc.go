package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// mostAdHoc is how many ad-hoc prisms the accounts of these tests have.
const mostAdHoc = 3

// spec: adhoc-kept
func adHocTests() []test {
	return []test{
		{"the first result makes the prism with its version, its retention and an entry of the audit", func(t *testing.T, f *fixture) {
			p := f.adHoc("a")
			first := f.saveAdHoc(t, p, f.ok(p))
			same(t, first.Prism, state(p))
			same(t, *f.stored(t, first.Result.ID), first.Result)
			kept, err := f.Prism(t.Context(), f.mine.account, prism.Ref{Slug: p.Slug})
			succeeds(t, err)
			same(t, kept, p)
			second := f.saveAdHoc(t, f.adHoc("a"), f.ok(p))
			same(t, second.Prism, first.Prism)
			same(t, f.saveAdHoc(t, f.adHoc("a"), first.Result), first) // the same id again
			same(t, f.count(t), 2)
			entries := f.entriesOf(t, store.PrismCreate)
			same(t, len(entries), 2) // with that of the fixture
			same(t, entries[0].Object, store.Object{Kind: store.PrismObject, ID: p.ID.UUID, Name: p.Slug})
			same(t, string(entries[0].Detail), `{"version":1}`)
			same(t, entries[0].Actor, store.Actor{Kind: store.KeyActor, Key: f.mine.keyID, Name: "the key"})
		}},
		{"a result whose idempotency key is held makes no prism", func(t *testing.T, f *fixture) {
			f.save(t, keyed(f.ok(f.mine.prism), "a key"))
			p := f.adHoc("a")
			_, err := f.SaveAdHoc(t.Context(), f.mine.account, p, mostAdHoc, keyed(f.ok(p), "a key"), f.byKey(moment(5)))
			failsWith(t, err, contract.ErrKeyTaken)
			f.isGone(t, p)
			same(t, len(f.entriesOf(t, store.PrismCreate)), 1)
		}},
		// spec: adhoc-limits, error-too-many-adhoc
		{"an account has no more ad-hoc prisms than it may, and an ended one makes room", func(t *testing.T, f *fixture) {
			var last prism.Result
			for n := range mostAdHoc {
				f.isFull(t, false)
				p := f.adHoc(fmt.Sprint(n))
				last = f.saveAdHoc(t, p, f.ok(p)).Result
			}
			f.isFull(t, true)
			extra := f.adHoc("more")
			_, err := f.SaveAdHoc(t.Context(), f.mine.account, extra, mostAdHoc, f.ok(extra), f.byKey(moment(5)))
			failsWith(t, err, store.ErrTooManyAdHoc)
			f.saveAdHoc(t, f.adHoc("0"), f.ok(extra)) // which is there
			succeeds(t, f.delete(t, last.ID))
			f.isFull(t, false)
			f.saveAdHoc(t, extra, f.ok(extra))
			same(t, f.count(t), mostAdHoc+1)
		}},
		{"the deletion of the last result ends the prism, and the next result makes it anew", func(t *testing.T, f *fixture) {
			p := f.adHoc("a")
			first, second := f.saveAdHoc(t, p, f.ok(p)).Result, f.saveAdHoc(t, p, f.failed(p)).Result
			succeeds(t, f.SetDrift(t.Context(), f.mine.account, p.ID, drift.Change{Watched: true, Version: 1}, f.by(moment(5))))
			succeeds(t, f.delete(t, first.ID))
			_, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: p.ID})
			succeeds(t, err)
			succeeds(t, f.delete(t, second.ID))
			f.isGone(t, p)
			_, err = f.Version(t.Context(), f.mine.account, p.ID, 1)
			failsWith(t, err, store.ErrNotFound)
			_, err = f.DriftWatch(t.Context(), f.mine.account, p.ID)
			failsWith(t, err, store.ErrNotFound)
			if d, ok := f.take(t, moment(0).Add(time.Hour)); ok {
				t.Errorf("the retention goes on: %v", d)
			}
			again := f.adHoc("a")
			again.CreatedAt = moment(77)
			saved := f.saveAdHoc(t, again, f.ok(p))
			again.ID = p.ID
			same(t, saved.Prism, state(again))
			kept, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: p.ID})
			succeeds(t, err)
			same(t, kept, again)
			if _, ok := f.take(t, moment(0).Add(time.Hour)); !ok {
				t.Error("there is no retention")
			}
		}},
		{"retention and deletions of many end the prism too, and leave other prisms", func(t *testing.T, f *fixture) {
			p := f.adHoc("a")
			f.saveAdHoc(t, p, f.ok(p))
			far := moment(0).Add(31 * 24 * time.Hour)
			for n := range 2 { // the first pass was due when the prism was made
				d, ok := f.take(t, far)
				same(t, ok, true)
				same(t, f.finish(t, d, far), n)
				far = far.Add(time.Hour)
			}
			f.isGone(t, p)
			f.saveAdHoc(t, p, f.ok(p))
			d := deletion.Job{
				Account: f.mine.account, ID: f.id(), Prism: p.ID, DueAt: moment(0).Add(30 * time.Minute), SavedBefore: moment(0).Add(10 * time.Minute),
			}
			succeeds(t, f.AddDeletion(t.Context(), d, p.Slug, 1, f.by(d.DueAt)))
			same(t, f.finish(t, d, moment(0).Add(time.Hour)), 1)
			f.isGone(t, p)
			r := f.save(t, f.ok(f.mine.prism)).Result
			succeeds(t, f.delete(t, r.ID))
			_, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: f.mine.prism.ID})
			succeeds(t, err)
		}},
		// spec: prism-list
		{"lists have either ad-hoc prisms or the others", func(t *testing.T, f *fixture) {
			p := f.adHoc("a")
			f.saveAdHoc(t, p, f.ok(p))
			gone := f.adHoc("b")
			succeeds(t, f.delete(t, f.saveAdHoc(t, gone, f.ok(gone)).Result.ID))
			for which, want := range map[prisms.Which][]prism.Prism{
				prisms.Live: {f.mine.prism}, prisms.All: {f.mine.prism}, prisms.Archived: nil,
				prisms.AdHoc | prisms.Live: {p}, prisms.AdHoc | prisms.All: {p}, prisms.AdHoc | prisms.Archived: nil,
			} {
				found, more, err := f.ListPrisms(t.Context(), f.mine.account, which, store.Page{Limit: 9})
				succeeds(t, err)
				same(t, more, false)
				same(t, found, want)
			}
			a, err := f.Account(t.Context(), f.mine.account)
			succeeds(t, err)
			same(t, a.Prisms, 1)
		}},
		{"results at once make one prism", func(t *testing.T, f *fixture) {
			for _, err := range together(racers, func(int) error {
				p := f.adHoc("a")
				_, err := f.SaveAdHoc(t.Context(), f.mine.account, p, mostAdHoc, f.ok(p), f.byKey(moment(5)))
				return err
			}) {
				succeeds(t, err)
			}
			same(t, f.count(t), racers)
			same(t, len(f.entriesOf(t, store.PrismCreate)), 2)
			found, _, err := f.ListPrisms(t.Context(), f.mine.account, prisms.AdHoc|prisms.Live, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(found), 1)
		}},
		{"of new prisms at once as many are made as there may be", func(t *testing.T, f *fixture) {
			made := 0
			for _, err := range together(racers, func(n int) error {
				p := f.adHoc(fmt.Sprint(n))
				_, err := f.SaveAdHoc(t.Context(), f.mine.account, p, mostAdHoc, f.ok(p), f.byKey(moment(5)))
				return err
			}) {
				if err == nil {
					made++
				} else {
					failsWith(t, err, store.ErrTooManyAdHoc)
				}
			}
			same(t, made, mostAdHoc)
			same(t, f.count(t), mostAdHoc)
		}},
		{"a result that is saved while the last one is deleted is of a prism that is there", func(t *testing.T, f *fixture) {
			p := f.adHoc("a")
			last := f.saveAdHoc(t, p, f.ok(p)).Result
			for range 10 {
				next := f.ok(p)
				for _, err := range together(3, func(n int) error {
					switch n {
					case 0:
						return f.delete(t, last.ID)
					case 1: // of a key that no other result has
						_, err := f.SaveAdHoc(t.Context(), f.mine.account, f.adHoc("a"), mostAdHoc, keyed(next, next.ID.String()), f.byKey(moment(5)))
						return err
					}
					_, err := f.SaveAdHoc(t.Context(), f.mine.account, f.adHoc("other"), mostAdHoc, f.ok(p), f.byKey(moment(5)))
					return err
				}) {
					succeeds(t, err)
				}
				found, err := f.Prism(t.Context(), f.mine.account, prism.Ref{Slug: p.Slug})
				succeeds(t, err)
				saved, err := f.Record(t.Context(), f.mine.account, next.ID)
				succeeds(t, err)
				same(t, saved.Result.Prism, found.ID)
				same(t, f.stored(t, last.ID), nil)
				last = next
			}
		}},
		{"a failed result that is retried while it is deleted keeps its prism, or the retry finds nothing", func(t *testing.T, f *fixture) {
			for n := range 6 {
				p := f.adHoc(fmt.Sprint(n % mostAdHoc))
				old := f.saveAdHoc(t, p, f.failed(p)).Result
				retry := f.ok(p)
				retry.Prism = old.Prism
				errs := together(2, func(n int) error {
					if n == 0 {
						return f.delete(t, old.ID)
					}
					_, err := f.SaveRetry(t.Context(), f.mine.account, retry, old.ID)
					return err
				})
				succeeds(t, errs[0])
				if errors.Is(errs[1], store.ErrNotFound) {
					f.isGone(t, p)
					continue
				}
				succeeds(t, errs[1])
				_, err := f.Prism(t.Context(), f.mine.account, prism.Ref{Slug: p.Slug})
				succeeds(t, err)
				succeeds(t, f.delete(t, retry.ID))
				f.isGone(t, p)
			}
		}},
	}
}

// adHoc is an ad-hoc prism with a slug.
func (f *fixture) adHoc(name string) prism.Prism {
	p := f.newPrism(prism.AdHocPrefix + name)
	p.Name, p.AdHoc, p.RetentionDays = "", true, prism.AdHocDays
	return p
}

// byKey is a change by the key of mine.
func (f *fixture) byKey(at time.Time) store.By {
	by := f.by(at)
	by.Actor = store.Actor{Kind: store.KeyActor, Key: f.mine.keyID}
	return by
}

func (f *fixture) saveAdHoc(t *testing.T, p prism.Prism, r prism.Result) store.Saved {
	t.Helper()
	saved, err := f.SaveAdHoc(t.Context(), f.mine.account, p, mostAdHoc, r, f.byKey(moment(5)))
	succeeds(t, err)
	return saved
}

func (f *fixture) isGone(t *testing.T, p prism.Prism) {
	t.Helper()
	_, err := f.Prism(t.Context(), f.mine.account, prism.Ref{Slug: p.Slug})
	failsWith(t, err, store.ErrNotFound)
}

func (f *fixture) isFull(t *testing.T, want bool) {
	t.Helper()
	full, err := f.AdHocFull(t.Context(), f.mine.account, mostAdHoc)
	succeeds(t, err)
	same(t, full, want)
}
