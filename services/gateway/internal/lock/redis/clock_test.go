package redis

import (
	"context"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/pkg/testkit/wallclock"
	"github.com/prism-results/prism/services/gateway/internal/lock/locktest"
)

// spec: clocks-that-jump, retry-of-a-dead-process
func TestTheLeaseOfADeadHolderEndsAlthoughTheClockOfRedisWentBack(t *testing.T) {
	t.Parallel()
	server, clock := clocked(t)
	c := Config{Lease: 400 * time.Millisecond, CommandTimeout: patient}
	dead, live := openLocker(t, server.URL(), c), openLocker(t, server.URL(), c)
	locktest.Hold(t, dead, "name").(*lease).renewal.Stop()
	set(t, clock, -time.Minute)
	began := time.Now()
	locktest.Hold(t, live, "name").Release(t.Context())
	if took := time.Since(began); took > c.Lease+sluggish {
		t.Errorf("replaced after %s", took)
	}
}

// spec: clocks-that-jump
func TestALeaseThatIsRenewedOutlivesAClockOfRedisThatWentBack(t *testing.T) {
	t.Parallel()
	server, clock := clocked(t)
	c := Config{CommandTimeout: patient}
	a, b := openLocker(t, server.URL(), c), openLocker(t, server.URL(), c)
	holder := locktest.Hold(t, a, "name")
	waiter := locktest.Start(t, b, "name")
	locktest.Waiters(t, b, 1)
	set(t, clock, -time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), DefaultLease+DefaultLease/2)
	defer cancel()
	_, err := openLocker(t, server.URL(), c).Acquire(ctx, "name")
	if (err == nil || waiter.Returned()) && !holder.Expired() {
		t.Errorf("two hold the name: %v", err)
	}
	holder.Release(t.Context())
	waiter.Lease(t).Release(t.Context())
}

// The leases of a Redis whose clock goes forward end, as if it had lost its data.
// spec: clocks-that-jump
func TestAHolderLearnsThatTheClockOfRedisWentForward(t *testing.T) {
	t.Parallel()
	server, clock := clocked(t)
	c := Config{CommandTimeout: patient}
	a, b := openLocker(t, server.URL(), c), openLocker(t, server.URL(), c)
	old := locktest.Hold(t, a, "name")
	set(t, clock, time.Hour)
	holder := locktest.Hold(t, b, "name")
	locktest.Eventually(t, "the lease expires", old.Expired)
	old.Release(t.Context())
	if _, err := a.TryAcquire(t.Context(), "name"); err == nil || holder.Expired() {
		t.Errorf("the release of a lease that had expired freed the name: %v", err)
	}
	holder.Release(t.Context())
}

// clocked starts a Redis whose wall clock can be set.
func clocked(t *testing.T) (*redistest.Server, *wallclock.Clock) {
	t.Helper()
	server := redistest.New(t, redistest.Options{})
	clock, err := wallclock.TakeOver(server.PID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := clock.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, clock
}

func set(t *testing.T, clock *wallclock.Clock, ahead time.Duration) {
	t.Helper()
	if err := clock.Set(ahead); err != nil {
		t.Fatal(err)
	}
}
