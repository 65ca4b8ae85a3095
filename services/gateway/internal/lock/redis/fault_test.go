package redis

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/locktest"
)

// faults are the ways in which Redis goes away.
var faults = map[string]func(*redistest.Server) error{
	"killed": (*redistest.Server).Kill,
	"paused": (*redistest.Server).Pause,
}

// spec: redis-is-optional
func TestARedisThatIsAwayCostsMilliseconds(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		for _, used := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, used before %t", name, used), func(t *testing.T) {
				t.Parallel()
				server := redistest.New(t, redistest.Options{})
				const timeout = 500 * time.Millisecond
				l := openLocker(t, server.URL(), Config{Cooldown: time.Minute, CommandTimeout: timeout})
				if used {
					locktest.Hold(t, l, "name").Release(t.Context())
				}
				inject(t, server, fault)
				// The first calls find out, each within a command's time, and the others know.
				began := time.Now()
				for range 1000 {
					if _, err := l.Acquire(t.Context(), "name"); !errors.Is(err, lock.ErrUnavailable) {
						t.Fatalf("got %v", err)
					}
				}
				if took := time.Since(began); took > tripAfter*timeout+sluggish {
					t.Errorf("1000 calls took %s", took)
				}
			})
		}
	}
}

func TestWaitsEndWhenRedisGoesAway(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.New(t, redistest.Options{})
			c := Config{CommandTimeout: 500 * time.Millisecond}
			a, b := lasting(openLocker(t, server.URL(), c)), lasting(openLocker(t, server.URL(), c))
			var calls []*locktest.Call
			for _, name := range []string{"one", "two", "three"} {
				locktest.Hold(t, a, name)
				calls = append(calls, locktest.Start(t, b, name))
			}
			locktest.Waiters(t, b, len(calls))
			inject(t, server, fault)
			for _, call := range calls {
				if err := call.Err(t); !errors.Is(err, lock.ErrUnavailable) {
					t.Errorf("got %v", err)
				}
			}
			locktest.Waiters(t, b, 0)
		})
	}
}

func TestALeaseExpiresAndItsReleaseIsQuickWhenRedisStaysAway(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.New(t, redistest.Options{})
			const lease = 600 * time.Millisecond
			l := openLocker(t, server.URL(), Config{Lease: lease, CommandTimeout: time.Second})
			holder := locktest.Hold(t, l, "name")
			began := time.Now()
			inject(t, server, fault)
			locktest.Eventually(t, "the lease expires", holder.Expired)
			if took := time.Since(began); took > lease+sluggish {
				t.Errorf("the expiry was noticed after %s", took)
			}
			began = time.Now()
			holder.Release(t.Context())
			if took := time.Since(began); took > sluggish {
				t.Errorf("the release took %s", took)
			}
		})
	}
}

func TestARedisThatComesBackIsUsedAgain(t *testing.T) {
	t.Parallel()
	repairs := map[string]func(*testing.T, *redistest.Server) error{
		"killed": func(t *testing.T, s *redistest.Server) error { return s.Restart(t.Context()) },
		"paused": func(_ *testing.T, s *redistest.Server) error { return s.Resume() },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.New(t, redistest.Options{})
			c := Config{Cooldown: 20 * time.Millisecond, CommandTimeout: time.Second}
			a, b := openLocker(t, server.URL(), c), openLocker(t, server.URL(), c)
			// Both have connections.
			holder := locktest.Hold(t, a, "name")
			waiter := locktest.Start(t, b, "name")
			locktest.Waiters(t, b, 1)
			holder.Release(t.Context())
			waiter.Lease(t).Release(t.Context())

			inject(t, server, fault)
			for _, l := range []*Locker{a, b} {
				for range tripAfter {
					if _, err := l.Acquire(t.Context(), "name"); !errors.Is(err, lock.ErrUnavailable) {
						t.Fatalf("got %v", err)
					}
				}
			}
			if err := repairs[name](t, server); err != nil {
				t.Fatal(err)
			}
			for _, l := range []*Locker{a, b} {
				locktest.Eventually(t, "the lock works again", func() bool {
					lease, err := l.Acquire(t.Context(), "name")
					if err == nil {
						lease.Release(t.Context())
					}
					return err == nil
				})
			}
			holder = locktest.Hold(t, lasting(openLocker(t, server.URL(), c)), "name")
			waiter = locktest.Start(t, b, "name")
			locktest.Waiters(t, b, 1)
			holder.Release(t.Context())
			waiter.Lease(t).Release(t.Context())
		})
	}
}

