package chaos

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/system"
)

// TestTheLockOfAKilledGatewayLapses kills the gateway that holds a lock, while the model takes its time and a caller at the
// other gateway waits for the lock.
//
// The waiter continues when the holder's last lease expires: 3 s after the last renewal, which was at most 1 s before the
// kill, so 2 to 3 s after the kill. On a busy machine there is no such lower bound: a holder without processor time for 3 s
// loses its lock although it lives, and a gateway continues without Redis after two requests without a response within
// 250 ms. Both are correct and cost one model call, whose answer may have arrived by the time of the kill. So the test reads
// the lock's holder and remaining lease from Redis, and the count of calls without Redis from the waiter's gateway. If
// neither explains it, the waiter must not continue before the lease has expired.
// spec: retry-of-a-dead-process
func TestTheLockOfAKilledGatewayLapses(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Flags: armable, Forgetful: true})
	st := newStage(t, s.Model, s)
	st.at, st.next = s.Gateways[0].Listen, s.Gateways[1].Listen
	st.prism(t)
	onceOf(t, func() string { return (&lapse{&crashCase{stage: st, kind: kinds[0]}, s}).once(t) })
	report(t, s.Problems())
}

const (
	// held is how long the holder works: long enough for a second and a third lease.
	held = 6 * time.Second
	// patience is shorter than the wait of a call for the model.
	patience = 14 * time.Second
)

type lapse struct {
	*crashCase
	system *system.System
}

func (l *lapse) once(t *testing.T) (late string) {
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	l.prepare(ctx, t)
	holding, waiting := l.system.Gateways[0], l.system.Gateways[1]
	before := withoutRedis(ctx, t, waiting)
	model := l.silence(t)
	began := time.Now()
	holder := l.start(ctx, l.at)
	until(t, "the holder's call reaches the model", func() bool { return l.asked() == 1 })
	token := l.lock(ctx, t).holder
	waiter := l.start(ctx, l.next)
	until(t, "the other gateway's call waits, or goes on", func() bool {
		n, err := waiting.Metric(ctx, "prism_lock_waiters")
		return err == nil && n == 1 || l.asked() > 1
	})
	pass(held)
	asked, early := l.asked(), len(holder)+len(waiter)
	lock := l.lock(ctx, t)

	killed := time.Now()
	if err := holding.Kill(); err != nil {
		t.Fatal(err)
	}
	dead := time.Now()
	if err := model.Cure(); err != nil {
		t.Fatal(err)
	}
	first, got := <-holder, <-waiter
	took, waited := time.Since(killed), time.Since(lock.seen)
	without := withoutRedis(ctx, t, waiting) - before
	t.Logf("killed within %s with %s of the lease left, the waiting call was answered after %s",
		dead.Sub(killed).Round(time.Millisecond), lock.left, took.Round(time.Millisecond))
	l.restart(ctx, t)

	switch {
	case dead.Sub(began) > patience:
		return "the holder may have given the model up"
	case token == system.Nobody:
		return "the holder went on without Redis"
	case asked > 1 || lock.holder != token:
		return "the holder lost the lock while it lived"
	case without > 0:
		return "the waiting call went on without Redis"
	}
	if early > 0 || first.Err == nil {
		t.Errorf("a call was answered while the model was silent: the holder's %s, the waiting one %s", first, got)
	}
	if waited < lock.left {
		t.Errorf("the waiting call went on within %s, with a lease that ran %s", waited, lock.left)
	}
	if n := l.asked(); n != 2 {
		t.Errorf("the model was asked %d times by two callers of which one was killed", n)
	}
	if got.Status != http.StatusOK {
		t.Errorf("the waiting call was answered %s", got)
	}
	if saved := l.saved(ctx, t, l.next); len(saved) != 1 || saved[0].ID != got.Result().ID {
		t.Errorf("saved is %v, answered was %s", saved, got)
	}
	if again := <-l.start(ctx, l.next); again.Result().ID != got.Result().ID {
		t.Errorf("the key answers %s, not %s", again, got)
	}
	if took > goesOn {
		return fmt.Sprintf("the waiting call was answered %s after the kill", took)
	}
	return ""
}

// seenLock is the state of the lock in Redis.
type seenLock struct {
	seen   time.Time // it is no older
	holder string
	left   time.Duration
}

func (l *lapse) lock(ctx context.Context, t *testing.T) (s seenLock) {
	t.Helper()
	s.seen = time.Now()
	var err error
	if s.holder, s.left, err = l.system.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// silence stops the responses of the model.
func (l *lapse) silence(t *testing.T) *system.Link {
	t.Helper()
	const never = 3_600_000
	for _, link := range l.system.Links {
		if link.Name != "model-proxy to the model" {
			continue
		}
		err := link.Poison(system.Toxic{
			Type: "latency", Stream: "downstream", Toxicity: 1, Attributes: map[string]int{"latency": never},
		})
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	t.Fatal("there is no link to the model")
	return nil
}

// restart starts the killed gateway again.
func (l *lapse) restart(ctx context.Context, t *testing.T) {
	t.Helper()
	if err := l.system.Gateways[0].Start(ctx); err != nil {
		t.Fatal(err)
	}
	l.reachable(ctx, t)
}

// withoutRedis is the number of calls that a gateway continued without the shared lock.
func withoutRedis(ctx context.Context, t *testing.T, gateway *system.Part) (n float64) {
	t.Helper()
	for _, name := range []string{`prism_lock_wait_seconds_count{outcome="unavailable"}`, "prism_lock_lost_total"} {
		value, err := gateway.Metric(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		n += value
	}
	return n
}
