package route

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// The limit of sign-ins of one address (spec: sign-in-attempts): a burst of them, and one more after each interval.
	signInBurst    = 30
	signInInterval = 2 * time.Second
	// The limit of unknown sessions of one address (spec: unknown-sessions).
	unknownBurst    = 20
	unknownInterval = time.Second / unknownBurst
	// knownSessions bounds the memory of sessions that were found lately. The limit of unknown sessions does not apply to them.
	knownSessions = 10_000
	// knownAddresses bounds the memory of a limit. The address that was looked up longest ago is forgotten first.
	knownAddresses = 10_000
)

// attempts limits the rate of attempts of each address (the generic cell rate algorithm). It is safe for concurrent use.
type attempts struct {
	now      func() time.Time
	interval time.Duration // after which an address has one more attempt
	burst    time.Duration // the intervals of as many attempts as an address has at once

	mu sync.Mutex
	// free is when an address has all its attempts again.
	free *simplelru.LRU[netip.Addr, time.Time]
}

func newAttempts(now func() time.Time, burst int, interval time.Duration) (*attempts, error) {
	free, err := simplelru.NewLRU[netip.Addr, time.Time](knownAddresses, nil)
	return &attempts{now: now, interval: interval, burst: time.Duration(burst) * interval, free: free}, err
}

// take counts an attempt of an address. If the address has none left, take counts nothing and returns the time until the next.
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

// left returns what take would return, and counts nothing.
func (a *attempts) left(address netip.Addr) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, wait = a.next(address)
	return wait
}

// next is when an address would have all its attempts again after one more, and for how long it has none left: 0 or less if it
// has one.
func (a *attempts) next(address netip.Addr) (free time.Time, wait time.Duration) {
	now := a.now()
	free, _ = a.free.Get(address)
	if free.Before(now) {
		free = now
	}
	free = free.Add(a.interval)
	return free, free.Sub(now) - a.burst
}
