package e2e

import (
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// TestUnavailability holds what a call returns while a dependency of the gateway is away, and the 500.
// spec: error-service-unavailable
func TestUnavailability(t *testing.T) {
	only(t, services, func(t *testing.T, s *stack) {
		// spec: dependency-away-before-the-model
		t.Run("without results every call is a 503, and works again when they are back", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism := own.main.triage(t)
			script := own.model.Script()
			results := own.part(t, "prism-results")
			results.Process().Kill()
			own.wantAllUnavailable(t,
				call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag)},
				call{path: "/v1/results/" + absentID},
				call{method: "POST", path: "/v1/results/" + absentID + "/retry"},
				call{path: "/v1/prisms"},
				call{path: "/v1/prisms/" + prism + "/results?format=csv"},
				call{path: "/v1/keys", body: `{"name":"x"}`},
			)
			own.main.create(t, prism, "{").wantFail(t, malformed) // needs nobody
			wantEqual(t, "the number of model calls", script.Calls(), 0)
			if err := results.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			own.awaitAnswer(t, prism)
		})
		// spec: dependency-away-before-the-model
		t.Run("without model-proxy a create is a 503 that saves nothing, and reads go on", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism := own.main.triage(t)
			created := own.main.create(t, prism, text("x")).ok(t)
			failed, _ := own.main.refused(t, prism)
			models := own.part(t, "prism-model-proxy")
			models.Process().Kill()
			own.main.create(t, prism, text("x", "idempotency_key", newKey())).wantUnavailable(t)
			own.main.retry(t, failed.ID).wantUnavailable(t)
			own.main.read(t, created.ID, "").ok(t)
			wantEqual(t, "the number of results", len(own.main.results(t, "prism="+prism).Data), 2)
			if err := models.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			own.awaitAnswer(t, prism)
			own.main.retry(t, failed.ID).failed(t)
		})
		// spec: dependency-away-before-the-model
		t.Run("without Postgres every call is a 503 that asks no model, and works again when it is back", func(t *testing.T) {
			t.Parallel()
			postgres, err := pgtest.Start(t.Context(), pgtest.Options{Fsync: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := postgres.Close(); err != nil {
					t.Error(err)
				}
			})
			database, err := postgres.CreateDatabase(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			own := s.private(t, map[string]string{"PRISM_DATABASE_URL": postgres.URL(database)})
			prism, key := own.main.triage(t), newKey()
			created := own.main.create(t, prism, text("x", "idempotency_key", key))
			failed, script := own.main.refused(t, prism)
			if err := postgres.Crash(); err != nil {
				t.Fatal(err)
			}
			own.wantAllUnavailable(t,
				call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag)},
				call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag, "idempotency_key", newKey())},
				call{path: "/v1/results/" + failed.ID},
				call{method: "POST", path: "/v1/results/" + failed.ID + "/retry"},
				call{path: "/v1/prisms"},
			)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
			if err := postgres.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			own.awaitAnswer(t, prism)
			own.main.create(t, prism, text("x", "idempotency_key", key)).wantBody(t, string(created.body))
			script.Then()
			own.main.retry(t, failed.ID).ok(t)
		})
		// spec: error-internal, saving-after-the-model
		t.Run("when results go away after the model was called, the call ends with the 500", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism, release := own.main.triage(t), make(chan struct{})
			script := own.model.Script(model.Hold(release, model.Likely()))
			pending := own.main.start(t, call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag)})
			if err := script.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			own.part(t, "prism-results").Process().Kill()
			close(release)
			await(t, pending).wantFail(t, internalError)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		})
		// spec: one-save-per-result, saving-after-the-model
		t.Run("when results come back in time, the answer is saved after all", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism, release := own.main.triage(t), make(chan struct{})
			script := own.model.Script(model.Hold(release, model.Likely()))
			pending := own.main.start(t, call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag)})
			if err := script.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			results := own.part(t, "prism-results")
			results.Process().Kill()
			close(release)
			if err := results.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			created := await(t, pending).ok(t)
			own.main.read(t, created.ID, "").ok(t)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		})
		// spec: redis-is-optional
		t.Run("a Redis that is gone, or comes back empty, fails no call", func(t *testing.T) {
			t.Parallel()
			redis := redistest.New(t, redistest.Options{})
			own := s.private(t, map[string]string{"PRISM_REDIS_URL": redis.URL()})
			prism, key := own.main.triage(t), newKey()
			if err := redis.Stop(); err != nil {
				t.Fatal(err)
			}
			body := text("x", "idempotency_key", key)
			began := time.Now()
			first := own.main.create(t, prism, body)
			first.ok(t)
			own.main.create(t, prism, body).wantBody(t, string(first.body))
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("two calls without Redis took %v", took)
			}
			failed, script := own.main.refused(t, prism)
			script.Then()
			own.main.retry(t, failed.ID).ok(t)
			if err := redis.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			own.main.create(t, prism, body).wantBody(t, string(first.body))
			own.main.create(t, prism, text("x", "idempotency_key", newKey())).ok(t)
		})
		// spec: internal-token
		t.Run("a call that nobody shows the internal token is refused by results and model-proxy", func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"prism-results", "prism-model-proxy"} {
				status, _, err := fetch(t.Context(), s.part(t, name).URL()+"/")
				if err != nil || status < 400 || status > 499 {
					t.Errorf("%s answered %d: %v", name, status, err)
				}
			}
		})
	})
}

// wantAllUnavailable sends calls that must all get the 503.
func (s *stack) wantAllUnavailable(t *testing.T, calls ...call) {
	t.Helper()
	for _, in := range calls {
		if r := s.main.do(t, in); r.status != 503 {
			t.Errorf("%s: status %d: %.200s", in.path, r.status, r.body)
		} else {
			r.wantUnavailable(t)
		}
	}
}

// awaitAnswer repeats a create until it succeeds again.
func (s *stack) awaitAnswer(t *testing.T, prism string) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		r := s.main.create(t, prism, text("x"))
		if r.status != 503 {
			r.ok(t)
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("still unavailable")
		}
	}
}
