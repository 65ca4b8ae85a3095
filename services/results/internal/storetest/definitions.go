package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

func definitionTests() []test {
	return []test{
		{"a prism comes back by id and by slug as it was made", func(t *testing.T, f *fixture) {
			for _, ref := range []prism.Ref{{Slug: "triage"}, {ID: f.mine.prism.ID}} {
				got, err := f.Prism(t.Context(), f.mine.account, ref)
				succeeds(t, err)
				same(t, got, f.mine.prism)
			}
			v, err := f.Version(t.Context(), f.mine.account, f.mine.prism.ID, 1)
			succeeds(t, err)
			same(t, v, f.mine.prism.Latest)
		}},
		{"a slug is taken once in an account", func(t *testing.T, f *fixture) {
			second := f.newPrism("triage")
			failsWith(t, f.CreatePrism(t.Context(), f.mine.account, second), store.ErrSlugTaken)
			_, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: second.ID})
			failsWith(t, err, store.ErrNotFound)
		}},
		{"an archived prism keeps its slug", func(t *testing.T, f *fixture) {
			f.archive(t, f.mine.prism.ID, 5)
			failsWith(t, f.CreatePrism(t.Context(), f.mine.account, f.newPrism("triage")), store.ErrSlugTaken)
		}},
		{"a prism of an account that is not there is not made", func(t *testing.T, f *fixture) {
			err := f.CreatePrism(t.Context(), prism.AccountID{UUID: f.id()}, f.newPrism("new"))
			failsWith(t, err, store.ErrNotFound)
		}},
		{"what another account has is not found", func(t *testing.T, f *fixture) {
			ctx, me, its := t.Context(), f.mine.account, f.theirs.prism.ID
			only := f.addPrism(t, f.theirs, "only-theirs")
			at := moment(9)
			_, byID := f.Prism(ctx, me, prism.Ref{ID: its})
			_, bySlug := f.Prism(ctx, me, prism.Ref{Slug: only.Slug})
			_, aVersion := f.Version(ctx, me, its, 1)
			for _, err := range []error{
				byID, bySlug, aVersion,
				f.AddVersion(ctx, me, changed(its, 2, lens("l"))), f.PutLens(ctx, me, its, 1, lens("l")), f.Rename(ctx, me, its, "n"),
				archived(f.SetArchived(ctx, me, its, &at)), archived(f.SetArchived(ctx, me, its, nil)),
			} {
				failsWith(t, err, store.ErrNotFound)
			}
			got, err := f.Prism(ctx, f.theirs.account, prism.Ref{ID: its})
			succeeds(t, err)
			same(t, got, f.theirs.prism)
		}},
		{"what is not there is not found", func(t *testing.T, f *fixture) {
			ctx, me, nothing := t.Context(), f.mine.account, prism.PrismID{UUID: f.id()}
			at := moment(9)
			_, byID := f.Prism(ctx, me, prism.Ref{ID: nothing})
			_, bySlug := f.Prism(ctx, me, prism.Ref{Slug: "nothing"})
			_, aVersion := f.Version(ctx, me, f.mine.prism.ID, 2)
			_, versionZero := f.Version(ctx, me, f.mine.prism.ID, 0)
			for _, err := range []error{
				byID, bySlug, aVersion, versionZero,
				f.AddVersion(ctx, me, changed(nothing, 2, lens("l"))), f.PutLens(ctx, me, nothing, 1, lens("l")), f.Rename(ctx, me, nothing, "n"),
				archived(f.SetArchived(ctx, me, nothing, &at)), archived(f.SetArchived(ctx, me, nothing, nil)),
			} {
				failsWith(t, err, store.ErrNotFound)
			}
		}},
		{"a new version is the latest, replaces the Lens and leaves the old version", func(t *testing.T, f *fixture) {
			want, id := f.mine.prism, f.mine.prism.ID
			want.Lens, want.Latest, want.VersionsHash = lens("new"), version(2), -2
			want.Latest.Questions[0].Text = "Changed"
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, want))
			got, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: id})
			succeeds(t, err)
			same(t, got, want)
			for _, v := range []prism.Version{f.mine.prism.Latest, want.Latest} {
				got, err := f.Version(t.Context(), f.mine.account, id, v.Number)
				succeeds(t, err)
				same(t, got, v)
			}
		}},
		{"a version that is not one above the latest is stale and changes nothing", func(t *testing.T, f *fixture) {
			for _, number := range []int32{1, 3} {
				err := f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, number, lens("new")))
				failsWith(t, err, store.ErrStale)
			}
			f.unchanged(t)
		}},
		{"a Lens is replaced while the version is the latest", func(t *testing.T, f *fixture) {
			want := f.mine.prism
			want.Lens = lens("new")
			succeeds(t, f.PutLens(t.Context(), f.mine.account, want.ID, 1, want.Lens))
			got, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: want.ID})
			succeeds(t, err)
			same(t, got, want)
		}},
		{"a Lens for another version than the latest is stale and changes nothing", func(t *testing.T, f *fixture) {
			for _, latest := range []int32{0, 2} {
				err := f.PutLens(t.Context(), f.mine.account, f.mine.prism.ID, latest, lens("new"))
				failsWith(t, err, store.ErrStale)
			}
			f.unchanged(t)
		}},
		{"an archived prism takes no version and no Lens until it is unarchived", func(t *testing.T, f *fixture) {
			ctx, me, id := t.Context(), f.mine.account, f.mine.prism.ID
			f.archive(t, id, 5)
			failsWith(t, f.AddVersion(ctx, me, changed(id, 2, lens("new"))), store.ErrArchived)
			failsWith(t, f.AddVersion(ctx, me, changed(id, 7, lens("new"))), store.ErrArchived) // before it is stale
			failsWith(t, f.PutLens(ctx, me, id, 1, lens("new")), store.ErrArchived)
			failsWith(t, f.Rename(ctx, me, id, "new"), store.ErrArchived)
			f.setArchived(t, id, nil)
			f.unchanged(t)
			succeeds(t, f.AddVersion(ctx, me, changed(id, 2, lens("new"))))
			succeeds(t, f.PutLens(ctx, me, id, 2, lens("newer")))
		}},
		{"archiving twice keeps the first time, and unarchiving twice is unarchiving once", func(t *testing.T, f *fixture) {
			id := f.mine.prism.ID
			f.archive(t, id, 5)
			f.archive(t, id, 6)
			got, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: id})
			succeeds(t, err)
			first := moment(5)
			same(t, got.ArchivedAt, &first)
			for range 2 {
				f.setArchived(t, id, nil)
				f.unchanged(t)
			}
			f.archive(t, id, 7)
			got, err = f.Prism(t.Context(), f.mine.account, prism.Ref{ID: id})
			succeeds(t, err)
			second := moment(7)
			same(t, got.ArchivedAt, &second)
		}},
		{"prisms are listed by id, newest first, page by page", func(t *testing.T, f *fixture) {
			want := []prism.Prism{f.mine.prism}
			for i, at := range []int{7, 3, 5, 5, 5, 9} {
				p := f.newPrism("prism-" + string(rune('a'+i)))
				p.CreatedAt = moment(at)
				succeeds(t, f.CreatePrism(t.Context(), f.mine.account, p))
				want = append(want, p)
			}
			slices.Reverse(want)
			for limit := 1; limit <= len(want)+1; limit++ {
				got := pages(t, limit, func(page store.Page) ([]prism.Prism, bool, error) {
					return f.ListPrisms(t.Context(), f.mine.account, prisms.Live, page)
				}, func(p prism.Prism) prism.UUID { return p.ID.UUID })
				same(t, got, want)
			}
		}},
		{"prisms are listed with their latest versions, archived ones apart", func(t *testing.T, f *fixture) {
			archived := f.addPrism(t, f.mine, "archived")
			f.archive(t, archived.ID, 5)
			at := moment(5)
			archived.ArchivedAt = &at
			live := f.mine.prism
			live.Latest, live.Lens = version(2), lens("new")
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, live))
			for which, want := range map[prisms.Which][]prism.Prism{
				prisms.Live: {live}, prisms.Archived: {archived}, prisms.All: {archived, live},
			} {
				same(t, f.listPrisms(t, which, store.Page{Limit: 10}), want)
			}
		}},
	}
}

