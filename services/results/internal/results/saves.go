package results

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// refuseAfter is how many saves in a row fail before calls are refused.
	refuseAfter = 3
	// probeEvery is how often a store that cannot be written is probed, and probeLimit bounds one probe.
	probeEvery = time.Second
	probeLimit = 5 * time.Second
)

// saves counts the saves in a row that failed because the store cannot be written (spec: unwritable-store):
//
//	taken ── three saves in a row fail ──▶ refused ── a probe or a save succeeds ──▶ taken
type saves struct{ failed atomic.Int32 }

// note records the outcome of a save or a probe. An outcome that says nothing about the store changes nothing, such as a
// lost race, or a database that is away: then the look-up of the next call fails, before the model.
func (s *saves) note(err error) {
	switch {
	case err == nil:
		if s.failed.Load() > 0 { // keeps concurrent saves from writing the same cache line
			s.failed.Store(0)
		}
	case errors.Is(err, store.ErrUnwritable), errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, store.ErrUnavailable):
		s.failed.Add(1)
	}
}

// refused reports whether no call goes to the model for that reason.
func (s *saves) refused() bool { return s.failed.Load() >= refuseAfter }

// probe probes the store while calls are refused, until ctx ends.
func (s *saves) probe(ctx context.Context, refused func() bool, write func(context.Context) error) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if refused() {
				s.probeOnce(ctx, write)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *saves) probeOnce(ctx context.Context, write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	s.note(write(ctx))
}
