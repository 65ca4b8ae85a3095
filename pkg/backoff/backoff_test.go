package backoff_test

import (
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/backoff"
)

func TestPausesDoubleUntilASuccess(t *testing.T) {
	t.Parallel()
	var waits backoff.Backoff
	for range 2 {
		for i, ms := range []int{100, 200, 400, 500, 500} {
			longest := time.Duration(ms) * time.Millisecond
			if got := waits.Next(100*time.Millisecond, 500*time.Millisecond); got > longest || got <= longest/2 {
				t.Errorf("pause %d is %v, of at most %v", i, got, longest)
			}
		}
		waits = 0
	}
}
