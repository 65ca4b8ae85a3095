package access

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// flushEvery is how often the times of last use are stored: last_used_at is right to the minute.
const flushEvery = 20 * time.Second

// flushLimit bounds one write of them.
const flushLimit = 5 * time.Second

// lastUses collects when API keys were last used, so that a call costs no write.
type lastUses struct {
	mu      sync.Mutex
	pending map[prism.KeyID]time.Time
}

func newLastUses() *lastUses { return &lastUses{pending: make(map[prism.KeyID]time.Time)} }

func (u *lastUses) touch(id prism.KeyID, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at.After(u.pending[id]) {
		u.pending[id] = at
	}
}

// last is the later of the stored time and a collected one.
func (u *lastUses) last(id prism.KeyID, stored *time.Time) *time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, ok := u.pending[id]
	if !ok || (stored != nil && stored.After(at)) {
		return stored
	}
	return &at
}

type touch func(context.Context, map[prism.KeyID]time.Time) error

func (u *lastUses) run(ctx context.Context, write touch) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = u.flush(ctx, write) // it stays pending until the next tick
		case <-ctx.Done():
			return u.flush(context.WithoutCancel(ctx), write) // store the last uses, with a bound
		}
	}
}

func (u *lastUses) flush(ctx context.Context, write touch) error {
	u.mu.Lock()
	batch := maps.Clone(u.pending)
	u.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	if err := write(ctx, batch); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range batch {
		if u.pending[id].Equal(at) {
			delete(u.pending, id)
		}
	}
	return nil
}

// LastUse is when a key was last used: the later of the stored time and what is still to be stored.
func (s *Access) LastUse(id prism.KeyID, stored *time.Time) *time.Time {
	return s.lastUses.last(id, stored)
}

// KeepLastUses stores when API keys were last used, until ctx ends.
func (s *Access) KeepLastUses(ctx context.Context) error {
	return s.lastUses.run(ctx, s.store.TouchKeys)
}
