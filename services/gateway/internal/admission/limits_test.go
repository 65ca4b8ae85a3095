package admission_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/gateway/internal/admission"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/quota"
)

func limited(key contract.KeyDigest, l prism.Limits) contract.AccountLimits {
	return contract.AccountLimits{Account: account(key), Limits: l}
}

// start runs the Admission until the test ends, and waits until it has asked for the limits.
func (b *bench) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	synctest.Wait()
}

// spec: account-limits
func TestLimits(t *testing.T) {
	t.Parallel()
	run(t, map[string]func(*testing.T, *bench){
		"of requests a second are a 503 with the time until the next": func(t *testing.T, b *bench) {
			b.results.set(nil, limited(known(1), prism.Limits{RequestsPerSecond: 2}))
			b.start(t)
			for range 2 {
				if err := b.enter(t, known(1), here); err != nil {
					t.Error(err)
				}
			}
			if err := b.enter(t, known(1), there); retryAfter(err) != 1 {
				t.Errorf("got %v", err)
			}
			if err := b.enter(t, known(2), here); err != nil {
				t.Errorf("another account: %v", err)
			}
			<-time.After(500 * time.Millisecond)
			if err := b.enter(t, known(1), here); err != nil {
				t.Error(err)
			}
			if n := metrictest.Value(t, b.metrics, "prism_limit_refusals_total requests_per_second"); n != 1 {
				t.Errorf("%v refusals are counted", n)
			}
		},
		"of requests in flight hold until the request leaves, once": func(t *testing.T, b *bench) {
			b.results.set(nil, limited(known(1), prism.Limits{Concurrency: 1}))
			b.start(t)
			first, err := b.Enter(t.Context(), known(1), here)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.enter(t, known(1), here); retryAfter(err) != 1 {
				t.Errorf("got %v", err)
			}
			first(nil)
			first(nil)
			second, err := b.Enter(t.Context(), known(1), here)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.enter(t, known(1), here); retryAfter(err) != 1 {
				t.Errorf("got %v", err)
			}
			second(nil)
		},
		// spec: limit-of-results
		"of results a day are a 503 until the next day of UTC": func(t *testing.T, b *bench) {
			b.results.set(nil, limited(known(1), prism.Limits{ResultsPerDay: 1}))
			b.start(t)
			if _, err := b.TakeResult(t.Context(), account(known(1))); err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC()
			left := now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
			_, err := b.TakeResult(t.Context(), account(known(1)))
			if got := retryAfter(err); got != int((left+time.Second-1)/time.Second) {
				t.Errorf("Retry-After %d, %s are left", got, left)
			}
			if err := b.enter(t, known(1), here); err != nil {
				t.Errorf("a request that saves nothing: %v", err)
			}
			<-time.After(left)
			giveBack, err := b.TakeResult(t.Context(), account(known(1)))
			if err != nil {
				t.Fatal(err)
			}
			giveBack()
			if _, err := b.TakeResult(t.Context(), account(known(1))); err != nil {
				t.Error(err)
			}
		},
		// spec: full-account
		"of stored bytes are a 503 for what saves a result": func(t *testing.T, b *bench) {
			b.results.set(nil, contract.AccountLimits{Account: account(known(1)), Full: true}, limited(known(2), prism.Limits{StoredBytes: 9}))
			b.start(t)
			for range 2 {
				if err := b.MaySave(account(known(1))); retryAfter(err) != 60 {
					t.Errorf("got %v", err)
				}
			}
			if err := b.enter(t, known(1), here); err != nil {
				t.Errorf("a request that saves nothing: %v", err)
			}
			for n := byte(2); n < 4; n++ {
				if err := b.MaySave(account(known(n))); err != nil {
					t.Errorf("another account: %v", err)
				}
			}
			for metric, want := range map[string]float64{
				"prism_limit_refusals_total stored_bytes": 2, "prism_full_accounts": 1, "prism_limited_accounts": 1,
			} {
				if n := metrictest.Value(t, b.metrics, metric); n != want {
					t.Errorf("%s is %v, want %v", metric, n, want)
				}
			}
		},
		"are not known to the holder of an unknown key": func(t *testing.T, b *bench) {
			b.results.set(nil, limited(unknown(1), prism.Limits{RequestsPerSecond: 1}))
			b.start(t)
			for range 3 {
				if err := b.enter(t, unknown(1), here); !errors.Is(err, apierr.InvalidAPIKey()) {
					t.Errorf("got %v", err)
				}
			}
		},
		"change within five seconds, and stay while results are away": func(t *testing.T, b *bench) {
			b.start(t)
			change := func(err error, limits ...contract.AccountLimits) {
				b.results.set(err, limits...)
				<-time.After(5 * time.Second)
				synctest.Wait()
			}
			accounts := func(want float64) {
				t.Helper()
				if n := metrictest.Value(t, b.metrics, "prism_limited_accounts"); n != want {
					t.Errorf("%v accounts with limits, want %v", n, want)
				}
			}
			take := func() int {
				t.Helper()
				_, err := b.TakeResult(t.Context(), account(known(1)))
				return retryAfter(err)
			}
			accounts(0)
			if take() != 0 {
				t.Error("a limit before it was set")
			}
			limits := limited(known(1), prism.Limits{ResultsPerDay: 1})
			change(nil, limits)
			accounts(1)
			if take() != 0 || take() == 0 {
				t.Error("the limit is not 1")
			}
			for range 2 {
				change(contract.ErrUnavailable)
				accounts(1)
				if take() == 0 {
					t.Error("the limit went away with results")
				}
			}
			if n := bytes.Count(b.log.Bytes(), []byte("limits of accounts")); n != 1 {
				t.Errorf("%d warnings", n)
			}
			change(nil)
			accounts(0)
			if take() != 0 {
				t.Error("the limit stayed")
			}
		},
	})
}

// untouched is a counter that a test must not reach.
type untouched struct{ quota.Counter }

// spec: account-limits
func TestAnAccountWithoutLimitsIsNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.Admission = admission.New(admission.Deps{
			Results: b.results, Accounts: execute.NewAccounts(), Counter: untouched{}, Now: time.Now,
			Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
		})
		for range 2 {
			if err := b.enter(t, known(1), here); err != nil {
				t.Error(err)
			}
			if _, err := b.TakeResult(t.Context(), account(known(1))); err != nil {
				t.Error(err)
			}
			b.results.set(nil, limited(known(2), prism.Limits{RequestsPerSecond: 1, Concurrency: 1, ResultsPerDay: 1}))
			b.start(t)
		}
	})
}
