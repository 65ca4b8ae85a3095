package polling_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/services/results/internal/polling"
)

func TestWorkIsRepeatedAfterThePauseThatItReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		var at []time.Duration
		polling.Repeat(ctx, func(context.Context) time.Duration {
			at = append(at, time.Since(begun))
			if len(at) == 4 {
				cancel()
			}
			return []time.Duration{time.Second, 0, time.Minute, time.Hour}[len(at)-1]
		})
		want := []time.Duration{0, time.Second, time.Second, time.Minute + time.Second}
		if !slices.Equal(at, want) || time.Since(begun) != want[3] {
			t.Errorf("it worked at %v and ended after %v, want %v", at, time.Since(begun), want)
		}
	})
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		if !polling.Pause(ctx, time.Second) || time.Since(begun) != time.Second {
			t.Errorf("a pause of a second took %v", time.Since(begun))
		}
		if polling.Pause(ctx, time.Hour) || time.Since(begun) != time.Minute {
			t.Errorf("a pause whose context ended after a minute took %v", time.Since(begun))
		}
	})
}
