package route

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// The limit of sign-ins of one address (spec: sign-in-attempts).
	signInsAtOnce = 30
	signInPause   = 2 * time.Second // after which one more is allowed
	// The limit of unknown sessions of one address (spec: unknown-sessions).
	unknownAtOnce = 20
	unknownPause  = time.Second / unknownAtOnce
	// knownSessions bounds the memory of sessions that were found lately, for which that limit does not hold.
	knownSessions = 10_000
	// knownAddresses bounds the memory of a limit. The address that was counted longest ago is forgotten first.
	knownAddresses = 10_000
)

// attempts counts something of each address. It is safe for concurrent use.
type attempts struct {
	now    func() time.Time
	pause  time.Duration
	atOnce time.Duration // the pauses of as many attempts as an address has at once

	mu sync.Mutex
	// free is when an address has all its attempts again.
	free *simplelru.LRU[netip.Addr, time.Time]
}

func newAttempts(now func() time.Time, atOnce int, pause time.Duration) (*attempts, error) {
	free, err := simplelru.NewLRU[netip.Addr, time.Time](knownAddresses, nil)
	return &attempts{now: now, pause: pause, atOnce: time.Duration(atOnce) * pause, free: free}, err
}

// take counts an attempt of an address. Without one left it counts nothing, and returns the time until the next.
func (a *attempts) take(address netip.Addr) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	free, wait := a.next(address)
	if wait > 0 {
		return wait
	}
	a.free.Add(address, free)
	return 0
}

// left is take that counts nothing.
func (a *attempts) left(address netip.Addr) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, wait = a.next(address)
	return wait
}

// next is when an address would have all its attempts again after one more, and for how long it has none left.
func (a *attempts) next(address netip.Addr) (free time.Time, wait time.Duration) {
	now := a.now()
	free, _ = a.free.Get(address)
	if free.Before(now) {
		free = now
	}
	free = free.Add(a.pause)
	return free, free.Sub(now) - a.atOnce
}
