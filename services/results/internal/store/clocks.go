package store

import (
	"context"
	"time"
)

// Clocks mends what a clock has done that was ahead and was set back.
type Clocks interface {
	// MendTimes brings times that lie further in the future than this store puts any: the ends of leases, the turns of runs and
	// retries, and what is due. Otherwise files, runs and deletions would wait until that time has come, and a deletion of results
	// would delete those that are saved until then. It returns how many it has changed.
	MendTimes(ctx context.Context, now time.Time) (int, error)
}

const (
	// MaxLease is the longest lease of a chunk, a file, a deletion or a watch.
	MaxLease = time.Minute
	// ClocksDiffer is how far the clocks of two replicas may be apart while one of them has not learned yet of the time of the
	// database, which it reads every 10 s.
	ClocksDiffer = time.Minute
)
