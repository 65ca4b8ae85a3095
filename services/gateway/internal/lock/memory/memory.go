// Package memory keeps locks within one process. It serves the callers of a name in the order in which they came.
package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/gateway/internal/lock"
)

// Config of a locker. The zero value is ready to use.
type Config struct {
	// MaxWaiters is how many callers wait at a time, over all names; 1024 unless given. Accounts share it (spec: fair-shares).
	MaxWaiters int
}

// Locker keeps the locks of this process. It has no goroutines, and keeps nothing of a name that is free.
type Locker struct {
	waiters *fair.Bound

	mu     sync.Mutex
	queues map[string][]chan struct{} // by held name: its waiters, first come first; a closed channel grants the name
}

var _ lock.Locker = (*Locker)(nil)

// New returns a locker.
func New(c Config) *Locker {
	return &Locker{
		waiters: fair.New(cmp.Or(c.MaxWaiters, lock.DefaultMaxWaiters), 0),
		queues:  map[string][]chan struct{}{},
	}
}

// Acquire is strictly first come, first served.
func (l *Locker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	lease, err := l.TryAcquire(ctx, name)
	if err != lock.ErrHeld { //nolint:errorlint // TryAcquire returns it as it is
		return lease, err
	}
	account := fair.Account(ctx)
	if !l.waiters.Take(account, fair.Preferred) {
		return nil, lock.ErrBusy
	}
	defer l.waiters.Give(account)
	granted := l.enqueue(name)
	select {
	case <-granted:
		return l.lease(name), nil
	case <-ctx.Done():
		l.dequeue(name, granted)
		return nil, lock.WaitEnded(ctx)
	}
}

// TryAcquire never takes a name before a caller that waits.
func (l *Locker) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	if ctx.Err() != nil {
		return nil, lock.WaitEnded(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, held := l.queues[name]; held {
		return nil, lock.ErrHeld
	}
	l.queues[name] = nil
	return l.lease(name), nil
}

// enqueue adds a waiter. The channel is closed when the waiter holds the name, which may be at once.
func (l *Locker) enqueue(name string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	granted := make(chan struct{})
	if queue, held := l.queues[name]; held {
		l.queues[name] = append(queue, granted)
	} else {
		l.queues[name] = nil
		close(granted)
	}
	return granted
}

// dequeue removes a waiter. If it was granted the name as its wait ended, the next waiter gets the name.
func (l *Locker) dequeue(name string, granted chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[name]
	if i := slices.Index(queue, granted); i >= 0 {
		l.queues[name] = slices.Delete(queue, i, i+1)
		return
	}
	l.grantNext(name)
}

// grantNext gives a name that was held to its first waiter, or frees it.
func (l *Locker) grantNext(name string) {
	queue := l.queues[name]
	if len(queue) == 0 {
		delete(l.queues, name)
		return
	}
	l.queues[name] = queue[1:]
	close(queue[0])
}

// Waiting is the number of callers that wait now.
func (l *Locker) Waiting() int { return l.waiters.Taken() }

func (l *Locker) lease(name string) lock.Lease { return &lease{locker: l, name: name} }

type lease struct {
	locker   *Locker
	name     string
	released bool // guarded by the locker's mutex
}

func (h *lease) Release(context.Context) {
	h.locker.mu.Lock()
	defer h.locker.mu.Unlock()
	if !h.released {
		h.released = true
		h.locker.grantNext(h.name)
	}
}

// Expired is false: only Release ends a lease of this process.
func (*lease) Expired() bool { return false }
