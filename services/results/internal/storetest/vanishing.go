package storetest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// pagesWhileDeleting reads lists and exports in pages, and deletes some results after each page (spec: deleted-while-read): each
// result that is there at the end was read once, and in order.
func (f *fixture) pagesWhileDeleting(t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2 {
		alive := map[prism.UUID]bool{}
		for range 30 {
			alive[f.save(t, f.ok(f.mine.prism)).Result.ID.UUID] = true
		}
		vanish := func() {
			for id := range alive {
				if random.IntN(10) == 0 {
					succeeds(t, f.delete(t, prism.ResultID{UUID: id}))
					delete(alive, id)
				}
			}
		}
		list := func(page store.Page) (ids []prism.UUID) {
			found, _, err := f.ListResults(t.Context(), f.mine.account, store.Filter{}, store.WithoutInput, page)
			succeeds(t, err)
			for _, r := range found {
				ids = append(ids, r.Result.ID.UUID)
			}
			return ids
		}
		export := func(page store.Page) (ids []prism.UUID) {
			found, err := f.ExportResults(t.Context(), f.mine.account, f.mine.prism.ID, store.Filter{}, page)
			succeeds(t, err)
			for _, r := range found {
				ids = append(ids, r.ID.UUID)
			}
			return ids
		}
		for i, read := range []func(store.Page) []prism.UUID{list, export} {
			var seen []prism.UUID
			for page := (store.Page{Limit: 1 + random.IntN(9)}); ; {
				ids := read(page)
				if len(ids) == 0 {
					break
				}
				seen = append(seen, ids...)
				page.After = ids[len(ids)-1]
				vanish()
			}
			inOrder := slices.Clone(seen)
			slices.SortFunc(inOrder, func(a, b prism.UUID) int { return slices.Compare(a[:], b[:]) })
			if i == 0 {
				slices.Reverse(inOrder)
			}
			same(t, seen, inOrder)
			same(t, len(slices.Compact(inOrder)), len(seen))
			for id := range alive {
				if !slices.Contains(seen, id) {
					t.Errorf("%s was not read", id)
				}
			}
		}
		for id := range alive {
			succeeds(t, f.delete(t, prism.ResultID{UUID: id}))
		}
	}
}
