// Package memory counts within one process.
package memory

import (
	"context"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/quota"
)

// Counter keeps the counts of every account that it has seen: of those to which an operator gave limits.
type Counter struct {
	now func() time.Time

	mu       sync.Mutex
	accounts map[prism.AccountID]*counts
}

// counts are those of one account.
type counts struct {
	requests bucket
	inFlight int32
	day      int64 // of UTC, since 1970
	results  int32 // of that day
}

// New makes a Counter.
func New(now func() time.Time) *Counter {
	return &Counter{now: now, accounts: map[prism.AccountID]*counts{}}
}

// accountCounts are the counts of an account. The mutex is held.
func (c *Counter) accountCounts(account prism.AccountID) *counts {
	if c.accounts[account] == nil {
		c.accounts[account] = &counts{}
	}
	return c.accounts[account]
}

// Enter implements quota.Counter.
func (c *Counter) Enter(_ context.Context, account prism.AccountID, l prism.Limits) (func(context.Context), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, now := c.accountCounts(account), c.now().UnixMicro()
	if wait := counts.requests.refill(now, int64(l.RequestsPerSecond)); wait > 0 {
		return nil, &quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: wait}
	}
	if l.Concurrency > 0 && counts.inFlight >= l.Concurrency {
		return nil, &quota.ExceededError{Limit: quota.Concurrency}
	}
	counts.requests.level -= micro
	counts.inFlight++
	return func(context.Context) {
		c.mu.Lock()
		defer c.mu.Unlock()
		counts.inFlight--
	}, nil
}

// TakeResult implements quota.Counter.
func (c *Counter) TakeResult(_ context.Context, account prism.AccountID, perDay int32) (func(context.Context), error) {
	const length = 24 * int64(time.Hour/time.Microsecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, now := c.accountCounts(account), c.now().UnixMicro()
	day := now / length
	if counts.day != day {
		counts.day, counts.results = day, 0
	}
	if counts.results >= perDay {
		return nil, &quota.ExceededError{
			Limit: quota.ResultsPerDay, Wait: time.Duration((day+1)*length-now) * time.Microsecond,
		}
	}
	counts.results++
	return func(context.Context) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if counts.day == day {
			counts.results--
		}
	}, nil
}

// micro is a request in the unit of a bucket's level: millionths, so that the level grows by the rate in each microsecond.
const micro = 1_000_000

// bucket holds what may be requested at once: at most the requests of one second.
type bucket struct{ level, at int64 } // millionths of a request; microseconds, 0 for a bucket that was never used

// refill fills the bucket up to the time, and returns how long it takes until there is a whole request. A rate of 0 has no
// bucket. A clock that was set back refills nothing.
func (b *bucket) refill(now, rate int64) (wait time.Duration) {
	if rate == 0 {
		*b = bucket{}
		return 0
	}
	full := rate * micro
	if b.at == 0 {
		b.level = full
	}
	elapsed := min(max(now-b.at, 0), micro)
	b.level, b.at = min(full, b.level+elapsed*rate), now
	if b.level >= micro {
		return 0
	}
	return time.Duration((micro-b.level+rate-1)/rate) * time.Microsecond
}