func TestARedisThatIsAwayAtTheStartIsInTheLogWithItsAddressAndThenUsed(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{TCP: true})
	inject(t, server, (*redistest.Server).Kill)
	var printed syncbuffer.Buffer
	url := "redis://u:hunter2@" + server.TCPAddr() + "/3"
	l := openLocker(t, url, Config{Cooldown: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&printed, nil))})
	greeted := make(chan struct{})
	go func() { l.Greet(t.Context()); close(greeted) }()
	locktest.Eventually(t, "the log says where it looked", func() bool {
		return strings.Contains(printed.String(), "Redis is away") && strings.Contains(printed.String(), "redis="+server.TCPAddr()+"/3")
	})
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The server knows no such user, and says so: it is reached, but not for us.
	locktest.Eventually(t, "the log says why it was refused", func() bool {
		_, err := l.Acquire(t.Context(), "name")
		return err != nil && strings.Contains(err.Error(), "WRONGPASS")
	})
	must(t, rawClient(t, server).Do(t.Context(), "ACL", "SETUSER", "u", "on", ">hunter2", "~*", "&*", "+@all").Err())
	select {
	case <-greeted:
	case <-time.After(time.Minute):
		t.Fatal("Redis answers, and is still asked")
	}
	locktest.Eventually(t, "the log says that it is back", func() bool { return strings.Contains(printed.String(), "Redis is back") })
	if strings.Contains(printed.String(), "hunter2") {
		t.Error("the password is in the log")
	}
}

func TestARedisThatLosesItsDataEndsTheLeaseAndFreesTheName(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	a := openLocker(t, server.URL(), Config{Lease: 600 * time.Millisecond, CommandTimeout: patient})
	b := openLocker(t, server.URL(), Config{Lease: MaxLease, CommandTimeout: patient})
	old := locktest.Hold(t, a, "name")
	waiter := locktest.Start(t, b, "name")
	locktest.Waiters(t, b, 1)
	if err := rawClient(t, server).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	locktest.Eventually(t, "the lease expires", old.Expired)
	holder := waiter.Lease(t)

	// The old holder's release frees nothing that is the new one's.
	old.Release(t.Context())
	late := locktest.Start(t, a, "name")
	locktest.Waiters(t, a, 1)
	if holder.Expired() {
		t.Error("the new lease expired")
	}
	if late.Returned() {
		t.Error("the name was free")
	}
	holder.Release(t.Context())
	late.Lease(t).Release(t.Context())
}

func TestARestartWhileHeldAndWaitedForLeavesNobodyStuck(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	c := Config{Lease: 600 * time.Millisecond, Cooldown: 20 * time.Millisecond, CommandTimeout: time.Second}
	a, b := openLocker(t, server.URL(), c), openLocker(t, server.URL(), c)
	old := locktest.Hold(t, a, "name")
	var calls []*locktest.Call
	for range 5 {
		calls = append(calls, locktest.Start(t, b, "name"))
	}
	locktest.Waiters(t, b, len(calls))
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for _, call := range calls {
		// The order of the pollers is unknown, so each lease is released as soon as it is seen.
		group.Go(func() {
			if lease, err := call.Result(t); err == nil {
				lease.Release(t.Context())
			} else if !errors.Is(err, lock.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
	group.Wait()
	locktest.Waiters(t, b, 0)
	locktest.Eventually(t, "the lease expires", old.Expired)
	old.Release(t.Context())
}

func TestAWaiterOutlivesABrokenConnection(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	c := Config{CommandTimeout: patient}
	a, b := lasting(openLocker(t, server.URL(), c)), lasting(openLocker(t, server.URL(), c))
	polls := watch(b)
	client := rawClient(t, server)
	holder := locktest.Hold(t, a, "name")
	waiter := locktest.Start(t, b, "name")
	locktest.Waiters(t, b, 1)
	if err := client.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	before, _ := polls.seen()
	locktest.Eventually(t, "a few polls", func() bool { n, _ := polls.seen(); return n > before+3 || waiter.Returned() })
	if waiter.Returned() {
		t.Fatal("the waiter did not keep waiting")
	}
	holder.Release(t.Context())
	waiter.Lease(t).Release(t.Context())
}

func TestForgottenScriptsAreSentAgain(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	l := openLocker(t, server.URL(), Config{CommandTimeout: patient})
	client := rawClient(t, server)
	for range 2 {
		holder := locktest.Hold(t, l, "name")
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		holder.Release(t.Context())
	}
}

func inject(t *testing.T, server *redistest.Server, fault func(*redistest.Server) error) {
	t.Helper()
	if err := fault(server); err != nil {
		t.Fatal(err)
	}
}