// listPrisms lists prisms of mine.
func (f *fixture) listPrisms(t *testing.T, which prisms.Which, page store.Page) []prism.Prism {
	t.Helper()
	prisms, _, err := f.ListPrisms(t.Context(), f.mine.account, which, page)
	succeeds(t, err)
	return prisms
}

func (f *fixture) archive(t *testing.T, id prism.PrismID, ms int) {
	t.Helper()
	at := moment(ms)
	f.setArchived(t, id, &at)
}

// setArchived fails the test unless the returned time is set or cleared as asked.
func (f *fixture) setArchived(t *testing.T, id prism.PrismID, at *time.Time) {
	t.Helper()
	stored, err := f.SetArchived(t.Context(), f.mine.account, id, at)
	succeeds(t, err)
	same(t, stored != nil, at != nil)
}

// archived is the error of SetArchived.
func archived(_ *time.Time, err error) error { return err }

// unchanged fails the test unless mine's prism is as it was created.
func (f *fixture) unchanged(t *testing.T) {
	t.Helper()
	got, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: f.mine.prism.ID})
	succeeds(t, err)
	same(t, got, f.mine.prism)
}

// pages collects a list page by page.
func pages[T any](
	t *testing.T, limit int, list func(store.Page) ([]T, bool, error), id func(T) prism.UUID,
) (all []T) {
	t.Helper()
	page := store.Page{Limit: limit}
	for {
		some, more, err := list(page)
		succeeds(t, err)
		if len(some) > limit || more && len(some) == 0 {
			t.Fatalf("a page of %d has %d", limit, len(some))
		}
		all = append(all, some...)
		if !more {
			return all
		}
		page.After = id(some[len(some)-1])
	}
}
