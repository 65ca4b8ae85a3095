package storetest

import (
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/store"
)

// listTests are the rows of lists of prisms and versions, and of names.
func listTests() []test {
	return []test{
		{"versions are listed newest first, page by page, and tell whether there are more", func(t *testing.T, f *fixture) {
			want := []prism.Version{f.mine.prism.Latest}
			for n := int32(2); n <= 5; n++ {
				succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, n, lens("l"))))
				want = append(want, version(n))
			}
			slices.Reverse(want)
			for limit := 1; limit <= len(want)+1; limit++ {
				var got []prism.Version
				for below, more := int32(0), true; more; {
					var some []prism.Version
					var err error
					some, more, err = f.ListVersions(t.Context(), f.mine.account, f.mine.prism.ID, below, limit)
					succeeds(t, err)
					if len(some) == 0 || len(some) > limit {
						t.Fatalf("a page of %d has %d", limit, len(some))
					}
					got = append(got, some...)
					below = some[len(some)-1].Number
				}
				same(t, got, want)
			}
		}},
		{"another account's versions are not listed", func(t *testing.T, f *fixture) {
			got, more, err := f.ListVersions(t.Context(), f.mine.account, f.theirs.prism.ID, 0, 9)
			succeeds(t, err)
			same(t, len(got), 0)
			same(t, more, false)
		}},
		{"a prism is renamed, also to no name, and to the same name without an entry of the audit", func(t *testing.T, f *fixture) {
			want := f.mine.prism
			before := f.actions(t)
			for _, name := range []string{"new “name”", "new “name”", ""} {
				want.Name = name
				succeeds(t, f.Rename(t.Context(), f.mine.account, want.ID, name))
				got, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: want.ID})
				succeeds(t, err)
				same(t, got, want)
			}
			same(t, f.actions(t), append([]store.Action{store.PrismRename, store.PrismRename}, before...))
		}},
	}
}

// actions are the actions of the audit of mine, newest first.
func (f *fixture) actions(t *testing.T) (actions []store.Action) {
	t.Helper()
	entries, _, err := f.ListAudit(t.Context(), f.mine.account, audit.Filter{}, store.Page{Limit: 100})
	succeeds(t, err)
	for _, e := range entries {
		actions = append(actions, e.Action)
	}
	return actions
}

// conditionTests are the rows of changes of a prism that must be as it was.
func conditionTests() []test {
	return []test{
		{"of changes that expect the same prism, one is made", func(t *testing.T, f *fixture) {
			was, id := f.mine.prism, f.mine.prism.ID
			errs := together(6, func(i int) error {
				by := f.by(moment(1))
				if i%2 == 0 {
					return f.Store.PutLens(t.Context(), f.mine.account, id, 1, lens("lens "+string(rune('a'+i))), &was, by)
				}
				return f.Store.AddVersion(t.Context(), f.mine.account, changed(id, 2, lens("l")), &was, by)
			})
			won := winner(t, errs, is(store.ErrStale))
			got, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: id})
			succeeds(t, err)
			same(t, got.Latest.Number, int32(1+won%2))
		}},
		{"a change that expects another name, Lens or state is stale and changes nothing", func(t *testing.T, f *fixture) {
			at := moment(9)
			for _, edit := range []func(*prism.Prism){
				func(p *prism.Prism) { p.Name = "other" }, func(p *prism.Prism) { p.Lens = lens("other") },
				func(p *prism.Prism) { p.ArchivedAt = &at }, func(p *prism.Prism) { p.VersionsHash++ },
			} {
				was := f.mine.prism
				edit(&was)
				failsWith(t, f.Store.PutLens(t.Context(), f.mine.account, was.ID, 1, lens("new"), &was, f.by(at)), store.ErrStale)
				failsWith(t, f.Store.AddVersion(t.Context(), f.mine.account, changed(was.ID, 2, lens("new")), &was, f.by(at)), store.ErrStale)
				f.unchanged(t)
			}
		}},
	}
}
