package quota_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/quota"
	"github.com/prism-results/prism/services/gateway/internal/quota/memory"
	"github.com/prism-results/prism/services/gateway/internal/quota/quotatest"
)

func TestCountsWithAFallbackPassTheSuite(t *testing.T) {
	t.Parallel()
	quotatest.Run(t, func(t *testing.T, now func() time.Time) quota.Counter {
		return quota.WithFallback(memory.New(now), nil, func() { t.Error("the fallback was used") })
	})
}

// away is a counter that is out of reach.
type away struct{}

func (away) Enter(context.Context, prism.AccountID, prism.Limits) (func(context.Context), error) {
	return nil, quota.ErrUnavailable
}

func (away) TakeResult(context.Context, prism.AccountID, int32) (func(context.Context), error) {
	return nil, quota.ErrUnavailable
}

// spec: limits-without-redis
func TestWhileSharedCountsAreAwayAProcessCountsAlone(t *testing.T) {
	t.Parallel()
	alone := 0
	c := quota.WithFallback(away{}, memory.New(time.Now), func() { alone++ })
	account, limits := quotatest.Account(1), prism.Limits{Concurrency: 1}
	leave, err := c.Enter(t.Context(), account, limits)
	if err != nil {
		t.Fatal(err)
	}
	over := new(quota.ExceededError)
	if _, err := c.Enter(t.Context(), account, limits); !errors.As(err, &over) {
		t.Errorf("a second request: %v", err)
	}
	leave(t.Context())
	if _, err := c.Enter(t.Context(), account, limits); err != nil {
		t.Error(err)
	}
	if _, err := c.TakeResult(t.Context(), account, 1); err != nil {
		t.Error(err)
	}
	if _, err := c.TakeResult(t.Context(), account, 1); !errors.As(err, &over) {
		t.Errorf("a second result: %v", err)
	}
	if alone != 5 {
		t.Errorf("%d counts were made alone, want 5", alone)
	}
}
