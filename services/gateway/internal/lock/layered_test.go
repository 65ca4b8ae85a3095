package lock_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/locktest"
	"github.com/prism-results/prism/services/gateway/internal/lock/memory"
)

func TestLayeredLocksPassTheSuite(t *testing.T) {
	t.Parallel()
	locktest.Run(t, func(_ *testing.T, c locktest.Config) locktest.Locker {
		local := memory.New(memory.Config{MaxWaiters: c.MaxWaiters})
		return instrumentedMemory{lock.Layered(local, memory.New(memory.Config{})), local}
	})
}

func TestWhileSharedLocksAreAwayTheCallsOfAProcessGoOneByOne(t *testing.T) {
	t.Parallel()
	away := scripted{err: lock.ErrUnavailable, seen: func() {}}
	locks := lock.Layered(memory.New(memory.Config{}), away)
	var holders, total atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			l, err := locks.Acquire(t.Context(), "name")
			if err != nil {
				t.Error(err)
				return
			}
			if n := holders.Add(1); n != 1 {
				t.Errorf("%d hold the name", n)
			}
			total.Add(1)
			holders.Add(-1)
			l.Release(t.Context())
		})
	}
	all.Wait()
	if total.Load() != 50 {
		t.Errorf("%d of 50 had the name", total.Load())
	}
}

func TestALeaseOfOneProcessAloneIsExpiredAndCountsAsUnavailable(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	away := scripted{err: lock.ErrUnavailable, seen: func() {}}
	l, err := lock.Instrumented(lock.Layered(memory.New(memory.Config{}), away), reg).Acquire(t.Context(), "name")
	if err != nil {
		t.Fatal(err)
	}
	if !l.Expired() {
		t.Error("another process can't hold the name")
	}
	l.Release(t.Context())
	if n := value(t, reg, "prism_lock_wait_seconds", "unavailable"); n != 1 {
		t.Errorf("%v waits ended as unavailable", n)
	}
	if n := value(t, reg, "prism_lock_lost_total", ""); n != 0 {
		t.Errorf("%v expiries of what was never held", n)
	}
}

func TestASharedLockThatIsRefusedLeavesTheNameFreeInTheProcess(t *testing.T) {
	t.Parallel()
	for _, want := range []error{lock.ErrTimeout, lock.ErrBusy, context.Canceled} {
		local := memory.New(memory.Config{})
		if _, err := lock.Layered(local, scripted{err: want, seen: func() {}}).Acquire(t.Context(), "name"); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		l, err := local.Acquire(t.Context(), "name")
		if err != nil {
			t.Fatal(err)
		}
		l.Release(t.Context())
	}
}
