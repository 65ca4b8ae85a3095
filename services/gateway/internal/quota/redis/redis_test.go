package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/redistest"
	lockredis "github.com/prism-results/prism/services/gateway/internal/lock/redis"
	"github.com/prism-results/prism/services/gateway/internal/quota"
	"github.com/prism-results/prism/services/gateway/internal/quota/quotatest"
	"github.com/prism-results/prism/services/gateway/internal/quota/redis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient commands: on a busy machine a test process may not run for a while, which is no fault of Redis.
const patient = 10 * time.Second

func connect(t *testing.T, url string, timeout time.Duration) *lockredis.Locker {
	t.Helper()
	l, err := lockredis.Open(url, lockredis.Config{CommandTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestCountsInRedisPassTheSuite(t *testing.T) {
	t.Parallel()
	locker := connect(t, redistest.New(t, redistest.Options{}).URL(), patient)
	var counters atomic.Int32
	open := func(t *testing.T, now func() time.Time) quota.Counter {
		prefix := fmt.Sprintf("test:%d:", counters.Add(1))
		return redis.New(locker, redis.Config{Prefix: prefix, Now: now})
	}
	t.Run("suite", func(t *testing.T) { quotatest.Run(t, open) }) // before the server ends
}

// spec: account-limits
func TestGatewaysShareTheirCounts(t *testing.T) {
	t.Parallel()
	url, clock := redistest.New(t, redistest.Options{}).URL(), quotatest.NewClock()
	config := redis.Config{Now: clock.Now}
	one, other := redis.New(connect(t, url, patient), config), redis.New(connect(t, url, patient), config)
	account, limits := quotatest.Account(1), prism.Limits{RequestsPerSecond: 3, Concurrency: 2}
	leave, err := one.Enter(t.Context(), account, limits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Enter(t.Context(), account, limits); err != nil {
		t.Fatal(err)
	}
	over(t, one, account, limits, quota.Concurrency)
	over(t, other, account, limits, quota.Concurrency)
	leave(t.Context())
	if _, err := other.Enter(t.Context(), account, limits); err != nil {
		t.Fatal(err)
	}
	over(t, one, account, prism.Limits{RequestsPerSecond: 3}, quota.RequestsPerSecond)
	if _, err := one.TakeResult(t.Context(), account, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := other.TakeResult(t.Context(), account, 1); !isOver(err, quota.ResultsPerDay) {
		t.Errorf("got %v", err)
	}
}

func over(t *testing.T, c quota.Counter, account prism.AccountID, l prism.Limits, want quota.Limit) {
	t.Helper()
	if _, err := c.Enter(t.Context(), account, l); !isOver(err, want) {
		t.Errorf("got %v, want over %s", err, want)
	}
}

func isOver(err error, limit quota.Limit) bool {
	exceeded, ok := errors.AsType[*quota.ExceededError](err)
	return ok && exceeded.Limit == limit
}

func TestRequestsOfAProcessThatDiedCountUntilTheirLeasesEnd(t *testing.T) {
	t.Parallel()
	locker, clock := connect(t, redistest.New(t, redistest.Options{}).URL(), patient), quotatest.NewClock()
	config := redis.Config{Now: clock.Now, Lease: 10 * time.Second}
	dead, alive := redis.New(locker, config), redis.New(locker, config)
	account, limits := quotatest.Account(1), prism.Limits{Concurrency: 2}
	for _, c := range []*redis.Counter{dead, alive} {
		if _, err := c.Enter(t.Context(), account, limits); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(9 * time.Second)
	alive.Renew(t.Context())
	over(t, alive, account, limits, quota.Concurrency)
	clock.Advance(2 * time.Second)
	leave, err := alive.Enter(t.Context(), account, limits)
	if err != nil {
		t.Fatalf("the lease of the dead process: %v", err)
	}
	over(t, alive, account, limits, quota.Concurrency) // the renewed one still counts
	leave(t.Context())
	clock.Advance(11 * time.Second)
	dead.Renew(t.Context()) // was only suspended
	for range 2 {
		if _, err := alive.Enter(t.Context(), account, limits); err != nil {
			t.Errorf("a renewal brought back a request whose lease had ended: %v", err)
		}
	}
}

func TestLeasesAreRenewedWhileACounterRuns(t *testing.T) {
	t.Parallel()
	locker := connect(t, redistest.New(t, redistest.Options{}).URL(), patient)
	renewed := make(chan struct{}, 1)
	c := redis.New(spy{locker, func() {
		select {
		case renewed <- struct{}{}:
		default:
		}
	}}, redis.Config{Lease: 30 * time.Millisecond})
	if _, err := c.Enter(t.Context(), quotatest.Account(1), prism.Limits{Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	<-renewed // Enter itself
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { c.Run(ctx); close(ended) }()
	<-renewed
	stop()
	<-ended
}

// spy tells of each command.
type spy struct {
	redis.Redis
	seen func()
}

func (s spy) Do(ctx context.Context, command func(context.Context, goredis.UniversalClient) error) error {
	defer s.seen()
	return s.Redis.Do(ctx, command)
}

func TestTheClockIsThatOfRedis(t *testing.T) {
	t.Parallel()
	c := redis.New(connect(t, redistest.New(t, redistest.Options{}).URL(), patient), redis.Config{})
	account := quotatest.Account(1)
	leave, err := c.Enter(t.Context(), account, prism.Limits{RequestsPerSecond: 1, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	over(t, c, account, prism.Limits{Concurrency: 1}, quota.Concurrency)
	leave(t.Context())
	if _, err := c.TakeResult(t.Context(), account, 1); err != nil {
		t.Fatal(err)
	}
	_, err = c.TakeResult(t.Context(), account, 1)
	exceeded, ok := errors.AsType[*quota.ExceededError](err)
	if !ok || exceeded.Wait <= 0 || exceeded.Wait > 24*time.Hour {
		t.Errorf("got %v, wait %v", err, exceeded)
	}
}

func TestRedisSeesNoAccountAndKeepsTheKeysOfOneTogether(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	c := redis.New(connect(t, server.URL(), patient), redis.Config{})
	account := quotatest.Account(7)
	if _, err := c.Enter(t.Context(), account, prism.Limits{RequestsPerSecond: 1, Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.TakeResult(t.Context(), account, 1); err != nil {
		t.Fatal(err)
	}
	options, err := goredis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	defer client.Close()
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 3 {
		t.Fatalf("%v, %v", keys, err)
	}
	tags := map[string]bool{}
	for _, key := range keys {
		_, rest, _ := strings.Cut(key, "{")
		tag, _, _ := strings.Cut(rest, "}")
		tags[tag] = true
		if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 {
			t.Errorf("%s stays for ever", key)
		}
		if strings.Contains(key, account.String()) {
			t.Errorf("%s names the account", key)
		}
	}
	if len(tags) != 1 || tags[""] {
		t.Errorf("hash tags %v", tags)
	}
}

// spec: limits-without-redis
func TestCountsInARedisThatIsAwayAreUnavailable(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	c := redis.New(connect(t, server.URL(), patient), redis.Config{})
	account, limits := quotatest.Account(1), prism.Limits{Concurrency: 1}
	leave, err := c.Enter(t.Context(), account, limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	leave(t.Context())
	for range 3 {
		if _, err := c.Enter(t.Context(), account, limits); !errors.Is(err, quota.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if _, err := c.TakeResult(t.Context(), account, 1); !errors.Is(err, quota.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
}
