package e2e

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestStop holds that a stopping service completes its calls, refuses all other calls and exits.
func TestStop(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: error-service-unavailable, stopping, repeated-signals
		t.Run("a stopping service finishes what it took, refuses the rest with the 503, and exits with 0", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism, release, key := own.main.triage(t), make(chan struct{}), newKey()
			script := own.model.Script(model.Hold(release, model.Likely()))
			body := text(script.Tag, "idempotency_key", key)
			pending := own.main.start(t, call{path: "/v1/prisms/" + prism + "/results", body: body})
			if err := script.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			if err := own.front.Process().Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			own.main.impatient = true
			refused := own.awaitRefusal(t)
			refused.wantUnavailable(t)
			refused.wantType(t, "application/json; charset=utf-8")
			wantEqual(t, "Connection: close", refused.closes, true)
			if err := own.front.Process().Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			own.main.create(t, prism, text("x")).wantUnavailable(t)
			own.main.do(t, call{path: "/v1/nothing", auth: none}).wantUnavailable(t)
			close(release)
			created := await(t, pending).ok(t)

			ctx, cancel := context.WithTimeout(t.Context(), launch.StopBudget)
			defer cancel()
			code, err := own.front.Process().Wait(ctx)
			if err != nil || code != 0 {
				t.Fatalf("exit code %d: %v", code, err)
			}
			if err := own.front.Start(ctx); err != nil {
				t.Fatal(err)
			}
			own.main.impatient = false
			wantEqual(t, "the result after a restart", own.main.create(t, prism, body).ok(t).ID, created.ID)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		})
	})
}

// awaitRefusal calls until the service refuses a call, which it does a moment after the signal.
func (s *stack) awaitRefusal(t *testing.T) reply {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := s.main.try(t, call{path: "/v1/prisms?limit=1"})
		if err != nil {
			t.Fatalf("no answer while calls were under way: %v", err)
		}
		if r.status != 200 {
			return r
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("calls are still taken after the signal")
		}
	}
}

// TestRestart holds that results, keys and prisms are still there after a restart or a kill.
func TestRestart(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: standalone-stores
		t.Run("a restart keeps accounts, keys, prisms and results", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism, key := own.main.triage(t), newKey()
			created := own.main.create(t, prism, text("x", "idempotency_key", key))
			failed, script := own.main.refused(t, prism)
			own.restart(t, syscall.SIGTERM)
			own.main.read(t, created.ok(t).ID, "").wantBody(t, string(created.body))
			own.main.create(t, prism, text("x", "idempotency_key", key)).wantBody(t, string(created.body))
			script.Then()
			own.main.retry(t, failed.ID).ok(t)
		})
	})
}

// restart ends the front part and starts it again. In the standalone topology the front part is all of Prism.
func (s *stack) restart(t *testing.T, sig syscall.Signal) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	if err := s.front.Process().Signal(sig); err != nil {
		t.Fatal(err)
	}
	if code, err := s.front.Process().Wait(ctx); err != nil || sig != syscall.SIGKILL && code != 0 {
		t.Fatalf("exit code %d: %v", code, err)
	}
	if err := s.front.Start(ctx); err != nil {
		t.Fatal(err)
	}
}
