// Package backoff makes the pauses before tries of what failed.
package backoff

import (
	"math/rand/v2"
	"time"
)

// Backoff is the last pause before its jitter; 0 after a success.
type Backoff time.Duration

// Next is the next pause: twice the one before, from first to longest, shortened by up to half so that what failed together is not
// repeated together.
func (b *Backoff) Next(first, longest time.Duration) time.Duration {
	pause := min(max(2*time.Duration(*b), first), longest)
	*b = Backoff(pause)
	return pause - rand.N(pause/2) //nolint:gosec // jitter needs no secrecy
}
