package webhooks_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// world is a worker and a sender over a store with one prism, at a time that the test sets. It writes events.
type world struct {
	*sqlite.Store
	account prism.AccountID
	prism   prism.PrismID
	now     time.Time
	ids     uint16
	answers map[prism.ResultID]api.Row
	wrote   int   // the most results of a call that writes
	fault   error // of writing
	sender  *webhooks.Sender
	worker  *webhooks.Worker
	metrics *prometheus.Registry
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		Store: sqlitetest.New(t), account: prism.AccountID{UUID: prism.UUID{1}}, prism: prism.PrismID{UUID: prism.UUID{2}},
		now: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), answers: map[prism.ResultID]api.Row{}, metrics: prometheus.NewRegistry(),
	}
	version := prism.Version{Number: 1}
	version.Questions = []prism.Question{{Key: "urgent", Type: prism.YesNo}}
	must(t, w.CreateAccount(t.Context(), w.account, "a", storetest.By()), w.CreatePrism(t.Context(), w.account, prism.Prism{
		ID: w.prism, Slug: "p", Latest: version,
	}, storetest.By()), w.Fold(t.Context()))
	newID := func() (prism.UUID, error) { return w.id(), nil }
	now := func() time.Time { return w.now }
	w.sender = webhooks.NewSender(webhooks.SenderDeps{
		Store: w.Store, Writer: w, Now: now, NewID: newID,
		By: func(a store.Actor) (store.By, error) { return store.By{Entry: w.id(), At: w.now, Actor: a}, nil },
	})
	w.worker = webhooks.NewWorker(webhooks.WorkerDeps{
		Store: w.Store, Events: w.Store, Sender: w.sender, Now: now, NewID: newID, Log: slog.New(slog.DiscardHandler),
	})
	must(t, w.sender.MeasureSending(w.metrics), w.worker.Measure(w.metrics))
	return w
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (w *world) id() prism.UUID {
	w.ids++
	id := prism.FirstUUID(w.now)
	id[14], id[15] = byte(w.ids>>8), byte(w.ids)
	return id
}

// WriteEvents implements webhooks.Writer.
func (w *world) WriteEvents(_ context.Context, _ prism.AccountID, told []events.Event, show events.Columns) ([]api.Event, error) {
	written := make([]api.Event, len(told))
	results := 0
	shown := func(of prism.ResultID) (row api.Row) {
		for _, cell := range w.answers[of] {
			if show != nil && show(cell.Column) {
				row = append(row, cell)
			}
		}
		return row
	}
	for i, e := range told {
		results += 1 + len(e.Results)
		w.wrote = max(w.wrote, results)
		d := &written[i].Data
		written[i].Type = string(e.Type)
		if e.Results == nil && !e.Result.IsZero() {
			d.ResultID, d.Answers = e.Result.String(), shown(e.Result)
			continue
		}
		for _, id := range append([]prism.ResultID{e.Result}, e.Results...) {
			d.Results = append(d.Results, api.EventResult{ResultID: id.String(), Answers: shown(id)})
		}
	}
	return written, w.fault
}

// webhook stores a webhook of what is behind now.
func (w *world) webhook(t *testing.T, s webhooks.Settings) prism.WebhookID {
	t.Helper()
	behind, err := w.LatestEvents(t.Context(), w.account)
	must(t, err)
	id := prism.WebhookID{UUID: w.id()}
	must(t, w.CreateWebhook(t.Context(), w.account, webhooks.Webhook{
		ID: id, URL: "https://hooks.example", Enabled: true, Settings: s, CreatedAt: w.now,
	}, []byte("secret"), behind, api.MaxWebhooks, storetest.By()))
	return id
}

// saved saves results, whose column urgent has these values.
func (w *world) saved(t *testing.T, values ...any) (ids []prism.ResultID) {
	t.Helper()
	for _, v := range values {
		r := prism.Result{
			ID: prism.ResultID{UUID: w.id()}, Prism: w.prism, Version: 1, Status: prism.OK, CreatedAt: w.now,
			Answers: []byte(`{"urgent":{"type":"yes_no","probability":0.9}}`),
		}
		if v == nil {
			r.Status, r.Answers, r.Error = prism.Failed, nil, "It failed."
		} else {
			w.answers[r.ID] = api.Row{{Column: "urgent", Value: v}}
		}
		_, err := w.SaveResult(t.Context(), w.account, r)
		must(t, err)
		ids = append(ids, r.ID)
	}
	return ids
}

// works has the worker look until nothing is left.
func (w *world) works(t *testing.T) {
	t.Helper()
	for pause := time.Duration(0); pause == 0; {
		var err error
		pause, err = w.worker.Work(t.Context())
		must(t, err)
	}
}

