package lock

import (
	"context"
	"errors"
)

// DefaultMaxWaiters bounds the memory that waiting callers use.
const DefaultMaxWaiters = 1024

// Why a Locker gives no lease. If the context was cancelled, the error is context.Canceled.
var (
	// ErrHeld: another caller holds the name or waits for it. Only TryAcquire returns it.
	ErrHeld = errors.New("lock: held by another caller")
	// ErrTimeout: the name was not free before the context's deadline.
	ErrTimeout = errors.New("lock: waited as long as allowed")
	// ErrBusy: too many callers wait already. Acquire returns it at once.
	ErrBusy = errors.New("lock: too many waiters")
	// ErrUnavailable: the backend of the lock is away. The caller goes on without a lock.
	ErrUnavailable = errors.New("lock: unavailable")
)

// Locker serialises work on one name across all gateways. It only saves work: a lease can expire while its holder
// works, so the database prevents what must not happen twice.
//
// A name may hold data that must not be seen elsewhere. No implementation puts a name into an error, into telemetry or
// into another program.
type Locker interface {
	// Acquire waits until the name is free and returns a lease, which the caller has to release. It returns ErrTimeout,
	// ErrBusy, ErrUnavailable or the context's cancellation; the caller then holds nothing.
	Acquire(ctx context.Context, name string) (Lease, error)

	// TryAcquire is Acquire without waiting: it returns ErrHeld if the name is not free.
	TryAcquire(ctx context.Context, name string) (Lease, error)
}

// Lease is the hold on a name. It lasts until Release, its expiry, or the end of its process.
type Lease interface {
	// Release frees the name. Only the first call has an effect, and none after the lease expired. It works with a
	// context that has ended, and never waits long.
	Release(ctx context.Context)

	// Expired tells whether another caller may hold the name although this lease was not released.
	Expired() bool
}

// WaitEnded is the error of a wait that ended with its context.
func WaitEnded(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return ErrTimeout
}
