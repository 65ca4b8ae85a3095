// Package dbclock keeps the time of the database. All results services of a database follow it, and the gateways take it from
// them, so that the clock of no other machine matters: a clock that is wrong, or jumps, changes no id, no created_at and no
// expiry of a key (spec: one-clock).
//
// Between two readings the time advances with the monotonic clock of this process, which nobody sets. So Now costs no round
// trip, and works while the database is unreachable.
package dbclock

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// interval is the time between two readings. A jump of the database's own clock is followed within it.
	interval = 10 * time.Second
	// patience bounds a reading. The error of the clock is at most half of the time that the reading took.
	patience = time.Second
	// notable is the least difference between the two clocks that is logged.
	notable = time.Second
)

// Clock tells the time of the database. Before the first reading, Now is the clock of this machine.
type Clock struct {
	read func(context.Context) (time.Time, error)
	own  func() time.Time
	log  *slog.Logger

	last     atomic.Pointer[reading]
	differed atomic.Bool
}

// reading is the time of the database at a time of this process.
type reading struct{ here, there time.Time }

// New makes a clock that reads the time of the database with read.
func New(read func(context.Context) (time.Time, error), log *slog.Logger) *Clock {
	return &Clock{read: read, own: time.Now, log: log}
}

// Now is the time of the database.
func (c *Clock) Now() time.Time {
	r := c.last.Load()
	if r == nil {
		return c.own()
	}
	return r.there.Add(time.Since(r.here))
}

// Run reads the database's time every 10 seconds, until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.Read(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// Read reads the database's time. Without a response within a second the last reading stays in use.
func (c *Clock) Read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	sent := time.Now()
	there, err := c.read(ctx)
	took := time.Since(sent)
	if err != nil || took > patience {
		return
	}
	c.last.Store(&reading{here: sent.Add(took / 2), there: there})
	c.warn(ctx)
}

// warn logs once that the clock of this machine differs. Nothing here uses that clock, but logs and traces do.
func (c *Clock) warn(ctx context.Context) {
	ahead := c.own().Round(0).Sub(c.Now())
	differs := ahead.Abs() >= notable
	if was := c.differed.Swap(differs); differs && !was {
		c.log.WarnContext(ctx, "the clock of this machine differs from that of the database, which counts",
			"ahead", ahead.Round(time.Millisecond).String())
	}
}
