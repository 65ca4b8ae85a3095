package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

func column(name, question string, show prism.Show) prism.Column {
	return prism.Column{Name: name, Question: question, Show: show}
}

// spec: lens-preview, lens-preview-results
func TestAPreviewShowsEachResultAsAReadWithThatLensWould(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of, other := w.prism(t, "tickets"), w.prism(t, "other")
	old, failed, foreign := w.save(of), w.save(of), w.save(other)
	failed.Outcome.Answers, failed.Outcome.Error = nil, "It failed."
	w.saved(t, old, failed, foreign)
	wider := definition("text")
	wider.Questions = append(wider.Questions, prism.Question{Key: "new", Type: prism.YesNo, Text: "Is it new?"})
	if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{ID: of}, api.NewVersion{Definition: wider}); err != nil {
		t.Fatal(err)
	}
	recent := w.save(of)
	recent.Version, recent.Outcome.Answers = 2, []byte(`{"q":{"type":"yes_no","probability":0},"new":{"type":"yes_no","probability":1}}`)
	w.saved(t, recent)
	l := prism.Lens{Columns: []prism.Column{column("is it", "q", prism.ShowAnswer), column("new", "new", prism.ShowAnswer)}}
	preview := api.LensPreview{Lens: l, Results: []prism.ResultID{
		recent.ID, failed.ID, foreign.ID, {UUID: prism.UUID{9}}, old.ID, recent.ID,
	}}
	before, err := w.Read(t.Context(), w.key, old.ID, contract.JSON)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.PreviewLens(t.Context(), w.key, prism.Ref{Slug: "tickets"}, preview)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := w.Read(t.Context(), w.key, old.ID, contract.JSON); err != nil || string(after.Body) != string(before.Body) {
		t.Errorf("after the preview a read is %s, %v", after.Body, err)
	}
	// What a read shows once the Lens is stored.
	if _, err := w.PutLens(t.Context(), w.key, prism.Ref{ID: of}, l); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SetArchived(t.Context(), w.key, prism.Ref{ID: of}, true); err != nil {
		t.Fatal(err)
	}
	row := func(id prism.ResultID, missing string) string {
		read, err := w.Read(t.Context(), w.key, id, contract.JSON)
		if err != nil {
			t.Fatal(err)
		}
		return `{"result":` + string(read.Body) + `,"missing":` + missing + `}`
	}
	want := `{"columns":["is it","new"],"data":[` + strings.Join([]string{
		row(recent.ID, `{}`), row(failed.ID, `{}`),
		row(old.ID, `{"new":"The version that answered does not have this question."}`), row(recent.ID, `{}`),
	}, ",") + `]}`
	if string(got.Body) != want || got.ContentType != "application/json; charset=utf-8" || got.Failed {
		t.Errorf("got  %s\nwant %s", got.Body, want)
	}
	again, err := w.PreviewLens(t.Context(), w.key, prism.Ref{ID: of}, preview)
	if err != nil || string(again.Body) != want {
		t.Errorf("archived: %s, %v", again.Body, err)
	}
	none, err := w.PreviewLens(t.Context(), w.key, prism.Ref{ID: of}, api.LensPreview{Lens: l})
	if err != nil || string(none.Body) != `{"columns":["is it","new"],"data":[]}` {
		t.Errorf("without results: %s, %v", none.Body, err)
	}
}

// spec: lens-preview-problems, order-of-checks-preview
func TestAPreviewListsTheProblemsOfItsColumns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "tickets")
	preview := api.LensPreview{Lens: prism.Lens{Columns: []prism.Column{
		column("", "q", prism.ShowAnswer), column("a", "none", prism.ShowAnswer), column("text", "q", prism.ShowAnswer),
	}}}
	_, err := w.PreviewLens(t.Context(), w.key, prism.Ref{Slug: "tickets"}, preview)
	const want = "Invalid request: columns.0.name: must match ^[A-Za-z0-9_ .-]{1,64}$; columns.1.question: Unknown question; " +
		"columns.2.name: must be unique in a row"
	var refused *apierr.Error
	if !errors.As(err, &refused) || refused.Message != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := w.PreviewLens(t.Context(), w.key, prism.Ref{Slug: "none"}, preview); !errors.Is(err, apierr.PrismNotFound()) {
		t.Errorf("a prism that is not there: %v", err)
	}
}

// few is a store that finds at most so many results at once.
type few struct {
	sqlstore.Store
	t    *testing.T
	most int
}

func (f few) FindResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input,
) ([]prism.Result, error) {
	if len(ids) > f.most {
		f.t.Errorf("%d results are loaded at once", len(ids))
	}
	return f.Store.FindResults(ctx, account, id, ids, in)
}

// spec: lens-preview
func TestAPreviewHoldsAFewResultsAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "tickets")
	var ids []prism.ResultID
	for range 50 {
		saved := w.save(of)
		w.saved(t, saved)
		ids = append(ids, saved.ID)
	}
	w.store.Store = few{w.store.Store, t, 16}
	got, err := w.PreviewLens(t.Context(), w.key, prism.Ref{ID: of}, api.LensPreview{
		Lens: prism.Lens{Columns: []prism.Column{column("is it", "q", prism.ShowAnswer)}}, Results: ids,
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := string(got.Body)
	for _, id := range ids {
		before, after, found := strings.Cut(shown, `{"result":{"id":"`+id.String()+`"`)
		if !found || strings.Contains(before, `{"result":`) {
			t.Fatalf("%s is not next in %s", id, shown)
		}
		shown = after
	}
}
