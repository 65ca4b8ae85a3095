package service_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// spec: event-list, event-body
func TestEventsAreListedAsTheyAreNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := func(in api.ListEventsRequest) (out api.Events, body string) {
		t.Helper()
		response, err := contract.Do(t.Context(), w.Service, w.key, api.ListEvents, in)
		if err != nil {
			t.Fatal(err)
		}
		if err := strictjson.Unmarshal(response.Body, &out); err != nil {
			t.Fatal(err)
		}
		return out, string(response.Body)
	}
	first, _ := list(api.ListEventsRequest{Limit: 9})
	one, other := w.prism(t, "one"), w.prism(t, "other")
	ok, failed, gone := w.save(one), w.save(other), w.save(one)
	failed.Outcome = contract.Outcome{Error: "It failed.", TookMS: 5}
	w.saved(t, ok, failed, gone)
	by := w.by()
	if err := w.store.DeleteResult(t.Context(), w.account, gone.ID, by); err != nil {
		t.Fatal(err)
	}
	types := func(of api.Events) string {
		var all []string
		for _, e := range of.Data {
			all = append(all, e.Type)
		}
		return strings.Join(all, " ")
	}
	all, body := list(api.ListEventsRequest{EventFilter: api.EventFilter{Answers: true}, After: first.Next, Limit: 9})
	if got := types(all); got != strings.Repeat("prism.changed ", 2)+strings.Repeat("result.created ", 2)+"result.failed result.created" {
		t.Fatalf("told %s", got)
	}
	for _, want := range []string{
		`"data":{"prism":"one","version":1,"change":"prism.create"}}`,
		`"data":{"result_id":"` + ok.ID.String() + `","prism":"one","version":1,"status":"ok","answers":{"q":"yes","q_probability":0.75}}}`,
		`"data":{"result_id":"` + failed.ID.String() + `","prism":"other","version":1,"status":"failed"}}`,
		`"data":{"result_id":"` + gone.ID.String() + `","prism":"one","status":"deleted"}}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if _, body := list(api.ListEventsRequest{After: first.Next, Limit: 9}); strings.Contains(body, "answers") || strings.Contains(body, "hello") {
		t.Errorf("told of answers that nobody asked for: %s", body)
	}
	ref := prism.Ref{Slug: "other"}
	filter := api.EventFilter{Prism: &ref, Events: []api.EventType{api.ResultCreated, api.ResultFailed}}
	if some, _ := list(api.ListEventsRequest{EventFilter: filter, After: first.Next, Limit: 9}); types(some) != "result.created result.failed" {
		t.Errorf("told %s of the other prism", types(some))
	}
	for place, n := first.Next, 0; ; n++ { // a page of one event ends between both events of the failed result
		page, _ := list(api.ListEventsRequest{After: place, Limit: 1})
		if place = page.Next; len(page.Data) == 0 {
			if n != len(all.Data) || place != all.Next {
				t.Errorf("%d pages lead to %s, want %d and %s", n, place, len(all.Data), all.Next)
			}
			break
		}
		rest, _ := list(api.ListEventsRequest{After: all.Data[n].ID, Limit: 9})
		if len(rest.Data) != len(all.Data)-n-1 || len(rest.Data) > 0 && rest.Data[0].ID != all.Data[n+1].ID {
			t.Errorf("behind the id of event %d are %d", n, len(rest.Data))
		}
		if page.Data[0].ID != all.Data[n].ID || page.Data[0].Type != all.Data[n].Type {
			t.Errorf("page %d has %+v, want %+v", n, page.Data[0], all.Data[n])
		}
	}
	for after, want := range map[string]*apierr.Error{
		"9": nil, "1.-1": nil, "0.0.0": nil, "01.1": nil, "999.1": apierr.ChangesGone(),
	} {
		_, err := contract.Do(t.Context(), w.Service, w.key, api.ListEvents, api.ListEventsRequest{After: after, Limit: 9})
		refused, ok := errors.AsType[*apierr.Error](err)
		if !ok || want == nil && refused.Status != 400 || want != nil && !errors.Is(err, want) {
			t.Errorf("after %s: %v", after, err)
		}
	}
}
