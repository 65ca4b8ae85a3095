package service_test

import (
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: changes-list, changes-next, changes-kept
func TestChangesAreListedWithTheirPrisms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := w.prism(t, "one"), w.prism(t, "other")
	first, second := w.save(one), w.save(other)
	w.saved(t, first, second)
	if err := w.store.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := func(in api.ListChangesRequest) (string, error) {
		response, err := contract.Do(t.Context(), w.Service, w.key, api.ListChanges, in)
		return string(response.Body), err
	}
	row := func(seq, at, slug string, of contract.Save) string {
		return `{"seq":` + seq + `,"at":"2027-01-15T08:00:00.00` + at + `Z","type":"created","result_id":"` + of.ID.String() + `","prism":"` + slug + `"}`
	}
	ref, missing := prism.Ref{Slug: "other"}, prism.Ref{Slug: "missing"}
	for _, c := range []struct {
		in   api.ListChangesRequest
		want string
	}{
		{api.ListChangesRequest{Limit: 9}, `{"data":[` + row("1", "5", "one", first) + "," + row("2", "6", "other", second) + `],"next":2}`},
		{api.ListChangesRequest{Limit: 1}, `{"data":[` + row("1", "5", "one", first) + `],"next":1}`},
		{api.ListChangesRequest{Limit: 9, Prism: &ref}, `{"data":[` + row("2", "6", "other", second) + `],"next":2}`},
		{api.ListChangesRequest{Limit: 9, After: 2}, `{"data":[],"next":2}`},
	} {
		if got, err := list(c.in); err != nil || got != c.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
		}
	}
	if _, err := list(api.ListChangesRequest{Limit: 9, After: 3}); !errors.Is(err, apierr.ChangesGone()) {
		t.Errorf("behind the last change: %v", err)
	}
	if _, err := list(api.ListChangesRequest{Limit: 9, Prism: &missing}); !errors.Is(err, apierr.PrismNotFound()) {
		t.Errorf("of a prism that is not there: %v", err)
	}
}
