package fair

import (
	"context"
	"sync"
)

// call is for whom a call counts.
type call struct {
	mu      sync.Mutex
	account string
	bound   *Bound // of Hold, or nil
}

type callKey struct{}

// With returns the context of a call that counts for the account at every bound.
func With(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, callKey{}, &call{account: account})
}

// Hold tells that the call has taken a place of b for the account. The call gives the place back for Account, which Identify
// may have changed. The context is one of With.
func Hold(ctx context.Context, account string, b *Bound) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.account, c.bound = account, b
	}
}

// Account is for whom the call counts: "" without an earlier With.
func Account(ctx context.Context) string {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.account
}

// Identify has the call count for another account from now on, also at the bound of Hold.
func Identify(ctx context.Context, account string) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bound != nil {
		c.bound.move(c.account, account)
	}
	c.account = account
}
