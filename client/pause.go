package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// pauses are the times between attempts: each up to twice the previous one, with a random part so that clients that failed
// together do not return together.
type pauses struct {
	first, most time.Duration
}

// wait makes the pause after attempt n. It returns false if the context ends before the pause does, and at once if the
// context's deadline is that early.
func (p pauses) wait(ctx context.Context, n int) bool {
	longest := min(p.first<<min(n-1, 16), p.most)
	pause := longest/2 + rand.N(longest/2+1) //nolint:gosec // jitter needs no secrecy
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
