package redis

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prism-results/prism/services/gateway/internal/lock"
)

// lease is a held name, or the claim of a caller that asks for it.
type lease struct {
	locker    *Locker
	id, token string

	mu sync.Mutex
	// until is when the lease surely expires, by the clock of this process: counted from before the command was sent, so
	// never later than in Redis. It is zero if Redis has the name for another holder.
	until    time.Time
	renewal  *time.Timer
	released bool
}

// take asks Redis for the name. The lease is then renewed every third of its length, until Release or expiry.
func (h *lease) take(ctx context.Context) (lock.Lease, error) {
	l := h.locker
	asked := time.Now()
	taken, err := l.store.take(ctx, h.id, h.token)
	switch {
	case l.record(err) != nil:
		return nil, fmt.Errorf("%w: %w", lock.ErrUnavailable, err)
	case !taken:
		return nil, lock.ErrHeld
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = asked.Add(l.config.Lease)
	h.renewal = time.AfterFunc(l.config.Lease/3, h.renew)
	return h, nil
}

func (h *lease) renew() {
	l := h.locker
	asked := time.Now()
	h.mu.Lock()
	left := h.until.Sub(asked)
	h.mu.Unlock()
	if left <= 0 || l.life.Err() != nil {
		return
	}
	renewed, err := l.store.renew(l.life, h.id, h.token, left)
	pause := l.config.Lease / 3
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case l.record(err) != nil:
		pause /= 3 // there is time for a few more tries
	case renewed:
		h.until = asked.Add(l.config.Lease)
	default:
		h.until = time.Time{}
	}
	if !h.released {
		h.renewal.Reset(pause)
	}
}

func (h *lease) Release(ctx context.Context) {
	h.mu.Lock()
	again := h.released
	h.released = true
	h.renewal.Stop()
	h.mu.Unlock()
	// The command to a Redis that is away would only delay the caller. The lease expires instead.
	if l := h.locker; !again && l.life.Err() == nil && !l.breaker.away() {
		_ = l.record(l.store.free(ctx, h.id, h.token))
	}
}

func (h *lease) Expired() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.released && (h.locker.life.Err() != nil || !time.Now().Before(h.until))
}
