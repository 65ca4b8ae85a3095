package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: run-from-results
func TestTheFileOfARunOfResultsHasTheInputsOfThoseThatMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.triage(t)
	ids := map[string]prism.ResultID{}
	for _, ref := range []string{"one", "two", "three"} {
		ids[ref] = w.result(t, of, ref, yes(0.5))
	}
	kept := &readAtOnce{Store: w.store.Store, Blobs: w.blobs.Blobs, waiting: func() {}}
	w.store.Store, w.blobs.Blobs = kept, kept
	among := func(some ...prism.ResultID) api.ResultsOfRun {
		return api.ResultsOfRun{IDs: some, SearchMembers: api.SearchMembers{Q: "two or three"}}
	}
	for _, c := range []struct {
		name string
		api.ResultsOfRun
		want string // the refs of its rows, or the error
	}{
		{"all", api.ResultsOfRun{}, "one two three"},
		{"some ids, one of them twice", api.ResultsOfRun{
			IDs: []prism.ResultID{ids["three"], ids["one"], ids["three"], {UUID: prism.UUID{1}}},
		}, "one three"},
		{"words", api.ResultsOfRun{SearchMembers: api.SearchMembers{Q: "two or three"}}, "two three"},
		{"words among ids", among(ids["one"], ids["two"]), "two"},
		{"words among ids of which none has them", among(ids["one"]), "400 Invalid request: from_results: no result matches"},
		{"a version", api.ResultsOfRun{Version: 1, Status: prism.OK}, "one two three"},
		{"no result", api.ResultsOfRun{Status: prism.Failed}, "400 Invalid request: from_results: no result matches"},
		{"a wrong condition", api.ResultsOfRun{SearchMembers: api.SearchMembers{Where: []string{"x:labelled"}}}, "400 Invalid request: from_results.where.0: Unknown question"},
	} {
		kept.content = nil
		n, err := w.LabelsRun(t.Context(), w.key, prism.Ref{ID: of}, api.NewRun{FromResults: &c.ResultsOfRun})
		got := fmt.Sprint(err)
		if err == nil {
			got = ""
			for line := range strings.Lines(string(kept.content)) {
				for ref := range ids {
					if strings.HasPrefix(line, `{"ref":"`+ref+`",`) {
						got += " " + ref
					}
				}
			}
			got = got[1:]
			if n.Version != 1 || n.Ref != "ref" || n.Context != "context" || len(n.Labels) != 0 || n.File.IsZero() {
				t.Errorf("%s: %+v", c.name, n)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if _, err := w.store.IndexChanges(t.Context(), w.account, 10); err != nil { // the rows behind the first find what is indexed
			t.Fatal(err)
		}
	}
}

// endlessResults is a store in which a list has as many results as a page may have.
type endlessResults struct{ sqlstore.Store }

func (endlessResults) ListResults(
	_ context.Context, _ prism.AccountID, _ store.Filter, _ store.Input, page store.Page,
) (found []store.Saved, more bool, err error) {
	for i := range page.Limit {
		found = append(found, store.Saved{Result: prism.Result{ID: prism.ResultID{UUID: prism.UUID{byte(i >> 8), byte(i), 1}}}})
	}
	return found, true, nil
}

// spec: run-from-results
func TestARunOfResultsHas10000AtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.triage(t)
	w.store.Store = endlessResults{w.store.Store}
	_, err := w.LabelsRun(t.Context(), w.key, prism.Ref{ID: of}, api.NewRun{FromResults: &api.ResultsOfRun{}})
	if want := "400 Invalid request: from_results: more than 10,000 results match"; fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
}
