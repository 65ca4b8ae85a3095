package memory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/locktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheMemoryLockPassesTheSuite(t *testing.T) {
	t.Parallel()
	locktest.Run(t, func(t *testing.T, c locktest.Config) locktest.Locker {
		l := New(Config{MaxWaiters: c.MaxWaiters})
		t.Cleanup(func() {
			if n := l.Waiting(); n != 0 {
				t.Errorf("%d still wait", n)
			}
		})
		return l
	})
}

func TestAWaitLastsUntilItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{})
		held := acquire(t, l, "name")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := l.Acquire(ctx, "name"); !errors.Is(err, lock.ErrTimeout) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("gave up after %s", took)
		}
		held.Release(t.Context())
	})
}

func TestALeaseLastsUntilItIsReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{})
		held := acquire(t, l, "name")
		began := time.Now()
		time.AfterFunc(time.Minute, func() { held.Release(t.Context()) })
		acquire(t, l, "name").Release(t.Context())
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the name was free after %s", took)
		}
	})
}

func TestNothingIsKeptOfANameThatNobodyWants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{})
		held := acquire(t, l, "name")
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = l.Acquire(ctx, "name") }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if n := len(l.queues); n != 1 {
			t.Errorf("%d names are kept while one is held", n)
		}
		held.Release(t.Context())
		if n := len(l.queues); n != 0 {
			t.Errorf("%d names are kept while none is held", n)
		}
	})
}

func acquire(t *testing.T, l *Locker, name string) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// spec: fair-shares
func TestAProcessHasPlacesForSomeWaiters(t *testing.T) {
	t.Parallel()
	if n := New(Config{}).waiters.Places(); n != 1024 {
		t.Errorf("%d callers wait at a time", n)
	}
}
