package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/views"
)

func viewTests() []test {
	return []test{
		// spec: view-list, view-members
		{"views are listed newest first as they were saved, a page at a time", func(t *testing.T, f *fixture) {
			var want []views.View
			for i, of := range []prism.PrismID{{}, f.mine.prism.ID, f.mine.prism.ID} {
				v := f.view(t, of, false)
				v.Filters.Prism = map[bool]string{true: f.mine.prism.Slug}[i > 0]
				want = append([]views.View{v}, want...)
			}
			_, err := f.ReplaceView(t.Context(), f.theirs.account, want[0], f.by(moment(1)))
			failsWith(t, err, store.ErrNotFound)
			for limit := 1; limit <= len(want)+1; limit++ {
				same(t, f.views(t, limit), want)
			}
		}},
		// spec: view-replace, view-delete
		{"a view is replaced as a whole, and deleted once", func(t *testing.T, f *fixture) {
			v := f.view(t, f.mine.prism.ID, true)
			replaced := views.View{ID: v.ID, Name: "new", Filters: api.ViewFilters{Q: "“é” 🙂"}, CreatedAt: v.CreatedAt}
			at, err := f.ReplaceView(t.Context(), f.mine.account, views.View{ID: v.ID, Name: "new", Filters: replaced.Filters}, f.by(moment(9)))
			succeeds(t, err)
			same(t, at, v.CreatedAt)
			same(t, f.views(t, 10), []views.View{replaced})
			failsWith(t, f.DeleteView(t.Context(), f.theirs.account, v.ID, f.by(moment(9))), store.ErrNotFound)
			succeeds(t, f.DeleteView(t.Context(), f.mine.account, v.ID, f.by(moment(9))))
			failsWith(t, f.DeleteView(t.Context(), f.mine.account, v.ID, f.by(moment(9))), store.ErrNotFound)
			same(t, f.views(t, 10), nil)
			_, err = f.ReplaceView(t.Context(), f.mine.account, replaced, f.by(moment(9)))
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: view-default
		{"the default saved last is the one of its prism, or of all results", func(t *testing.T, f *fixture) {
			all, single := f.view(t, prism.PrismID{}, true), f.view(t, f.mine.prism.ID, true)
			defaults := func() (ids []prism.ViewID) {
				for _, v := range f.views(t, 10) {
					if v.Default {
						ids = append(ids, v.ID)
					}
				}
				return ids
			}
			same(t, defaults(), []prism.ViewID{single.ID, all.ID})
			two := f.view(t, f.mine.prism.ID, true)
			same(t, defaults(), []prism.ViewID{two.ID, all.ID})
			single.Name = "again"
			_, err := f.ReplaceView(t.Context(), f.mine.account, single, f.by(moment(9)))
			succeeds(t, err)
			same(t, defaults(), []prism.ViewID{single.ID, all.ID})
			f.view(t, f.mine.prism.ID, false)
			same(t, defaults(), []prism.ViewID{single.ID, all.ID})
		}},
		// spec: views-limit
		{"of concurrent views as many are saved as there is room for", func(t *testing.T, f *fixture) {
			var group sync.WaitGroup
			errs := make([]error, 5)
			for i := range errs {
				v, by := f.newView(prism.PrismID{}, false), f.by(moment(i))
				group.Go(func() { errs[i] = f.CreateView(t.Context(), f.mine.account, v, 3, by) })
			}
			group.Wait()
			refused := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
			if len(refused) != 2 || !errors.Is(refused[0], store.ErrTooManyViews) || !errors.Is(refused[1], store.ErrTooManyViews) {
				t.Errorf("got %v", refused)
			}
			same(t, len(f.views(t, 10)), 3)
			failsWith(t, f.CreateView(t.Context(), prism.AccountID{UUID: f.id()}, f.newView(prism.PrismID{}, false), 3, f.by(moment(1))), store.ErrNotFound)
		}},
		// spec: audit-actions, audit-changes-only, audit-in-the-transaction
		{"changes of views are recorded without their filters", func(t *testing.T, f *fixture) {
			v := f.view(t, f.mine.prism.ID, true)
			for range 2 { // the second time it is equal
				v.Default = false
				_, err := f.ReplaceView(t.Context(), f.mine.account, v, f.by(moment(2)))
				succeeds(t, err)
			}
			succeeds(t, f.DeleteView(t.Context(), f.mine.account, v.ID, f.by(moment(3))))
			var got []string
			for _, e := range f.audit(t, audit.Filter{}) {
				if e.Object == (store.Object{Kind: store.ViewObject, ID: v.ID.UUID, Name: v.Name}) {
					got = append(got, string(e.Action)+" "+string(e.Detail))
				}
			}
			same(t, got, []string{`view.delete {}`, `view.replace {"default":false}`, `view.create {"default":true}`})
		}},
	}
}

// newView is a view of mine that is not stored, with all filters but a prism's slug.
func (f *fixture) newView(of prism.PrismID, isDefault bool) views.View {
	at := api.Time{Time: moment(5)}
	return views.View{
		ID: prism.ViewID{UUID: f.id()}, Name: "“é” 🙂", Prism: of, Default: isDefault, Columns: []string{"text", "topic"}, CreatedAt: moment(1),
		Filters: api.ViewFilters{
			Status: prism.OK, Ref: new(""), Version: 2, From: &at, To: &at, Model: "m", Key: f.mine.keyID, Run: prism.RunID{UUID: f.id()},
			Q: "“é” 🙂", Where: []string{"a:is:b", "c:no"}, Sort: "-a",
		},
	}
}

// view stores a view of mine.
func (f *fixture) view(t *testing.T, of prism.PrismID, isDefault bool) views.View {
	t.Helper()
	v := f.newView(of, isDefault)
	succeeds(t, f.CreateView(t.Context(), f.mine.account, v, api.MaxViews, f.by(moment(1))))
	return v
}

// views are those of mine.
func (f *fixture) views(t *testing.T, limit int) []views.View {
	t.Helper()
	return pages(t, limit, func(p store.Page) ([]views.View, bool, error) {
		return f.ListViews(t.Context(), f.mine.account, p)
	}, func(v views.View) prism.UUID { return v.ID.UUID })
}
