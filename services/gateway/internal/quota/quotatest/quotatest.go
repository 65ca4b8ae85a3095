// Package quotatest is the suite that every quota.Counter passes.
package quotatest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/quota"
)

// Clock is a clock that a test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock is at an hour before midnight.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, time.November, 22, 23, 0, 0, 0, time.UTC)}
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fixture is a counter at its clock.
type fixture struct {
	quota.Counter
	*Clock
}

// tb is *testing.T or *rapid.T.
type tb interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Account numbers the accounts of a test.
func Account(n byte) prism.AccountID { return prism.AccountID{UUID: prism.UUID{15: n}} }

// Run runs the suite. open returns a fresh counter that shares no counts with another.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) quota.Counter) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(*testing.T, fixture)
	}{
		{"a second's requests may come at once, and then one in each part of a second", burst},
		{"a bucket is never fuller than a second's requests", notFuller},
		{"requests keep to their rate", rates},
		{"a clock that is set back refuses no request for longer than a second", setBack},
		{"a new rate counts at once", newRate},
		{"requests in flight are bounded until they leave", concurrency},
		{"of many requests at once as many enter as may", atOnce},
		{"a request over one limit counts for no other", countsForNone},
		{"a day has its results, and the next day again", results},
		{"of many results at once as many are counted as may", resultsAtOnce},
		{"a result that is given back is not counted", givenBack},
		{"accounts share nothing", independent},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock := NewClock()
			c.check(t, fixture{open(t, clock.Now), clock})
		})
	}
}

// enters wants a request to be counted.
func (f fixture) enters(t tb, account prism.AccountID, l prism.Limits) func(context.Context) {
	t.Helper()
	leave, err := f.Enter(t.Context(), account, l)
	if err != nil {
		t.Fatalf("a request below the limits: %v", err)
	}
	return leave
}

// over wants a request to be refused for a limit, with its wait.
func (f fixture) over(t tb, account prism.AccountID, l prism.Limits, want quota.ExceededError) {
	t.Helper()
	_, err := f.Enter(t.Context(), account, l)
	exceeded(t, err, want)
}

func exceeded(t tb, err error, want quota.ExceededError) {
	t.Helper()
	got, ok := errors.AsType[*quota.ExceededError](err)
	if !ok || *got != want {
		t.Fatalf("got %+v (%v), want %+v", got, err, want)
	}
}

// spec: account-limits
func burst(t *testing.T, f fixture) {
	limits := prism.Limits{RequestsPerSecond: 4}
	for range 4 {
		f.enters(t, Account(1), limits)
	}
	for _, step := range []struct{ pass, wait time.Duration }{
		{0, 250 * time.Millisecond}, {249 * time.Millisecond, time.Millisecond}, {999 * time.Microsecond, time.Microsecond},
	} {
		f.Advance(step.pass)
		f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: step.wait})
	}
	f.Advance(time.Microsecond)
	f.enters(t, Account(1), limits)
	f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: 250 * time.Millisecond})
}

func notFuller(t *testing.T, f fixture) {
	limits := prism.Limits{RequestsPerSecond: 3}
	for range 3 {
		for range 3 {
			f.enters(t, Account(1), limits)
		}
		f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: 333_334 * time.Microsecond})
		f.Advance(time.Hour)
	}
}

// rates draws times of requests. In no stretch of time enter more than its rate and one burst, and a request that is refused
// may enter when its wait has passed, and not before.
func rates(t *testing.T, f fixture) {
	accounts := byte(0)
	rapid.Check(t, func(t *rapid.T) {
		accounts++
		account := Account(accounts)
		rate := rapid.Int32Range(1, 50).Draw(t, "rate")
		limits := prism.Limits{RequestsPerSecond: rate}
		var entered []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			f.Advance(time.Duration(rapid.IntRange(0, 300_000).Draw(t, "pause in µs")) * time.Microsecond)
			if _, err := f.Enter(t.Context(), account, limits); err != nil {
				over, ok := errors.AsType[*quota.ExceededError](err)
				if !ok || over.Limit != quota.RequestsPerSecond || over.Wait <= 0 || over.Wait > time.Second {
					t.Fatalf("got %v", err)
				}
				f.Advance(over.Wait - time.Microsecond)
				f.over(t, account, limits, quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: time.Microsecond})
				f.Advance(time.Microsecond)
				f.enters(t, account, limits)
			}
			entered = append(entered, f.Now())
			for i, from := range entered {
				most := float64(rate) * (1 + f.Now().Sub(from).Seconds())
				if n := len(entered) - i; float64(n) > most+1e-6 {
					t.Fatalf("%d requests entered in %s at %d a second", n, f.Now().Sub(from), rate)
				}
			}
		}
	})
}

