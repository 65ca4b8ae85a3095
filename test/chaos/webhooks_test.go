package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
)

// A process dies at each step between a save and the end of the delivery of its event, and at random moments, and Postgres dies too. Each
// webhook is told of every saved result at least once, of no other, in the order of the changes, and each time under one webhook-id. One of
// the two receivers fails the first try of most events. Leases of processes that died, and pauses between tries, are ended by hand: that they
// end by themselves is another test's.
//
// spec: delivery-at-least-once, delivery-order, delivery-tries
func TestEventsAreToldWhateverDies(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Flags: armable, Senders: 1})
	must(t, s.Results[1].Kill()) // otherwise it would take what the other one dies of
	st := newStage(t, s.Model, s)
	st.at, st.next = s.Gateways[0].Listen, s.Gateways[1].Listen
	st.prism(t)
	h := &hooks{stage: st, System: s}
	for i := range h.receivers {
		h.receivers[i].flaky = i > 0
		h.hook(t, &h.receivers[i])
	}
	results, sender := s.Results[0], s.Senders[0]
	for _, step := range []struct {
		victim *system.Part
		points []crash.Point
	}{
		{results, []crash.Point{crash.BeforeCommit, crash.InCommit, crash.AfterCommit, crash.InFold, crash.AfterFold}},
		{results, crash.FanOutPoints()},
		{sender, crash.DeliveryPoints()},
		{s.Gateways[0], []crash.Point{crash.AfterModel}},
	} {
		for _, at := range step.points {
			t.Run(fmt.Sprintf("%s, %s", step.victim.Name, at), func(t *testing.T) { h.once(t, step.victim, at) })
		}
	}
	t.Run("Postgres", h.postgres)
	t.Run("at random moments", h.random)
	h.check(t)
	report(t, s.Problems())
}

// hooks are the webhooks of one account.
type hooks struct {
	*stage
	*system.System
	receivers [2]hookReceiver
	hurried   time.Time // when pauses were last ended
	ended     time.Time // when leases were last ended
}

// leasesEnd is how long a lease is left to its holder. Results may lease a webhook to a sender that died just before.
const leasesEnd = 5 * time.Second

// hookReceiver is told of events.
type hookReceiver struct {
	flaky bool // it fails the first try of most events

	mu    sync.Mutex
	first []string          // results in the order of their first tries
	ids   map[string]string // webhook-id of each result
	taken map[string]bool   // results of events that were answered with 200
	order []string          // those, in their order
	wrong []error
}

func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // its sender died
	}
	var e struct {
		Type string `json:"type"`
		Data struct {
			ResultID string `json:"result_id"`
		} `json:"data"`
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := json.Unmarshal(body, &e); err != nil || e.Type != "result.created" || e.Data.ResultID == "" {
		r.wrong = append(r.wrong, fmt.Errorf("told is %s (%w)", body, err))
		return
	}
	result, id := e.Data.ResultID, req.Header.Get("webhook-id")
	before, again := r.ids[result]
	if again && before != id {
		r.wrong = append(r.wrong, fmt.Errorf("%s is told as %s and as %s", result, before, id))
	}
	if !again {
		r.first, r.ids[result] = append(r.first, result), id
	}
	switch n := len(r.first) % 3; {
	case again || !r.flaky || n == 0:
		if !r.taken[result] {
			r.order = append(r.order, result)
		}
		r.taken[result] = true
	case n == 1:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		panic(http.ErrAbortHandler) // closes the connection
	}
}