// leases are the bodies of the next lease, which is saved as delivered: nil if nothing is due.
func (w *world) leases(t *testing.T) (bodies []string) {
	t.Helper()
	w.now = w.now.Add(time.Millisecond)
	l, err := w.sender.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{})
	must(t, err)
	if l == nil {
		return nil
	}
	s := contract.SaveDeliveries{WebhookLease: l.WebhookLease}
	for _, d := range l.Deliveries {
		bodies = append(bodies, string(d.Body))
		s.Tries = append(s.Tries, contract.DeliveryTry{ID: d.ID, At: w.now, Status: 200})
	}
	must(t, w.sender.SaveDeliveries(t.Context(), s))
	return bodies
}

// tells holds that bodies have these ids, in their order, and are as many as they.
func tells(t *testing.T, bodies []string, ids ...prism.ResultID) {
	t.Helper()
	if len(bodies) != len(ids) {
		t.Fatalf("%d bodies, want %d: %s", len(bodies), len(ids), bodies)
	}
	for i, id := range ids {
		if !strings.Contains(bodies[i], id.String()) {
			t.Errorf("%s does not tell of %s", bodies[i], id)
		}
	}
}

// spec: webhook-create, delivery-order
func TestAWebhookIsToldOfWhatHappensSinceItWasMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if pause, err := w.worker.Work(t.Context()); err != nil || pause < time.Second {
		t.Errorf("without a webhook it looks again after %v, %v", pause, err)
	}
	w.saved(t, "yes")
	must(t, w.Fold(t.Context()))
	w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated, api.ResultFailed}})
	w.works(t)
	tells(t, w.leases(t))
	ids := w.saved(t, "yes", nil, "no")
	w.works(t)
	w.works(t) // which finds nothing twice
	got := w.leases(t)
	tells(t, got, ids[0], ids[1], ids[1], ids[2])
	if !strings.Contains(got[2], `"result.failed"`) {
		t.Errorf("got %s", got[2])
	}
	tells(t, w.leases(t))
}

// spec: webhook-filters
func TestAWebhookIsToldOfWhatItAsksForOnly(t *testing.T) {
	t.Parallel()
	one, other := prism.PrismID{UUID: prism.UUID{8}}, prism.PrismID{UUID: prism.UUID{9}}
	run := prism.RunID{UUID: prism.UUID{7}}
	created := func(n byte, of prism.PrismID, s prism.Status, r prism.RunID) events.Event {
		return events.Event{Type: api.ResultCreated, Prism: of, Result: prism.ResultID{UUID: prism.UUID{15: n}}, Status: s, Run: r}
	}
	happened := []events.Event{
		created(1, one, prism.OK, prism.RunID{}), created(2, other, prism.Failed, prism.RunID{}), created(3, one, prism.OK, run),
		{Type: api.KeyExpiring},
		created(4, one, prism.Failed, run),
		{Type: api.DriftAlarm, Prism: one},
		{Type: api.RunFinished, Prism: one, Run: run},
	}
	together := created(3, one, prism.OK, run)
	together.Results = []prism.ResultID{{UUID: prism.UUID{15: 4}}}
	alone := created(3, one, prism.OK, run)
	alone.Results = []prism.ResultID{}
	all := []api.EventType{api.ResultCreated, api.KeyExpiring, api.DriftAlarm, api.RunFinished}
	for name, c := range map[string]struct {
		webhooks.Settings
		want []events.Event
	}{
		"all but rows of runs": {webhooks.Settings{Events: all}, []events.Event{happened[0], happened[1], happened[3], happened[5], happened[6]}},
		"one type":             {webhooks.Settings{Events: all[1:2]}, happened[3:4]},
		"one prism":            {webhooks.Settings{Events: all, Prisms: []prism.PrismID{one}}, []events.Event{happened[0], happened[5], happened[6]}},
		"one status":           {webhooks.Settings{Events: all[:1], Status: prism.Failed}, happened[1:2]},
		"rows of runs":         {webhooks.Settings{Events: all[:1], RunRows: true}, []events.Event{happened[0], happened[1], together}},
		"rows with a status":   {webhooks.Settings{Events: all[:1], RunRows: true, Status: prism.OK}, []events.Event{happened[0], alone}},
	} {
		if got := c.Select(happened); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// spec: webhook-run-rows
func TestAnEventTellsUpToAHundredRowsOfARun(t *testing.T) {
	t.Parallel()
	var happened []events.Event
	for i := range 250 {
		happened = append(happened, events.Event{Type: api.ResultCreated, Run: prism.RunID{UUID: prism.UUID{1}}, Result: prism.ResultID{UUID: prism.UUID{15: byte(i)}}})
	}
	var got []int
	for _, e := range (webhooks.Settings{Events: []api.EventType{api.ResultCreated}, RunRows: true}).Select(happened) {
		got = append(got, 1+len(e.Results))
	}
	if !reflect.DeepEqual(got, []int{100, 100, 50}) {
		t.Errorf("got %v", got)
	}
}

// spec: webhook-condition
func TestAConditionHoldsOfWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op    api.ConditionOp
		value string
		want  []int // of the results
	}{
		{api.CellIs, "yes", []int{0}},
		{api.CellNot, "yes", []int{1, 2, 3}},
		{api.CellIs, "0.50", []int{2}},
		{api.CellFrom, "0.5", []int{2, 3}},
		{api.CellTo, "0.5", []int{2}},
	} {
		w := newWorld(t)
		w.webhook(t, webhooks.Settings{
			Events: []api.EventType{api.ResultCreated}, Condition: &api.EventCondition{Column: "urgent", Op: c.op, Value: c.value},
		})
		ids := w.saved(t, "yes", "no", 0.5, 2.0, nil)
		w.works(t)
		want := make([]prism.ResultID, len(c.want))
		for i, n := range c.want {
			want[i] = ids[n]
		}
		tells(t, w.leases(t), want...)
		tells(t, w.leases(t))
		if m, err := w.MeasureWebhooks(t.Context()); err != nil || m.Waiting != 0 {
			t.Errorf("%d wait, %v", m.Waiting, err)
		}
	}
}

