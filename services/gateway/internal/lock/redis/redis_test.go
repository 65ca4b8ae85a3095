package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/locktest"
	"github.com/prism-results/prism/services/gateway/internal/lock/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient commands: on a busy machine a test process may not run for a while, which is no fault of Redis.
const patient = 5 * time.Second

// sluggish is what a machine of any load may add to what is measured.
const sluggish = 10 * time.Second

func TestTheRedisLockPassesTheSuite(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			server := redistest.New(t, redistest.Options{TCP: true})
			url := map[string]string{"unix": server.URL(), "tcp": server.TCPURL()}[network]
			var lockers atomic.Int32
			locktest.Run(t, func(t *testing.T, c locktest.Config) locktest.Locker {
				return newGateway(c, lasting(openLocker(t, url, Config{
					CommandTimeout: patient, Prefix: fmt.Sprintf("test:%d:", lockers.Add(1)),
				})))
			})
		})
	}
}

func TestOneOfManyInTwoProcessesHoldsANameAtATime(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	open := func() lock.Locker { return openLocker(t, server.URL(), Config{CommandTimeout: patient}) }
	locktest.OneHolder(t, open(), open())
}

// gateway is the lock of one gateway: its callers wait in memory, and one of them polls Redis.
type gateway struct {
	lock.Locker
	local *memory.Locker
	redis *Locker
}

func newGateway(c locktest.Config, shared *Locker) gateway {
	local := memory.New(memory.Config{MaxWaiters: c.MaxWaiters})
	return gateway{lock.Layered(local, shared), local, shared}
}

func (g gateway) Waiting() int { return g.local.Waiting() + g.redis.Waiting() }

func TestAReleaseIsSeenByAnotherProcess(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	a := lasting(openLocker(t, server.URL(), Config{CommandTimeout: patient}))
	b := lasting(openLocker(t, server.URL(), Config{CommandTimeout: patient}))
	for _, pair := range [][2]*Locker{{a, b}, {b, a}, {a, b}} {
		holder := locktest.Hold(t, pair[0], "name")
		waiter := locktest.Start(t, pair[1], "name")
		locktest.Waiters(t, pair[1], 1)
		holder.Release(t.Context())
		waiter.Lease(t).Release(t.Context())
	}
}

func TestOfManyWaitersInOneProcessOnePollsRedis(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	a := lasting(openLocker(t, server.URL(), Config{CommandTimeout: patient}))
	shared := lasting(openLocker(t, server.URL(), Config{CommandTimeout: patient}))
	b := newGateway(locktest.Config{}, shared)
	polls := watch(shared)
	const waiters = 50
	holder := locktest.Hold(t, a, "name")
	var released sync.WaitGroup
	for range waiters {
		call := locktest.Start(t, b, "name")
		released.Go(func() { call.Lease(t).Release(t.Context()) })
	}
	locktest.Waiters(t, b, waiters)
	before, _ := polls.seen()
	locktest.Eventually(t, "a few polls", func() bool { n, _ := polls.seen(); return n > before+5 })
	if _, callers := polls.seen(); callers != 1 {
		t.Errorf("%d callers polled", callers)
	}
	holder.Release(t.Context())
	released.Wait()
	if _, callers := polls.seen(); callers != waiters {
		t.Errorf("%d callers had the name", callers)
	}
}

// watched counts the SET commands of a locker, and the callers that sent them.
type watched struct {
	mu     sync.Mutex
	sets   int
	tokens map[any]bool
}

func watch(l *Locker) *watched {
	w := &watched{tokens: map[any]bool{}}
	l.store.client.AddHook(w)
	return w
}

func (w *watched) seen() (sets, callers int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sets, len(w.tokens)
}

func (w *watched) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (w *watched) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func (w *watched) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		if command.Name() == "set" {
			w.mu.Lock()
			w.sets++
			w.tokens[command.Args()[2]] = true
			w.mu.Unlock()
		}
		return next(ctx, command)
	}
}

func TestAWaiterPollsLessOftenTheLongerItWaitsAndTheMoreWait(t *testing.T) {
	t.Parallel()
	l := &Locker{}
	for _, c := range []struct {
		waited  time.Duration
		waiting int64
		mean    time.Duration
	}{
		{0, 1, 2 * time.Millisecond},
		{80 * time.Millisecond, 1, 10 * time.Millisecond},
		{30 * time.Second, 1, 25 * time.Millisecond},
		{0, 1000, 2 * time.Millisecond},
		{30 * time.Second, 1000, 500 * time.Millisecond},
	} {
		l.waiters = fair.New(1000, 0)
		for range c.waiting {
			l.waiters.Take("", fair.Preferred)
		}
		for range 100 {
			if got := l.pause(c.waited); got < c.mean/2 || got >= c.mean/2+c.mean {
				t.Errorf("%d wait, after %s: paused for %s", c.waiting, c.waited, got)
			}
		}
	}
}

func TestTooManyPollersAreRefused(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	a := lasting(openLocker(t, server.URL(), Config{CommandTimeout: patient}))
	b := lasting(openLocker(t, server.URL(), Config{CommandTimeout: patient, MaxWaiters: 1}))
	one, two := locktest.Hold(t, a, "one"), locktest.Hold(t, a, "two")
	waiter := locktest.Start(t, b, "one")
	locktest.Waiters(t, b, 1)
	if _, err := b.Acquire(t.Context(), "two"); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("got %v", err)
	}
	one.Release(t.Context())
	waiter.Lease(t).Release(t.Context())
	two.Release(t.Context())
	locktest.Hold(t, b, "two").Release(t.Context())
}

