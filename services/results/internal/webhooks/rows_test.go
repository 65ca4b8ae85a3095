package webhooks_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// rows has so many events of a hundred rows each happen to a webhook, of which those are urgent that fit, and returns all rows.
func (w *world) rows(t *testing.T, hook prism.WebhookID, n int, fits func(row int) bool) (ids []prism.ResultID) {
	t.Helper()
	told := webhooks.Told{Webhook: hook, Generation: 1, Least: w.id()}
	for range n {
		e := events.Event{Type: api.ResultCreated, Run: prism.RunID{UUID: prism.UUID{5}}, Results: []prism.ResultID{}}
		for i := range 100 {
			id := prism.ResultID{UUID: w.id()}
			w.answers[id] = api.Row{{Column: "urgent", Value: map[bool]string{true: "yes", false: "no"}[fits(len(ids))]}}
			if ids = append(ids, id); i == 0 {
				e.Result = id
			} else {
				e.Results = append(e.Results, id)
			}
		}
		told.Events = append(told.Events, e)
	}
	w.saved(t, "no") // so that there is a place for the webhook to go to
	must(t, w.Fold(t.Context()))
	behind, err := w.WebhooksBehind(t.Context(), 9)
	must(t, err)
	latest, err := w.LatestEvents(t.Context(), w.account)
	must(t, err)
	_, err = w.FanOut(t.Context(), webhooks.FanOut{
		Account: w.account, From: behind[0].Cursor, To: latest, Told: []webhooks.Told{told}, Now: w.now,
	}, nil)
	must(t, err)
	return ids
}

// leasesAll leases and delivers until nothing is due, and returns the results of each lease.
func (w *world) leasesAll(t *testing.T) (leases [][]string) {
	t.Helper()
	for {
		bodies := w.leases(t)
		if bodies == nil {
			return leases
		}
		var results []string
		for _, body := range bodies {
			var told api.Event
			must(t, json.Unmarshal([]byte(body), &told))
			for _, r := range told.Data.Results {
				results = append(results, r.ResultID)
			}
		}
		leases = append(leases, results)
	}
}

// A lease of 30 events could have 3,000 results, each with a megabyte of columns: it has no more than some, and the others their turn.
//
// spec: webhook-run-rows, webhook-condition, delivery-order
func TestALeaseReadsSomeRowsOfRunsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		condition *api.EventCondition
		fits      func(row int) bool
	}{
		"without a condition": {nil, func(int) bool { return true }},
		"that fit seldom": {
			&api.EventCondition{Column: "urgent", Op: api.CellIs, Value: "yes"}, func(row int) bool { return row == 1234 || row == 2999 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook := w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated}, RunRows: true, Answers: true, Condition: c.condition})
			var want []string
			for i, id := range w.rows(t, hook, 30, c.fits) {
				if c.fits(i) {
					want = append(want, id.String())
				}
			}
			leases := w.leasesAll(t)
			if got := slices.Concat(leases...); !slices.Equal(got, want) {
				t.Errorf("%d results were told, want %d", len(got), len(want))
			}
			for _, results := range leases {
				if len(results) > 200 {
					t.Errorf("a lease has %d results", len(results))
				}
			}
			if w.wrote > 100 {
				t.Errorf("%d results were read at once", w.wrote)
			}
			found, err := w.Webhook(t.Context(), w.account, hook)
			must(t, err)
			if found.Waiting != 0 {
				t.Errorf("%d wait", found.Waiting)
			}
		})
	}
}

// Single results fill a lease.
func TestALeaseHasAHundredEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated}})
	w.saved(t, slices.Repeat([]any{"yes"}, 150)...)
	w.works(t)
	for _, want := range []int{contract.LeasedDeliveries, 50} {
		if got := len(w.leases(t)); got != want {
			t.Errorf("a lease has %d events, want %d", got, want)
		}
	}
}
