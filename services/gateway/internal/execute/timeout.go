package execute

import (
	"context"
	"sync"
	"time"
)

// timeout is the context of withTimeout.
type timeout struct {
	parent context.Context //nolint:containedctx // as the standard library's contexts have
	at     time.Time

	mu       sync.Mutex
	timed    context.Context    //nolint:containedctx // ends at the time; nil without a timer
	stop     context.CancelFunc // of timed
	canceled bool
}

// withTimeout is context.WithTimeout whose timer starts when Done is first called. A call to another process only reads the
// deadline, and the timer would be 1.5% of the processor time of a read.
func withTimeout(parent context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	at := time.Now().Add(wait)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(at) {
		return context.WithCancel(parent)
	}
	c := &timeout{parent: parent, at: at}
	return c, c.cancel
}

func (c *timeout) Deadline() (time.Time, bool) { return c.at, true }

func (c *timeout) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.stop = context.WithDeadline(c.parent, c.at)
		if c.canceled {
			c.stop()
		}
	}
	return c.timed.Done()
}

func (c *timeout) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.timed != nil:
		return c.timed.Err()
	case c.canceled:
		return context.Canceled
	case c.parent.Err() == nil && !time.Now().Before(c.at):
		return context.DeadlineExceeded
	}
	return c.parent.Err()
}

// Value is that of timed, once there is one: package context finds it so, and contexts made from this one need no goroutine.
func (c *timeout) Value(key any) any {
	c.mu.Lock()
	ctx := c.parent
	if c.timed != nil {
		ctx = c.timed
	}
	c.mu.Unlock()
	return ctx.Value(key)
}

func (c *timeout) cancel() {
	c.mu.Lock()
	stop := c.stop
	c.canceled = c.canceled || time.Now().Before(c.at)
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}
