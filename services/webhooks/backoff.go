package webhooks

import (
	"math/rand/v2"
	"time"
)

// backoff is the last pause before its jitter; 0 after a success.
type backoff time.Duration

// next is the next pause: twice the one before, from first to longest, shortened by up to half so that what failed together is not
// repeated together.
func (b *backoff) next(first, longest time.Duration) time.Duration {
	pause := min(max(2*time.Duration(*b), first), longest)
	*b = backoff(pause)
	return pause - rand.N(pause/2) //nolint:gosec // jitter needs no secrecy
}
