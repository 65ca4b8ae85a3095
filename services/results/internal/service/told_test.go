package service_test

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// toldBody is a body that was leased.
type toldBody struct {
	Type, Timestamp string
	Data            map[string]any
	text            string
}

// members are the names of the data, in their order.
func (b toldBody) members() string { return strings.Join(slices.Sorted(maps.Keys(b.Data)), " ") }

// fanOut has webhooks look at what happened.
func (w *world) fanOut(t *testing.T) {
	t.Helper()
	work := webhooks.NewWorker(webhooks.WorkerDeps{
		Store: w.store, Events: w.store, Sender: w.Sender(), Now: w.Now, NewID: func() (prism.UUID, error) { return w.id(), nil },
		Log: slog.New(slog.DiscardHandler),
	})
	for pause := time.Duration(0); pause == 0; {
		var err error
		if pause, err = work.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// told leases all bodies that are due, and has them answered with 200.
func (w *world) told(t *testing.T) (all []toldBody, last contract.Delivery) {
	t.Helper()
	for {
		l, err := w.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{})
		if err != nil {
			t.Fatal(err)
		}
		if l == nil {
			return all, last
		}
		saved := contract.SaveDeliveries{WebhookLease: l.WebhookLease}
		for _, last = range l.Deliveries {
			body := toldBody{text: string(last.Body)}
			if err := json.Unmarshal(last.Body, &body); err != nil {
				t.Fatal(err)
			}
			all = append(all, body)
			saved.Tries = append(saved.Tries, contract.DeliveryTry{ID: last.ID, At: w.Now(), Status: 200})
		}
		if err := w.SaveDeliveries(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
	}
}

// tell tells of events that no call of this test makes happen.
func (w *world) tell(t *testing.T, all ...events.Event) {
	t.Helper()
	database := w.store.Store.(sqldb.Database) //nolint:forcetypeassert // see newWorld
	err := database.Transaction(t.Context(), "tell", func(run sqldb.Run) error {
		for _, e := range all {
			if err := sqldb.Tell(t.Context(), run, w.account, store.NewEvent{
				Type: e.Type, At: e.At, Prism: e.Prism, Subject: cmp.Or(e.Run.UUID, e.Key.UUID), Detail: e.EventDetail,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// everythingHappens has every event happen, about what has marks in all that is not to be told, and returns the marks.
func (w *world) everythingHappens(t *testing.T) (marks []string) {
	t.Helper()
	of := w.prism(t, "one")
	ref := "refmark"
	ok, failed := w.save(of), w.save(of)
	for _, s := range []*contract.Save{&ok, &failed} {
		s.Ref, s.Context, s.IdempotencyKey, s.Fields[0].Value = &ref, "contextmark", "idempotencymark"+s.ID.String(), "fieldmark"
	}
	failed.Outcome = contract.Outcome{Error: "errormark", TookMS: 5}
	w.saved(t, ok, failed)
	w.labelOf(t, ok.ID, "q", "true")
	run, _ := w.run(t)
	chunk := w.leased(t)
	if _, err := w.ActOnRun(t.Context(), w.key, run, api.PauseRun); err != nil {
		t.Fatal(err)
	}
	w.answered(t, chunk, used(1, 1, ""), used(1, 1, "errormark"))
	w.tend(t)
	if _, err := w.ActOnRun(t.Context(), w.key, run, api.CancelRun); err != nil {
		t.Fatal(err)
	}
	w.tend(t)
	secret := "keynamemark"
	ends := w.Now().Add(24 * time.Hour)
	w.newKey(t, api.NewKey{Name: secret, Role: prism.Owner, ExpiresAt: &ends})
	if _, err := w.store.TellExpiring(t.Context(), w.Now()); err != nil {
		t.Fatal(err)
	}
	w.tell(
		t, events.Event{Type: api.RunFinished, At: w.Now(), Prism: of, Run: run},
		events.Event{Type: api.DriftAlarm, At: w.Now(), Prism: of, EventDetail: store.EventDetail{Version: 1, Question: "q"}},
		events.Event{Type: api.DriftEnded, At: w.Now(), Prism: of, EventDetail: store.EventDetail{Version: 1, Question: "q"}},
	)
	marks = []string{
		ref, "contextmark", "idempotencymark", "fieldmark", "errormark", secret, "hello", "second", "two\\nlines", "March", "Is it?", "whsec", "secret",
	}
	for text := range w.digests {
		marks = append(marks, text)
	}
	return marks
}

func (w *world) tend(t *testing.T) {
	t.Helper()
	if _, err := w.store.TendRuns(t.Context(), w.Now()); err != nil {
		t.Fatal(err)
	}
}

// spec: event-body, event-types, webhook-run-rows
func TestABodyHasIDsStatesAndAnswersOnDemandAlone(t *testing.T) {
	t.Parallel()
	const result, row, answers = "prism result_id status version", "prism results run_id", " answers"
	want := map[string][]string{
		"result.created":  {result, result, row},
		"result.failed":   {result, "prism result_id run_id status version"},
		"result.labelled": {result},
		"run.started":     {"prism run_id status"},
		"run.paused":      {"prism run_id status"},
		"run.finished":    {"prism run_id status"},
		"run.cancelled":   {"prism run_id status"},
		"drift.alarm":     {"prism question version"},
		"drift.ended":     {"prism question version"},
		"prism.changed":   {"change prism version", "change prism version"},
		"key.expiring":    {"expires_at key_id"},
	}
	for _, with := range []bool{false, true} {
		w := newWorld(t)
		var types []api.EventType
		for _, name := range api.EventType("").Values() {
			types = append(types, api.EventType(name))
		}
		w.hook(t, api.NewWebhook{URL: "https://hooks.example", Events: types, Answers: with, RunRows: true})
		marks := w.everythingHappens(t)
		w.fanOut(t)
		all, _ := w.told(t)
		got := map[string][]string{}
		answered := 0
		for _, b := range all {
			if !strings.HasPrefix(b.text, `{"type":"`+b.Type+`","timestamp":"`+b.Timestamp+`","data":{`) {
				t.Errorf("the body is %s", b.text)
			}
			for _, mark := range marks {
				if strings.Contains(b.text, mark) {
					t.Errorf("%s is told in %s", mark, b.text)
				}
			}
			answered += strings.Count(b.text, `"answers":{"q":"yes","q_probability":0.75}`)
			got[b.Type] = append(got[b.Type], strings.TrimPrefix(strings.ReplaceAll(" "+b.members(), answers, ""), " "))
		}
		for name, members := range want {
			if !slices.Equal(slices.Sorted(slices.Values(got[name])), slices.Sorted(slices.Values(members))) {
				t.Errorf("%s has %q, want %q", name, got[name], members)
			}
		}
		if len(got) != len(want) || len(want) != len(types) {
			t.Errorf("told of %v", slices.Collect(maps.Keys(got)))
		}
		if count := map[bool]int{true: 3}[with]; answered != count { // created, labelled, and of a row
			t.Errorf("answers: %v: %d are told", with, answered)
		}
	}
}

// spec: event-body, webhook-resend
func TestABodyIsMadeWhenItIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.prism(t, "one")
	hook := w.hook(t, api.NewWebhook{URL: "https://hooks.example", Events: []api.EventType{api.ResultCreated}, Answers: true})
	before, after := w.save(of), w.save(of)
	w.saved(t, before, after)
	w.fanOut(t)
	if _, err := w.DeleteResult(t.Context(), w.key, before.ID); err != nil {
		t.Fatal(err)
	}
	all, last := w.told(t)
	if len(all) != 2 || all[0].members() != "prism result_id status" || all[0].Data["status"] != "deleted" || all[1].Data["answers"] == nil {
		t.Fatalf("told %+v", all)
	}
	if _, err := w.DeleteResult(t.Context(), w.key, after.ID); err != nil {
		t.Fatal(err)
	}
	again := api.ResendDeliveryRequest{WebhookRequest: api.WebhookRequest{Webhook: webhookID(t, hook)}, Delivery: last.ID}
	asked[api.ResendDeliveryRequest, api.Delivery, api.Delivery](t, w, api.ResendDelivery, again)
	all, resent := w.told(t)
	if len(all) != 1 || resent.ID != last.ID || all[0].members() != "prism result_id status" || all[0].Data["status"] != "deleted" ||
		all[0].Data["result_id"] != after.ID.String() {
		t.Errorf("told again %+v", all)
	}
}