func TestALeaseIsRenewedWhileItIsHeld(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	const lease = DefaultLease // a process of a busy machine may not run for a while
	a := openLocker(t, server.URL(), Config{Lease: lease, CommandTimeout: patient})
	b := openLocker(t, server.URL(), Config{CommandTimeout: patient})
	holder := locktest.Hold(t, a, "name")
	ctx, cancel := context.WithTimeout(t.Context(), 2*lease)
	defer cancel()
	if _, err := b.Acquire(ctx, "name"); !errors.Is(err, lock.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if holder.Expired() {
		t.Error("the lease expired")
	}
	holder.Release(t.Context())
	locktest.Hold(t, b, "name").Release(t.Context())
}

func TestNoLeaseIsLongerThanFiveSeconds(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{
		0: 3 * time.Second, time.Minute: 5 * time.Second, time.Second: time.Second,
	} {
		if got := (Config{Lease: given}).withDefaults().Lease; got != want {
			t.Errorf("%s became %s", given, got)
		}
	}
}

// spec: retry-of-a-dead-process
func TestAHolderThatDiesIsReplacedWithinItsLease(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	const length = 400 * time.Millisecond
	dead := openLocker(t, server.URL(), Config{Lease: length, CommandTimeout: patient})
	live := openLocker(t, server.URL(), Config{CommandTimeout: patient})
	began := time.Now()
	locktest.Hold(t, dead, "name").(*lease).renewal.Stop() // it renews nothing and says nothing, as after kill -9
	locktest.Hold(t, live, "name").Release(t.Context())
	if took := time.Since(began); took < length || took > length+sluggish {
		t.Errorf("replaced after %s", took)
	}
}

func TestNothingIsKeptInRedisAfterTheLastReleaseButWhatLapses(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	l := openLocker(t, server.URL(), Config{CommandTimeout: patient})
	client := rawClient(t, server)
	holder := locktest.Hold(t, l, "name")
	for _, key := range keys(t, client) {
		if left := client.PTTL(t.Context(), key).Val(); left <= 0 || left > MaxLease {
			t.Errorf("%s lives for %s", key, left)
		}
	}
	holder.Release(t.Context())
	if left := keys(t, client); len(left) != 0 {
		t.Errorf("keys are left: %q", left)
	}
}

func TestANameIsNotSeenInRedis(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	a, b := openLocker(t, server.URL(), Config{CommandTimeout: patient}), openLocker(t, server.URL(), Config{CommandTimeout: patient})
	client := rawClient(t, server)
	const secret = "account/idempotency-key"
	holder := locktest.Hold(t, a, secret)
	waiter := locktest.Start(t, b, secret)
	locktest.Waiters(t, b, 1)
	for _, key := range keys(t, client) {
		text := key + client.Get(t.Context(), key).Val()
		if strings.Contains(text, "account") || strings.Contains(text, "idempotency") {
			t.Errorf("Redis sees %q", text)
		}
		if !strings.HasPrefix(key, "prism:lock:{") {
			t.Errorf("a key without the prefix or a hash tag: %q", key)
		}
	}
	holder.Release(t.Context())
	waiter.Lease(t).Release(t.Context())
}

func TestAWrongURLIsRefusedWithoutQuotingIt(t *testing.T) {
	t.Parallel()
	_, err := Open("http://user:hunter2@host:bad", Config{})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestClosingEndsTheWaitsAndTheLeases(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	l := openLocker(t, server.URL(), Config{CommandTimeout: patient})
	holder := locktest.Hold(t, l, "name")
	head := locktest.Start(t, l, "name")
	locktest.Waiters(t, l, 1)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := head.Err(t); !errors.Is(err, lock.ErrUnavailable) {
		t.Errorf("a waiter got %v", err)
	}
	if !holder.Expired() {
		t.Error("the lease did not expire")
	}
	if _, err := l.Acquire(t.Context(), "other"); !errors.Is(err, lock.ErrUnavailable) {
		t.Errorf("a new caller got %v", err)
	}
	holder.Release(t.Context())
}

func TestCommandsOfOthersThatRedisRefusesDoNotEndLocks(t *testing.T) {
	t.Parallel()
	l := openLocker(t, redistest.New(t, redistest.Options{}).URL(), Config{CommandTimeout: patient})
	for range 2 * tripAfter {
		err := l.Do(t.Context(), func(ctx context.Context, client goredis.UniversalClient) error {
			return client.Do(ctx, "UNKNOWN").Err()
		})
		if !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	locktest.Hold(t, l, "name").Release(t.Context())
}

func openLocker(t *testing.T, url string, c Config) *Locker {
	t.Helper()
	l, err := Open(url, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, goredis.ErrClosed) {
			t.Error(err)
		}
	})
	return l
}

// lasting makes a locker's leases outlive every test, so that a waiter gets a name because of its release and not because
// its lease expired, however slow the machine is.
func lasting(l *Locker) *Locker {
	l.store.config.Lease = time.Hour
	return l
}

// rawClient looks at what is in Redis.
func rawClient(t *testing.T, server *redistest.Server) goredis.UniversalClient {
	t.Helper()
	client, err := connect(server.URL(), Config{CommandTimeout: patient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func keys(t *testing.T, client goredis.UniversalClient) []string {
	t.Helper()
	found, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return found
}
