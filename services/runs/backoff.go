package runs

import (
	"math/rand/v2"
	"time"
)

// The pauses after which a row that was not taken, or a lease that failed, is tried again.
const firstPause, maxPause = 100 * time.Millisecond, 5 * time.Second

// backoff is the last pause before its jitter; 0 after a success.
type backoff time.Duration

// next is the next pause: twice the one before, from first to most, shortened by up to half so that what failed together is not
// repeated together.
func (b *backoff) next(first, most time.Duration) time.Duration {
	pause := min(max(2*time.Duration(*b), first), most)
	*b = backoff(pause)
	return pause - rand.N(pause/2) //nolint:gosec // jitter needs no secrecy
}
