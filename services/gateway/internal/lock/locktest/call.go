package locktest

import (
	"context"
	"testing"
	"time"

	"github.com/prism-results/prism/services/gateway/internal/lock"
)

// TB is what the steps of a case need of a test; *rapid.T has it too.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

var _ TB = (*testing.T)(nil)

// Call is an Acquire in a goroutine of its own.
type Call struct {
	cancel context.CancelFunc
	done   chan struct{}

	// Set before done is closed.
	lease lock.Lease
	err   error
}

// Start begins an Acquire.
func Start(t TB, l lock.Locker, name string) *Call {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &Call{cancel: cancel, done: make(chan struct{})}
	go func() {
		c.lease, c.err = l.Acquire(ctx, name)
		close(c.done)
	}()
	return c
}

// Cancel ends the call's context.
func (c *Call) Cancel() { c.cancel() }

// Returned tells whether the call has returned.
func (c *Call) Returned() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Result waits until the call returns.
func (c *Call) Result(t TB) (lock.Lease, error) {
	t.Helper()
	defer c.cancel()
	select {
	case <-c.done:
	case <-time.After(patience):
		t.Fatalf("Acquire did not return within %s", patience)
	}
	return c.lease, c.err
}

// Lease waits until the call returns a lease.
func (c *Call) Lease(t TB) lock.Lease {
	t.Helper()
	lease, err := c.Result(t)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	return lease
}

// Err waits until the call returns an error.
func (c *Call) Err(t TB) error {
	t.Helper()
	_, err := c.Result(t)
	if err == nil {
		t.Errorf("Acquire gave a lease")
	}
	return err
}

// Hold acquires a name that is free.
func Hold(t TB, l lock.Locker, name string) lock.Lease {
	t.Helper()
	return Start(t, l, name).Lease(t)
}

// Waiters waits until n callers wait.
func Waiters(t TB, l Locker, n int) {
	t.Helper()
	Eventually(t, "the right number waits", func() bool { return l.Waiting() == n })
}

// Eventually waits until ok, which nothing announces.
func Eventually(t TB, condition string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("not within %s: %s", patience, condition)
		}
	}
}

// briefAcquire returns what a caller gets that waits briefly.
func briefAcquire(t TB, l lock.Locker, name string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), briefly)
	defer cancel()
	lease, err := l.Acquire(ctx, name)
	if err == nil {
		lease.Release(t.Context())
	}
	return err
}
