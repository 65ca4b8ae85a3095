package service_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/finding"
)

// spec: search-coverage, search-sorted, error-not-indexed, search-of-all, error-not-searchable, prism-searchable
func TestWhatASearchDidNotLookAtIsSaidOrRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.triage(t)
	w.result(t, p, "r", yes(0.5))
	ref := prism.Ref{Slug: "triage"}
	words := api.ResultSearch{Q: "r"}
	list := func() string {
		response, err := w.ListResults(t.Context(), w.key, api.ListResultsRequest{ResultSearch: words, PageRequest: api.PageRequest{Limit: 9}})
		if err != nil {
			t.Fatal(err)
		}
		return string(response.Body)
	}
	calls := map[string]func() error{
		"export": func() error {
			stream, err := w.Export(t.Context(), w.key, ref, api.ExportResultsRequest{Format: contract.CSV, ResultSearch: words})
			if err == nil {
				err = stream.Body.Close()
			}
			return err
		},
		"retry": func() error {
			_, err := w.RetryResults(t.Context(), w.key, api.ResultRetry{Prism: "triage", DryRun: true, SearchMembers: api.SearchMembers(words)})
			return err
		},
		"queue": func() error {
			_, err := w.LabelQueue(t.Context(), w.key, ref, api.ListLabelQueueRequest{
				Question: "urgent", Order: prism.RandomSample, ResultSearch: words, PageRequest: api.PageRequest{Limit: 9},
			})
			return err
		},
	}
	deletion := func() (deletion.FoundPart, error) {
		return w.FindDeletion(t.Context(), deletion.Job{
			Account: w.account, Prism: p, Search: `{"q":"r"}`, SavedBefore: time.UnixMilli(2e12), DueAt: time.UnixMilli(2e12),
		})
	}
	set := func(searchable bool) {
		in := api.SetSearchableRequest{PrismRequest: api.PrismRequest{Prism: ref}, Searchable: api.Searchable{Searchable: searchable}}
		got, err := contract.Do(t.Context(), w.Service, w.key, api.SetSearchable, in)
		if err != nil || strings.Contains(string(got.Body), `"searchable":false`) == searchable {
			t.Fatalf("set %s, %v", got.Body, err)
		}
	}
	set(false)
	if body := list(); !strings.Contains(body, `"data":[]`) {
		t.Errorf("a list of all finds in a prism that is left out: %s", body)
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, apierr.NotSearchable()) {
			t.Errorf("%s of a prism that is left out: %v", name, err)
		}
	}
	if part, err := deletion(); err != nil || len(part.IDs) != 1 || !part.End {
		t.Errorf("a deletion that began before finds %+v, %v", part, err)
	}
	set(true)
	for more := true; more; {
		var err error
		if more, err = w.store.IndexOld(t.Context(), w.account, 10); err != nil {
			t.Fatal(err)
		}
	}
	if body := list(); strings.Contains(body, "indexed") || !strings.Contains(body, `"ref":"r"`) {
		t.Errorf("got %s", body)
	}
	calls["deletion"] = func() error { _, err := deletion(); return err }
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	at := time.UnixMilli(1_700_000_000_000)
	for members, covered := range map[string]finding.Covered{
		`],"indexed_until":"2023-11-14T22:13:20.000Z","next_cursor":`: {Until: &at},
		`],"indexed_from":"2023-11-14T22:13:20.000Z","next_cursor":`:  {From: &at},
		`],"sorted_newest":100000,"next_cursor":`:                     {Newest: 100_000},
	} {
		w.store.covered = &covered
		if body := list(); !strings.Contains(body, members) {
			t.Errorf("got %s, want %s", body, members)
		}
		for name, call := range calls {
			if err := call(); errors.Is(err, apierr.NotIndexed()) != (covered.Newest == 0) {
				t.Errorf("%s beside %s: %v", name, members, err)
			}
		}
	}
}