func setBack(t *testing.T, f fixture) {
	limits := prism.Limits{RequestsPerSecond: 1}
	f.enters(t, Account(1), limits)
	f.Advance(-time.Hour)
	f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: time.Second})
	f.Advance(time.Second)
	f.enters(t, Account(1), limits)
}

func newRate(t *testing.T, f fixture) {
	for range 5 {
		f.enters(t, Account(1), prism.Limits{RequestsPerSecond: 10})
	}
	f.enters(t, Account(1), prism.Limits{RequestsPerSecond: 1})
	f.over(t, Account(1), prism.Limits{RequestsPerSecond: 1}, quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: time.Second})
	f.Advance(time.Second)
	f.enters(t, Account(1), prism.Limits{RequestsPerSecond: 10})
}

func concurrency(t *testing.T, f fixture) {
	limits := prism.Limits{Concurrency: 2}
	first, second := f.enters(t, Account(1), limits), f.enters(t, Account(1), limits)
	for range 2 {
		f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.Concurrency})
	}
	first(t.Context())
	third := f.enters(t, Account(1), limits)
	f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.Concurrency})
	second(t.Context())
	third(t.Context())
	for range 2 {
		f.enters(t, Account(1), limits)
	}
	f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.Concurrency})
}

func atOnce(t *testing.T, f fixture) {
	const callers = 40
	for account, limits := range map[byte]prism.Limits{1: {Concurrency: 7}, 2: {RequestsPerSecond: 7}} {
		var entered atomic.Int32
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				_, err := f.Enter(t.Context(), Account(account), limits)
				over, refused := errors.AsType[*quota.ExceededError](err)
				switch {
				case err == nil:
					entered.Add(1)
				case !refused:
					t.Errorf("got %v", over)
				}
			})
		}
		group.Wait()
		if n := entered.Load(); n != 7 {
			t.Errorf("%d of %d requests entered with %+v", n, callers, limits)
		}
	}
}

func countsForNone(t *testing.T, f fixture) {
	limits := prism.Limits{RequestsPerSecond: 2, Concurrency: 1}
	leave := f.enters(t, Account(1), limits)
	for range 5 {
		f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.Concurrency})
	}
	leave(t.Context())
	leave = f.enters(t, Account(1), limits)
	leave(t.Context())
	f.over(t, Account(1), limits, quota.ExceededError{Limit: quota.RequestsPerSecond, Wait: 500 * time.Millisecond})
	f.Advance(time.Second)
	f.enters(t, Account(1), limits)
}

func results(t *testing.T, f fixture) {
	for _, hour := range []time.Duration{time.Hour, 24 * time.Hour} {
		for range 3 {
			if _, err := f.TakeResult(t.Context(), Account(1), 3); err != nil {
				t.Fatal(err)
			}
		}
		_, err := f.TakeResult(t.Context(), Account(1), 3)
		exceeded(t, err, quota.ExceededError{Limit: quota.ResultsPerDay, Wait: hour})
		f.Advance(hour - time.Microsecond)
		_, err = f.TakeResult(t.Context(), Account(1), 3)
		exceeded(t, err, quota.ExceededError{Limit: quota.ResultsPerDay, Wait: time.Microsecond})
		f.Advance(time.Microsecond)
	}
}

func resultsAtOnce(t *testing.T, f fixture) {
	var taken atomic.Int32
	var group sync.WaitGroup
	for range 40 {
		group.Go(func() {
			if _, err := f.TakeResult(t.Context(), Account(1), 9); err == nil {
				taken.Add(1)
			}
		})
	}
	group.Wait()
	if n := taken.Load(); n != 9 {
		t.Errorf("%d results were counted", n)
	}
}

func givenBack(t *testing.T, f fixture) {
	give, err := f.TakeResult(t.Context(), Account(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	give(t.Context())
	late, err := f.TakeResult(t.Context(), Account(1), 1)
	if err != nil {
		t.Fatalf("after one was given back: %v", err)
	}
	f.Advance(time.Hour) // midnight
	if _, err := f.TakeResult(t.Context(), Account(1), 1); err != nil {
		t.Fatal(err)
	}
	late(t.Context())
	_, err = f.TakeResult(t.Context(), Account(1), 1)
	exceeded(t, err, quota.ExceededError{Limit: quota.ResultsPerDay, Wait: 24 * time.Hour})
}

func independent(t *testing.T, f fixture) {
	limits := prism.Limits{RequestsPerSecond: 1, Concurrency: 1}
	for n := range byte(5) {
		f.enters(t, Account(n), limits)
		if _, err := f.TakeResult(t.Context(), Account(n), 1); err != nil {
			t.Error(err)
		}
	}
}
