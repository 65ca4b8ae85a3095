package route

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// The limit of sign-ins of one address (spec: sign-in-attempts).
const (
	attemptsAtOnce = 30
	attemptPause   = 2 * time.Second // after which one more is allowed
	// knownAddresses bounds the memory. The address that tried longest ago is forgotten first.
	knownAddresses = 10_000
)

// attempts counts the sign-ins of each address. It is safe for concurrent use.
type attempts struct {
	now func() time.Time

	mu sync.Mutex
	// free is when an address has all its attempts again.
	free *simplelru.LRU[netip.Addr, time.Time]
}

func newAttempts(now func() time.Time) (*attempts, error) {
	free, err := simplelru.NewLRU[netip.Addr, time.Time](knownAddresses, nil)
	return &attempts{now: now, free: free}, err
}

// take counts an attempt of an address. Without one left it returns the time until the next.
func (a *attempts) take(address netip.Addr) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	free, _ := a.free.Get(address)
	if free.Before(now) {
		free = now
	}
	free = free.Add(attemptPause)
	if wait := free.Sub(now) - attemptsAtOnce*attemptPause; wait > 0 {
		return wait
	}
	a.free.Add(address, free)
	return 0
}
