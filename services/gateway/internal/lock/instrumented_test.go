package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/locktest"
	"github.com/prism-results/prism/services/gateway/internal/lock/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// instrumentedMemory is the decorator with the count of waiters that the suite wants.
type instrumentedMemory struct {
	lock.Locker
	inner *memory.Locker
}

func (o instrumentedMemory) Waiting() int { return o.inner.Waiting() }

func TestAnInstrumentedLockPassesTheSuite(t *testing.T) {
	t.Parallel()
	locktest.Run(t, func(_ *testing.T, c locktest.Config) locktest.Locker {
		inner := memory.New(memory.Config{MaxWaiters: c.MaxWaiters})
		return instrumentedMemory{lock.Instrumented(inner, prometheus.NewRegistry()), inner}
	})
}

// scripted returns a given lease or error.
type scripted struct {
	lease lock.Lease
	err   error
	seen  func()
}

func (s scripted) Acquire(context.Context, string) (lock.Lease, error) {
	s.seen()
	return s.lease, s.err
}

func (s scripted) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return s.Acquire(ctx, name)
}

type lease struct{ expired *bool }

func (lease) Release(context.Context) {}

func (l lease) Expired() bool { return *l.expired }

func TestWaitsAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"acquired":    nil,
		"timeout":     lock.ErrTimeout,
		"busy":        lock.ErrBusy,
		"unavailable": fmt.Errorf("%w: connection refused", lock.ErrUnavailable),
		"canceled":    fmt.Errorf("left: %w", context.Canceled),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			reg := prometheus.NewRegistry()
			var during float64
			l := lock.Instrumented(scripted{lease{new(bool)}, err, func() { during = value(t, reg, "prism_lock_waiters", "") }}, reg)
			if _, got := l.Acquire(t.Context(), "a secret name"); !errors.Is(got, err) {
				t.Errorf("got %v", got)
			}
			for _, outcome := range []string{"acquired", "timeout", "busy", "unavailable", "canceled"} {
				count := 0.0
				if outcome == want {
					count = 1
				}
				if got := value(t, reg, "prism_lock_wait_seconds", outcome); got != count {
					t.Errorf("%s: %v waits, want %v", outcome, got, count)
				}
			}
			if after := value(t, reg, "prism_lock_waiters", ""); during != 1 || after != 0 {
				t.Errorf("%v callers waited during the call and %v after", during, after)
			}
		})
	}
}

func TestATryIsCountedUnlessTheNameIsHeld(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	l := lock.Instrumented(memory.New(memory.Config{}), reg)
	held, err := l.TryAcquire(t.Context(), "name")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryAcquire(t.Context(), "name"); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("got %v", err)
	}
	held.Release(t.Context())
	for outcome, want := range map[string]float64{"acquired": 1, "timeout": 0, "busy": 0, "unavailable": 0, "canceled": 0} {
		if got := value(t, reg, "prism_lock_wait_seconds", outcome); got != want {
			t.Errorf("%s: %v waits, want %v", outcome, got, want)
		}
	}
}

func TestAnExpiryIsCountedOnce(t *testing.T) {
	t.Parallel()
	for _, expires := range []bool{true, false} {
		reg := prometheus.NewRegistry()
		var expired bool
		held, err := lock.Instrumented(scripted{lease{&expired}, nil, func() {}}, reg).Acquire(t.Context(), "name")
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		if expires {
			expired, want = true, 1
		}
		held.Release(t.Context())
		held.Release(t.Context())
		if got := value(t, reg, "prism_lock_lost_total", ""); got != want {
			t.Errorf("%v expiries, want %v", got, want)
		}
	}
}

// value is what a metric reads; of a histogram, how many values it has seen.
func value(t *testing.T, reg *prometheus.Registry, name, outcome string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if strings.Contains(metric.String(), "secret") {
				t.Errorf("a name is in %s", metric)
			}
			if labels := metric.GetLabel(); family.GetName() != name || outcome != "" && labels[0].GetValue() != outcome {
				continue
			}
			return metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