func TestALeaseWhoseBodiesCannotBeWrittenIsGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated}})
	ids := w.saved(t, "yes")
	w.works(t)
	w.fault = store.ErrUnavailable
	if _, err := w.sender.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	w.fault = nil
	tells(t, w.leases(t), ids...)
}

// spec: webhook-condition
func TestRowsThatDoNotFitAreLeftOutOfTheirEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.webhook(t, webhooks.Settings{
		Events: []api.EventType{api.ResultCreated}, RunRows: true, Condition: &api.EventCondition{Column: "urgent", Op: api.CellIs, Value: "yes"},
	})
	ids := w.saved(t, "no", "yes", "no", "yes")
	behind, err := w.WebhooksBehind(t.Context(), 9)
	must(t, err, w.Fold(t.Context()))
	if len(behind) == 0 {
		behind, err = w.WebhooksBehind(t.Context(), 9)
		must(t, err)
	}
	latest, err := w.LatestEvents(t.Context(), w.account)
	must(t, err)
	told := webhooks.Told{Webhook: hook, Generation: behind[0].Generation, Least: w.id(), Events: []events.Event{{
		Type: api.ResultCreated, Result: ids[0], Results: ids[1:], Run: prism.RunID{UUID: prism.UUID{5}},
	}}}
	_, err = w.FanOut(t.Context(), webhooks.FanOut{
		Account: w.account, From: behind[0].Cursor, To: latest, Told: []webhooks.Told{told}, Now: w.now,
	}, nil)
	must(t, err)
	got := strings.Join(w.leases(t), "")
	for i, id := range ids {
		if strings.Contains(got, id.String()) != (i%2 == 1) {
			t.Errorf("result %d: %s", i, got)
		}
	}
}

func TestDeliveriesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated}})
	w.saved(t, "yes", "no")
	w.works(t)
	w.leases(t)
	w.saved(t, "yes")
	w.works(t)
	l, err := w.sender.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{Healthy: true})
	must(t, err)
	must(t, w.sender.SaveDeliveries(t.Context(), contract.SaveDeliveries{WebhookLease: l.WebhookLease, Tries: []contract.DeliveryTry{
		{ID: l.Deliveries[0].ID, At: w.now, Status: 410, Error: api.TryStatus},
	}}))
	values := metrictest.Values(t, w.metrics)
	for name, want := range map[string]float64{
		"prism_webhook_deliveries_total delivered": 2, "prism_webhook_deliveries_total failed": 1, "prism_webhook_deliveries_total again": 0,
		"prism_webhooks_disabled_total gone": 1, "prism_webhooks_disabled_total failing": 0, "prism_webhook_fan_outs_total failed": 0,
	} {
		if values[name] != want {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
}

// endless has a result saved whenever events are read.
type endless struct {
	events.Store
	t    *testing.T
	w    *world
	read int
}

func (e *endless) ReadEvents(ctx context.Context, account prism.AccountID, after events.Cursor, limit int, created bool) ([]events.Event, events.Cursor, error) {
	e.read++
	e.w.saved(e.t, "yes")
	return e.Store.ReadEvents(ctx, account, after, limit, created)
}

func TestALookDoesNotFollowWhatHappensMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := &endless{Store: w.Store, t: t, w: w}
	worker := webhooks.NewWorker(webhooks.WorkerDeps{
		Store: w.Store, Events: e, Sender: w.sender, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler),
		NewID: func() (prism.UUID, error) { return w.id(), nil },
	})
	w.webhook(t, webhooks.Settings{Events: []api.EventType{api.ResultCreated}})
	w.saved(t, "yes")
	if pause, err := worker.Work(t.Context()); err != nil || pause == 0 || e.read != 1 {
		t.Errorf("it read %d times and goes on after %v, %v", e.read, pause, err)
	}
	for range 1200 { // more than two pages
		w.saved(t, "no")
	}
	e.read = 0
	if pause, err := worker.Work(t.Context()); err != nil || pause == 0 || e.read != 3 {
		t.Errorf("of full pages it read %d and goes on after %v, %v", e.read, pause, err)
	}
}
