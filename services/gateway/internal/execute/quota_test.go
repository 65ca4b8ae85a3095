package execute_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
)

// spec: limit-of-results
func TestResultsOfADay(t *testing.T) {
	t.Parallel()
	counted := func(t *testing.T, b *bench, want int64) {
		t.Helper()
		if n := b.quota.taken.Load(); n != want {
			t.Errorf("%d results are counted, want %d", n, want)
		}
	}
	for name, check := range map[string]func(*testing.T, *bench){
		"a result counts, also a failed one and the retry of that": func(t *testing.T, b *bench) {
			b.failing(1)
			response, err := b.create(t.Context(), "a", "")
			if err != nil || !response.Failed {
				t.Fatal(response, err)
			}
			counted(t, b, 1)
			if _, err := b.retry(t.Context(), resultID(t, response)); err != nil {
				t.Fatal(err)
			}
			counted(t, b, 2)
		},
		"a repeat that returns the stored result does not count": func(t *testing.T, b *bench) {
			b.quota.limit.Store(1)
			for range 3 {
				if _, err := b.create(t.Context(), "a", "k"); err != nil {
					t.Fatal(err)
				}
			}
			counted(t, b, 1)
		},
		"of repeats at once one counts": func(t *testing.T, b *bench) {
			b.quota.limit.Store(1)
			for _, o := range atOnce(10, func(int) (contract.Response, error) { return b.create(t.Context(), "a", "k") }) {
				if o.err != nil {
					t.Error(o.err)
				}
			}
			counted(t, b, 1)
		},
		"one more does not ask the model, and its idempotency key is free": func(t *testing.T, b *bench) {
			b.quota.limit.Store(0)
			for range 2 {
				_, err := b.create(t.Context(), "a", "k")
				if later, ok := errors.AsType[*apierr.RetryAfterError](err); !ok || later.Seconds != 3600 {
					t.Errorf("got %v", err)
				}
			}
			if b.asked.Load() != 0 {
				t.Errorf("%d model calls", b.asked.Load())
			}
			b.quota.limit.Store(1)
			if _, err := b.create(t.Context(), "a", "k"); err != nil {
				t.Error(err)
			}
		},
		"the limit comes after every other check": func(t *testing.T, b *bench) {
			b.quota.limit.Store(0)
			if _, err := b.create(t.Context(), "unknown", ""); !errors.Is(err, apierr.PrismNotFound()) {
				t.Errorf("got %v", err)
			}
			counted(t, b, 0)
		},
		// spec: full-account
		"of an account that is full only repeats and tries are answered, and nothing counts": func(t *testing.T, b *bench) {
			b.failing(1)
			failed, err := b.create(t.Context(), "a", "")
			if err != nil || !failed.Failed {
				t.Fatal(failed, err)
			}
			if _, err := b.create(t.Context(), "a", "k"); err != nil {
				t.Fatal(err)
			}
			b.quota.full.Store(true)
			asked := b.asked.Load()
			refused := func(_ contract.Response, err error) {
				t.Helper()
				if later, ok := errors.AsType[*apierr.RetryAfterError](err); !ok || later.Seconds != 60 {
					t.Errorf("got %v", err)
				}
			}
			refused(b.create(t.Context(), "a", "another"))
			refused(b.retry(t.Context(), resultID(t, failed)))
			if _, err := b.create(t.Context(), "unknown", ""); !errors.Is(err, apierr.PrismNotFound()) {
				t.Errorf("got %v", err)
			}
			if _, err := b.create(t.Context(), "a", "k"); err != nil {
				t.Error(err)
			}
			if b.asked.Load() != asked {
				t.Error("the model was asked")
			}
			counted(t, b, 2)
			if _, err := b.try(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"a call that model-proxy did not take does not count": func(t *testing.T, b *bench) {
			b.model = func(context.Context, contract.Ask) (contract.Outcome, error) {
				return contract.Outcome{}, contract.ErrUnavailable
			}
			if _, err := b.create(t.Context(), "a", ""); !errors.Is(err, apierr.Unavailable()) {
				t.Errorf("got %v", err)
			}
			counted(t, b, 0)
		},
		"a call that loses the race for its idempotency key does not count": func(t *testing.T, b *bench) {
			b.locks = noLocks{}
			for _, o := range atOnce(5, func(int) (contract.Response, error) { return b.create(t.Context(), "a", "k") }) {
				if o.err != nil {
					t.Error(o.err)
				}
			}
			if b.asked.Load() != 5 {
				t.Errorf("%d model calls", b.asked.Load())
			}
			counted(t, b, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { check(t, newBench(t)) })
		})
	}
}