// hook makes a webhook that sends to a receiver.
func (h *hooks) hook(t *testing.T, r *hookReceiver) {
	t.Helper()
	r.ids, r.taken = map[string]string{}, map[string]bool{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	got := h.do(t.Context(), h.next, http.MethodPost, "/v1/webhooks", map[string]any{"url": server.URL, "events": []string{"result.created"}})
	if got.Status != http.StatusCreated {
		t.Fatalf("making a webhook was answered %s", got)
	}
}

// once has a process die at a step that creates come to.
func (h *hooks) once(t *testing.T, victim *system.Part, at crash.Point) {
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	must(t, victim.Kill(), victim.StartArmed(ctx, at))
	created := h.creates(ctx)
	dying, ended := context.WithTimeout(ctx, toDie)
	defer ended()
	h.hurry(t, true) // a lease of the run before may be in the way of this one
	must(t, victim.Died(dying))
	h.hurry(t, true)
	must(t, victim.Start(ctx))
	<-created
	h.told(ctx, t)
}

// postgres has Postgres die while results are saved and told.
func (h *hooks) postgres(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	created := h.creates(ctx)
	must(t, h.Postgres.Crash(), h.Postgres.Restart(ctx))
	h.hurry(t, true)
	<-created
	h.told(ctx, t)
}

// randomDeaths is how many parts die at random moments, each within randomMoment.
const (
	randomDeaths = 10
	randomMoment = 250 * time.Millisecond
)

// random has one part after the other die, at moments that a seed decides, while results are saved and told. Nothing is awaited in between,
// so that a death finds what the one before has left. Both results services look for events meanwhile.
func (h *hooks) random(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	plan := seed(t)
	t.Logf("seed %d", plan)
	rnd := rand.New(rand.NewPCG(plan, 42))
	must(t, h.Results[1].Start(ctx))
	parts := []*system.Part{h.Results[0], h.Results[1], h.Senders[0], h.Gateways[0]}
	for range randomDeaths {
		created := h.creates(ctx)
		victim, moment := rnd.IntN(len(parts)+1), time.Duration(rnd.Int64N(int64(randomMoment)))
		load.Wait(ctx, moment)
		if victim == len(parts) {
			must(t, h.Postgres.Crash(), h.Postgres.Restart(ctx))
		} else {
			must(t, parts[victim].Kill(), parts[victim].Start(ctx))
		}
		h.hurry(t, true)
		<-created
	}
	h.told(ctx, t)
}

// creates makes some results. A process that dies may leave a create without an answer.
func (h *hooks) creates(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			(&crashCase{stage: h.stage, race: int(h.begun.Add(1))}).create(ctx, h.at)
		}
	}()
	return done
}

// hurry ends pauses between tries, and leases if their holder died, as the time would.
func (h *hooks) hurry(t *testing.T, leases bool) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), h.DatabaseURL())
	must(t, err)
	defer conn.Close(t.Context())
	statement := `UPDATE deliveries SET due_at = now() - interval '1 second' WHERE due_at > now();
		UPDATE webhooks SET due_at = now() - interval '1 second' WHERE due_at > now()`
	if leases {
		h.ended = time.Now()
	} else {
		statement += ` AND token IS NULL`
	}
	_, err = conn.Exec(t.Context(), statement)
	must(t, err)
	h.hurried = time.Now()
}

// told waits until every receiver has taken all that is saved.
func (h *hooks) told(ctx context.Context, t *testing.T) {
	t.Helper()
	h.reachable(ctx, t)
	saved := h.order(ctx, t)
	until(t, "every receiver has every result", func() bool {
		if time.Since(h.hurried) > 200*time.Millisecond {
			h.hurry(t, time.Since(h.ended) > leasesEnd)
		}
		for i := range h.receivers {
			if !h.receivers[i].has(saved) {
				return false
			}
		}
		return true
	})
}

func (r *hookReceiver) has(results []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(results, func(id string) bool { return !r.taken[id] })
}

// order are all saved results, in the order of their changes.
func (h *hooks) order(ctx context.Context, t *testing.T) (results []string) {
	t.Helper()
	var list struct{ Data []saved }
	got := h.do(ctx, h.next, http.MethodGet, "/v1/results?limit=100", nil)
	if err := json.Unmarshal(got.Body, &list); err != nil || got.Status != http.StatusOK {
		t.Fatalf("%s, %v", got, err)
	}
	until(t, "every result has a change", func() bool {
		results = nil
		var page struct {
			Data []struct {
				ResultID string `json:"result_id"`
			}
		}
		got := h.do(ctx, h.next, http.MethodGet, "/v1/changes?after=0", nil)
		if err := json.Unmarshal(got.Body, &page); err != nil || got.Status != http.StatusOK {
			t.Fatalf("%s, %v", got, err)
		}
		for _, change := range page.Data {
			results = append(results, change.ResultID)
		}
		return len(results) >= len(list.Data)
	})
	return results
}

// check holds what the receivers were told against what is saved.
func (h *hooks) check(t *testing.T) {
	t.Helper()
	want := h.order(t.Context(), t)
	if len(want) < 20 {
		t.Errorf("only %d results are saved, so little is shown", len(want))
	}
	for i := range h.receivers {
		r := &h.receivers[i]
		r.mu.Lock()
		defer r.mu.Unlock()
		report(t, r.wrong)
		if !slices.Equal(r.first, want) {
			t.Errorf("VIOLATION: receiver %d was told\n%v, and saved are\n%v", i, r.first, want)
		}
		if !slices.Equal(r.order, want) { // no event fails three times, so none steps aside
			t.Errorf("VIOLATION: receiver %d has taken\n%v, and saved are\n%v", i, r.order, want)
		}
		if ids := slices.Compact(slices.Sorted(maps.Values(r.ids))); len(ids) != len(r.ids) {
			t.Errorf("VIOLATION: %d results are told under %d ids", len(r.ids), len(ids))
		}
	}
}
