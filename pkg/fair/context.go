package fair

import (
	"context"
	"sync"
)

// call records which account a call counts for, and what the call holds.
type call struct {
	mu        sync.Mutex
	account   string
	places    *Bound // set between Hold and Leave, else nil
	bytes     *Bound // set between Hold and Leave, else nil
	heldBytes int
}

type callKey struct{}

// With returns the context of a call that counts for the account at every bound.
func With(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, callKey{}, &call{account: account})
}

// Hold records that the call holds one place of the bound places for the account, and that Reserve takes places of the bound
// bytes. Leave gives both back. Without an earlier With, Hold does nothing.
func Hold(ctx context.Context, account string, places, bytes *Bound) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.account, c.places, c.bytes = account, places, bytes
	}
}

// Leave gives back what Hold recorded and what Reserve took, for the account that the call counts for by then (see Identify).
func Leave(ctx context.Context) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.places != nil {
		c.places.Give(c.account)
	}
	if c.heldBytes > 0 {
		c.bytes.force(c.account, -c.heldBytes)
	}
	c.places, c.bytes, c.heldBytes = nil, nil, 0
}

// Reserve has the call hold at least n bytes until Leave. It returns false, and changes nothing, if the bound of Hold has no room
// for them. With must, the bound is ignored. Before Hold and after Leave, Reserve counts nothing and returns true.
func Reserve(ctx context.Context, n int, must bool) bool {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	more := n - c.heldBytes
	switch {
	case c.bytes == nil || more <= 0:
		return true
	case must:
		c.bytes.force(c.account, more)
	case !c.bytes.TakeN(c.account, Preferred, more, c.heldBytes):
		return false
	}
	c.heldBytes = n
	return true
}

// Uncounted is how many bytes of each response do not count, so that large responses never cause the refusal of small ones.
const Uncounted = 16 << 10

// ReserveResponse is Reserve for n bytes of a response, or of what becomes one: the rows of a page, or the response of another
// service. The first ones do not count (spec: response-budget).
func ReserveResponse(ctx context.Context, n int, must bool) bool {
	return n <= Uncounted || Reserve(ctx, n-Uncounted, must)
}

// Account is the account that the call counts for; "" without an earlier With.
func Account(ctx context.Context) string {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.account
}

// Identify has the call count for another account from now on, also at the bounds of Hold.
func Identify(ctx context.Context, account string) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.account == account {
		return
	}
	if c.places != nil {
		c.places.move(c.account, account, 1)
	}
	if c.heldBytes > 0 {
		c.bytes.move(c.account, account, c.heldBytes)
	}
	c.account = account
}
