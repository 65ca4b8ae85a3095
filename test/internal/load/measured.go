package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Work is the calls of a measured load.
type Work struct {
	Addr    string             // host and port
	Request func(n int) []byte // the bytes of the nth request
	Status  int                // the status that every response must have
	// Seen gets the body of each successful response; nil: bodies are skipped. It may keep no part of the body, and is called by several
	// connections at once.
	Seen func(body []byte)
}

// Figures are the measurements of one run.
type Figures struct {
	Length  time.Duration
	Took    []time.Duration // by each successful call, sorted
	Refused int             // calls that got 503; a run with more of them than of successful calls is an error
}

// Rate is successful calls per second.
func (f Figures) Rate() float64 { return float64(len(f.Took)) / f.Length.Seconds() }

// Percentile is the time within which p percent of the calls succeeded.
func (f Figures) Percentile(p float64) time.Duration {
	if len(f.Took) == 0 {
		return 0
	}
	return f.Took[min(int(float64(len(f.Took))*p/100), len(f.Took)-1)]
}

// Closed runs a closed loop: each connection sends its next request when the response to the last one has come.
func Closed(ctx context.Context, w Work, conns int, length time.Duration) (Figures, error) {
	return run(ctx, w, conns, func(began time.Time) func(int) (time.Time, bool) {
		end := began.Add(length)
		return func(int) (time.Time, bool) {
			now := time.Now()
			return now, now.Before(end)
		}
	})
}

// Steady starts rate calls per second, however long responses take. A call that waits for a free connection is measured
// from the moment when the call was due: a server that hangs for a second is late for every call of that second.
func Steady(ctx context.Context, w Work, conns, rate int, length time.Duration) (Figures, error) {
	return run(ctx, w, conns, func(began time.Time) func(int) (time.Time, bool) {
		return func(n int) (time.Time, bool) {
			after := time.Duration(n) * time.Second / time.Duration(rate)
			return began.Add(after), after < length
		}
	})
}

// run lets each connection take the number of the next call, wait until the call is due, and make it.
func run(ctx context.Context, w Work, conns int, plan func(time.Time) func(int) (time.Time, bool)) (Figures, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	open := make([]*conn, conns)
	for i := range open {
		c, err := dial(ctx, w.Addr)
		if err != nil {
			return Figures{}, err
		}
		defer c.Close()
		open[i] = c
	}
	var (
		next    atomic.Int64
		refused atomic.Int64
		group   sync.WaitGroup
		took    = make([][]time.Duration, conns)
		errs    = make([]error, conns)
		began   = time.Now()
		due     = plan(began)
	)
	for i, c := range open {
		group.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1) - 1)
				at, goOn := due(n)
				if !goOn || !Wait(ctx, time.Until(at)) {
					return
				}
				err := c.call(w.Request(n), w.Status, w.Seen)
				switch {
				case err == nil:
					took[i] = append(took[i], time.Since(at))
				case errors.Is(err, errRefused):
					refused.Add(1)
				default:
					errs[i] = err
					cancel()
					return
				}
			}
		})
	}
	group.Wait()
	f := Figures{Length: time.Since(began), Took: slices.Concat(took...), Refused: int(refused.Load())}
	slices.Sort(f.Took)
	if err := errors.Join(errs...); err != nil {
		return f, err
	}
	if f.Refused > len(f.Took) {
		return f, fmt.Errorf("load: %d calls got 503, %d succeeded", f.Refused, len(f.Took))
	}
	return f, ctx.Err()
}

// Wait waits, and tells whether it could wait that long.
func Wait(ctx context.Context, pause time.Duration) bool {
	if pause <= 0 {
		return true
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

// Once makes n calls, each on a connection of its own, and starts rate of them per second.
func Once(ctx context.Context, w Work, n, rate int) error {
	_, err := run(ctx, w, n, func(began time.Time) func(int) (time.Time, bool) {
		return func(i int) (time.Time, bool) {
			return began.Add(time.Duration(i) * time.Second / time.Duration(rate)), i < n
		}
	})
	return err
}
