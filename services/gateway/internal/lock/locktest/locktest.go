// Package locktest is the suite that every lock.Locker passes.
package locktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/gateway/internal/lock"
)

// Locker is a lock that reports how many callers wait, so that a case can begin when they do.
type Locker interface {
	lock.Locker
	Waiting() int
}

// Config of a case's locker; zero means the default.
type Config struct{ MaxWaiters int }

const (
	// patience bounds the wait for what has to happen, on a machine of any load.
	patience = time.Minute
	// promptly is far above the time of a wake-up and below any lease whose expiry could be taken for one: open gives long
	// leases.
	promptly = 10 * time.Second
	// briefly is how long a case waits for what must not happen, or for the end of a wait.
	briefly = 50 * time.Millisecond
)

// Run runs the suite. open returns a fresh locker, which ends with the test and shares no names with another.
func Run(t *testing.T, open func(*testing.T, Config) Locker) {
	t.Helper()
	cases := []struct {
		name   string
		config Config
		check  func(*testing.T, Locker)
	}{
		{"only one of many holds a name at a time", Config{}, oneHolder},
		{"different names do not wait for each other", Config{}, independentNames},
		{"any text is a name", Config{}, anyText},
		{"a release wakes the waiter at once", Config{}, releaseWakes},
		{"the waiters of one process are served in order", Config{}, inOrder},
		{"a cancelled waiter leaves nothing behind", Config{}, cancelLeavesNothing},
		{"a cancellation during the release leaves the name to the next waiter", Config{}, cancelMeetsRelease},
		{"a context that has ended gets no lease", Config{}, endedContext},
		{"the context's deadline is a timeout", Config{}, deadline},
		{"one waiter too many gets its error at once", Config{MaxWaiters: 2}, tooMany},
		{"waiters on other names count too", Config{MaxWaiters: 2}, tooManyOverAll},
		{"the waiters of one account leave room for another's", Config{MaxWaiters: 2}, sharedByAccount},
		{"a second release does not free the next holder", Config{}, releaseTwice},
		{"a release works after the context has ended", Config{}, releaseAfterEnd},
		{"a released lease does not expire", Config{}, releasedDoesNotExpire},
		{"a try gets a free name and does not wait for a held one", Config{}, tryDoesNotWait},
		{"a try does not overtake a waiter", Config{}, tryDoesNotOvertake},
		{"random schedules are served in order", Config{}, randomSchedules},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, open(t, c.config))
		})
	}
}

func oneHolder(t *testing.T, l Locker) {
	OneHolder(t, l)
	Eventually(t, "nobody waits", func() bool { return l.Waiting() == 0 })
}

// OneHolder has many callers of lockers, which share their names, hold one name a few times each, and fails the test when two hold it.
func OneHolder(t *testing.T, lockers ...lock.Locker) {
	t.Helper()
	const callers, rounds = 32, 8
	var holders, acquired atomic.Int32
	var group sync.WaitGroup
	for n := range callers {
		group.Go(func() {
			for range rounds {
				lease, err := lockers[n%len(lockers)].Acquire(t.Context(), "contended")
				if err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the name", n)
				}
				acquired.Add(1)
				holders.Add(-1)
				lease.Release(t.Context())
			}
		})
	}
	group.Wait()
	if n := acquired.Load(); n != callers*rounds {
		t.Errorf("the name was held %d times, want %d", n, callers*rounds)
	}
}

func independentNames(t *testing.T, l Locker) {
	first := Hold(t, l, "first")
	second := Hold(t, l, "second")
	first.Release(t.Context())
	second.Release(t.Context())
}

func anyText(t *testing.T, l Locker) {
	names := []string{"", " ", "{a}", "{b}", "a b\r\nc", "\x00", "\xff", "prism:lock:{x}", "日本語", strings.Repeat("long", 10_000)}
	for _, name := range names {
		Hold(t, l, name)
	}
	for _, name := range names {
		if err := briefAcquire(t, l, name); !errors.Is(err, lock.ErrTimeout) {
			t.Errorf("%.20q is held, yet: %v", name, err)
		}
	}
}

func releaseWakes(t *testing.T, l Locker) {
	holder := Hold(t, l, "name")
	waiter := Start(t, l, "name")
	Waiters(t, l, 1)
	began := time.Now()
	holder.Release(t.Context())
	waiter.Lease(t).Release(t.Context())
	if took := time.Since(began); took > promptly {
		t.Errorf("the waiter woke after %s", took)
	}
}

func inOrder(t *testing.T, l Locker) {
	holder := Hold(t, l, "name")
	var waiters []*Call
	for n := range 8 {
		waiters = append(waiters, Start(t, l, "name"))
		Waiters(t, l, n+1)
	}
	for n, waiter := range waiters {
		holder.Release(t.Context())
		holder = waiter.Lease(t)
		for _, later := range waiters[n+1:] {
			if later.Returned() {
				t.Fatalf("a later waiter came before number %d", n+1)
			}
		}
	}
	holder.Release(t.Context())
}

func cancelLeavesNothing(t *testing.T, l Locker) {
	holder := Hold(t, l, "name")
	head := Start(t, l, "name")
	Waiters(t, l, 1)
	next := Start(t, l, "name")
	Waiters(t, l, 2)
	last := Start(t, l, "name")
	Waiters(t, l, 3)
	// The first waiter and one behind it.
	for _, call := range []*Call{head, next} {
		call.Cancel()
		if err := call.Err(t); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled waiter got %v", err)
		}
	}
	Waiters(t, l, 1)
	holder.Release(t.Context())
	last.Lease(t).Release(t.Context())
	Hold(t, l, "name").Release(t.Context())
	Waiters(t, l, 0)
}

