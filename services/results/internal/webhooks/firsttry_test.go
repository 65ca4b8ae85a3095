package webhooks_test

import (
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// spec: webhook-condition
func TestAConditionIsEvaluatedAtTheFirstTryAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.webhook(t, webhooks.Settings{
		Events: []api.EventType{api.ResultCreated}, Condition: &api.EventCondition{Column: "urgent", Op: api.CellIs, Value: "yes"},
	})
	id := w.saved(t, "no")[0]
	w.works(t)
	w.answers[id] = api.Row{{Column: "urgent", Value: "yes"}} // by another Lens
	l, err := w.sender.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{})
	must(t, err)
	if l == nil {
		t.Fatal("the condition was evaluated before the first try")
	}
	must(t, w.sender.SaveDeliveries(t.Context(), contract.SaveDeliveries{WebhookLease: l.WebhookLease, Tries: []contract.DeliveryTry{
		{ID: l.Deliveries[0].ID, At: w.now, Status: 500, Error: api.TryStatus},
	}}))
	w.answers[id] = api.Row{{Column: "urgent", Value: "no"}}
	tells(t, w.leases(t))
	w.now = w.now.Add(webhooks.Pauses[0])
	tells(t, w.leases(t), id)
}

// spec: webhook-run-rows
func TestAnEventTellsRowsOfOneRun(t *testing.T) {
	t.Parallel()
	row := func(run, n byte) events.Event {
		return events.Event{Type: api.ResultCreated, Run: prism.RunID{UUID: prism.UUID{run}}, Result: prism.ResultID{UUID: prism.UUID{15: n}}}
	}
	alone := events.Event{Type: api.ResultFailed, Run: prism.RunID{UUID: prism.UUID{1}}, Result: prism.ResultID{UUID: prism.UUID{15: 3}}, Status: prism.Failed}
	first, second := row(1, 1), row(2, 2)
	first.Results, second.Results = []prism.ResultID{{UUID: prism.UUID{15: 3}}}, []prism.ResultID{{UUID: prism.UUID{15: 4}}}
	for _, c := range []struct {
		rows bool
		want []events.Event
	}{{true, []events.Event{first, second, alone}}, {false, []events.Event{alone}}} {
		s := webhooks.Settings{Events: []api.EventType{api.ResultCreated, api.ResultFailed}, RunRows: c.rows}
		if got := s.Select([]events.Event{row(1, 1), row(2, 2), row(1, 3), alone, row(2, 4)}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}

// spec: webhook-disabled-by-prism
func TestAWebhookThatOverflowsIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated}})
	w.saved(t, "yes")
	must(t, w.Run(t.Context(), sqldb.Change("test", "UPDATE webhooks SET waiting = $1", int64(webhooks.Most)), sqldb.NoRow))
	w.works(t)
	tells(t, w.leases(t))
	if n := metrictest.Values(t, w.metrics)["prism_webhooks_disabled_total overflow"]; n != 1 {
		t.Errorf("%v are counted", n)
	}
	if m, err := w.MeasureWebhooks(t.Context()); err != nil || m.Disabled != 1 || m.Waiting != 0 {
		t.Errorf("measured %+v, %v", m, err)
	}
}
