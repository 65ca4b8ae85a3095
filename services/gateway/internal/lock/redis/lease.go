package redis

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// lease is a held name.
type lease struct {
	locker    *Locker
	id, token string

	once     sync.Once
	released chan struct{}
	expired  atomic.Bool
}

// hold starts a lease that Redis gave in reply to a command sent at asked.
func (l *Locker) hold(id, token string, asked time.Time) *lease {
	h := &lease{locker: l, id: id, token: token, released: make(chan struct{})}
	until := asked.Add(l.config.Lease)
	if l.keepAlive && !l.start(func() { h.keep(until) }) {
		h.expired.Store(true)
	}
	return h
}

// keep renews the lease until Release or expiry. until is when the lease surely expires, by the clock of this process:
// counted from before the command was sent, so never later than in Redis.
func (h *lease) keep(until time.Time) {
	l := h.locker
	every := l.config.Lease / 3
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-h.released:
			return
		case <-l.life.Done():
			h.expire()
			return
		case <-timer.C:
		}
		asked := time.Now()
		if !asked.Before(until) {
			h.expire()
			return
		}
		held, err := l.store.renew(l.life, h.id, h.token, until.Sub(asked))
		err = l.breaker.record(err)
		switch {
		case err == nil && !held:
			h.expire()
			return
		case err == nil:
			until = asked.Add(l.config.Lease)
			timer.Reset(every)
		default:
			// There is time for a few more tries, the last at the end of the lease.
			timer.Reset(max(min(every/3, time.Until(until)), 0))
		}
	}
}

// expire marks the lease as expired, unless it was released before.
func (h *lease) expire() {
	select {
	case <-h.released:
	default:
		h.expired.Store(true)
	}
}

func (h *lease) Release(ctx context.Context) {
	h.once.Do(func() {
		close(h.released)
		// The command to a Redis that is away would only delay the caller. The lease expires instead.
		if l := h.locker; !l.breaker.away() {
			_ = l.breaker.record(l.store.free(ctx, h.id, h.token))
		}
	})
}

func (h *lease) Expired() bool { return h.expired.Load() }