func cancelMeetsRelease(t *testing.T, l Locker) {
	for range 50 {
		holder := Hold(t, l, "name")
		first := Start(t, l, "name")
		Waiters(t, l, 1)
		second := Start(t, l, "name")
		Waiters(t, l, 2)
		var both sync.WaitGroup
		both.Go(first.Cancel)
		both.Go(func() { holder.Release(t.Context()) })
		both.Wait()
		// The first may have got the name before it was cancelled.
		if lease, err := first.Result(t); err == nil {
			lease.Release(t.Context())
		} else if !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled waiter got %v", err)
		}
		second.Lease(t).Release(t.Context())
	}
	Waiters(t, l, 0)
}

func endedContext(t *testing.T, l Locker) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Acquire(ctx, "name"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, err := l.Acquire(ctx, "name"); !errors.Is(err, lock.ErrTimeout) {
		t.Errorf("a deadline in the past got %v", err)
	}
	Hold(t, l, "name").Release(t.Context())
}

func deadline(t *testing.T, l Locker) {
	holder := Hold(t, l, "name")
	began := time.Now()
	if err := briefAcquire(t, l, "name"); !errors.Is(err, lock.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took < briefly {
		t.Errorf("gave up after %s", took)
	}
	Waiters(t, l, 0)
	holder.Release(t.Context())
	Hold(t, l, "name").Release(t.Context())
}

func tooMany(t *testing.T, l Locker) {
	holder := Hold(t, l, "name")
	waiters := []*Call{Start(t, l, "name"), Start(t, l, "name")}
	Waiters(t, l, 2)
	began := time.Now()
	if _, err := l.Acquire(t.Context(), "name"); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > promptly {
		t.Errorf("got the error after %s", took)
	}
	// A free name needs no wait, however many there are elsewhere.
	Hold(t, l, "free").Release(t.Context())

	waiters[0].Cancel()
	_ = waiters[0].Err(t)
	waiters[0] = Start(t, l, "name")
	Waiters(t, l, 2)
	holder.Release(t.Context())
	waiters[1].Lease(t).Release(t.Context())
	waiters[0].Lease(t).Release(t.Context())
	Waiters(t, l, 0)
}

func tooManyOverAll(t *testing.T, l Locker) {
	leases := map[string]lock.Lease{}
	var waiters []*Call
	for n := range 2 {
		name := fmt.Sprint("name ", n)
		leases[name] = Hold(t, l, name)
		waiters = append(waiters, Start(t, l, name))
	}
	Waiters(t, l, 2)
	other := Hold(t, l, "other")
	if _, err := l.Acquire(t.Context(), "other"); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("got %v", err)
	}
	other.Release(t.Context())
	for _, lease := range leases {
		lease.Release(t.Context())
	}
	for _, waiter := range waiters {
		waiter.Lease(t).Release(t.Context())
	}
}

// spec: fair-shares
func sharedByAccount(t *testing.T, l Locker) {
	holder := Hold(t, l, "name")
	ctx, cancel := context.WithCancel(t.Context())
	var waiters sync.WaitGroup
	wait := func(account string) {
		waiters.Go(func() {
			if _, err := l.Acquire(fair.With(ctx, account), "name"); !errors.Is(err, context.Canceled) {
				t.Errorf("a waiter of %s: %v", account, err)
			}
		})
	}
	wait("a")
	wait("a")
	Waiters(t, l, 2)
	if _, err := l.Acquire(fair.With(ctx, "a"), "name"); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("got %v", err)
	}
	wait("b")
	Waiters(t, l, 3)
	cancel()
	waiters.Wait()
	holder.Release(t.Context())
}

func releaseTwice(t *testing.T, l Locker) {
	first := Hold(t, l, "name")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { first.Release(t.Context()) })
	}
	group.Wait()
	second := Hold(t, l, "name")
	waiter := Start(t, l, "name")
	Waiters(t, l, 1)
	first.Release(t.Context())
	if err := briefAcquire(t, l, "name"); !errors.Is(err, lock.ErrTimeout) {
		t.Errorf("the name was free: %v", err)
	}
	if waiter.Returned() {
		t.Error("the waiter got a name that is held")
	}
	second.Release(t.Context())
	waiter.Lease(t).Release(t.Context())
}

func releaseAfterEnd(t *testing.T, l Locker) {
	ctx, cancel := context.WithCancel(t.Context())
	lease, err := l.Acquire(ctx, "name")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	lease.Release(ctx)
	Hold(t, l, "name").Release(t.Context())
}

func releasedDoesNotExpire(t *testing.T, l Locker) {
	lease := Hold(t, l, "name")
	lease.Release(t.Context())
	Hold(t, l, "name").Release(t.Context())
	if lease.Expired() {
		t.Error("a released lease expired")
	}
}

func tryDoesNotWait(t *testing.T, l Locker) {
	for range 2 {
		holder, err := l.TryAcquire(t.Context(), "name")
		if err != nil {
			t.Fatalf("a free name: %v", err)
		}
		if _, err := l.TryAcquire(t.Context(), "name"); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("a held name: %v", err)
		}
		waiter := Start(t, l, "name")
		Waiters(t, l, 1)
		holder.Release(t.Context())
		waiter.Lease(t).Release(t.Context())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.TryAcquire(ctx, "name"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context got %v", err)
	}
	Hold(t, l, "name").Release(t.Context())
}

func tryDoesNotOvertake(t *testing.T, l Locker) {
	for range 50 {
		holder := Hold(t, l, "name")
		first := Start(t, l, "name")
		Waiters(t, l, 1)
		holder.Release(t.Context())
		if _, err := l.TryAcquire(t.Context(), "name"); !errors.Is(err, lock.ErrHeld) {
			t.Fatalf("the waiter was there before: %v", err)
		}
		first.Lease(t).Release(t.Context())
	}
}
