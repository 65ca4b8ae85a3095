package lock

import (
	"context"
	"errors"
)

// Layered takes a name in this process first and then in the lock that all gateways share. So one caller of a process
// at a time asks the shared lock for a name, and the others wait in order in the process. While the shared lock is
// away, the calls of one process still go one by one: their leases count as expired from the beginning.
func Layered(local, shared Locker) Locker { return layered{local, shared} }

type layered struct{ local, shared Locker }

func (l layered) Acquire(ctx context.Context, name string) (Lease, error) {
	return l.take(ctx, name, Locker.Acquire)
}

func (l layered) TryAcquire(ctx context.Context, name string) (Lease, error) {
	return l.take(ctx, name, Locker.TryAcquire)
}

func (l layered) take(ctx context.Context, name string, from func(Locker, context.Context, string) (Lease, error)) (Lease, error) {
	local, err := from(l.local, ctx, name)
	if err != nil {
		return nil, err
	}
	shared, err := from(l.shared, ctx, name)
	switch {
	case err == nil:
		return bothLeases{shared, local}, nil
	case errors.Is(err, ErrUnavailable):
		return localLease{local}, nil
	}
	local.Release(ctx)
	return nil, err
}

// bothLeases expires with the shared lease. The local one stays until Release, since the holder still works.
type bothLeases struct {
	Lease
	local Lease
}

func (l bothLeases) Release(ctx context.Context) {
	l.Lease.Release(ctx)
	l.local.Release(ctx)
}

type localLease struct{ Lease }

func (localLease) Expired() bool { return true }
