package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/fault"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// TestEveryHistoryHoldsWhateverFails checks what callers saw under faults, and what is stored afterwards.
// spec: linearizable, one-save-per-result, durable-before-response, redis-is-optional, retry-of-a-dead-process, changes, changes-order, changes-next
func TestEveryHistoryHoldsWhateverFails(t *testing.T) {
	d := length(t)
	w := startWorld(t,
		system.Config{Model: upstream.Config{Pause: 2 * time.Millisecond, MaxPause: time.Second}},
		load.Config{
			Seed: seed(t), Clients: 18, LeavePercent: 3, Pause: 5 * time.Millisecond,
			Tag: upstream.Tag{FailPercent: 45, SlowPercent: 4, FlakyPercent: 2},
		})
	plan := w.plan(d)
	t.Logf("seed %d: %d faults in %s", w.seed, len(plan), d)
	var faults *fault.Runner
	newMirror(t, w).during(t, func() { faults = w.drive(t, d, plan) })
	w.report(t, faults.Counts(), history.Check(w.load.Histories()), w.problems(t))
}

func TestWithoutFaultsTheModelIsAskedOncePerResult(t *testing.T) {
	t.Parallel()
	onceOf(t, func() string {
		w := startWorld(t,
			system.Config{Model: upstream.Config{Pause: 2 * time.Millisecond, MaxPause: 100 * time.Millisecond}},
			load.Config{
				Seed: seed(t), Clients: 18, LeavePercent: 3, Pause: 5 * time.Millisecond,
				Tag: upstream.Tag{FailPercent: 45, SlowPercent: 4},
			})
		w.drive(t, 2*time.Second, nil)
		w.report(t, nil, history.Check(w.load.Histories()), w.problems(t))
		return w.undisturbed(t)
	})
}

// undisturbed looks for effects that only a fault may have: a second model call for a result, or a 503. On a busy machine
// Redis or another service may not respond in time. A gateway counts how often it went on without Redis; only that explains
// a second model call.
func (w *world) undisturbed(t *testing.T) (late string) {
	t.Helper()
	without := 0.0
	for _, g := range w.Gateways {
		without += withoutRedis(t.Context(), t, g)
	}
	for _, err := range w.audit(t, true) {
		if without > 0 {
			return fmt.Sprintf("gateways went on without Redis %v times, and %s", without, err)
		}
		t.Errorf("VIOLATION: %v", err)
	}
	if n := w.load.Seen().Nothing; n > 0 {
		return fmt.Sprintf("%d calls were told that something is unavailable", n)
	}
	return ""
}
