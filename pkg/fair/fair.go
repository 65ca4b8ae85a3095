// Package fair divides a bound among the accounts that share it (spec: fair-shares).
//
// An account gets every place while no other account wants one. When the places run out, an account below its share still
// gets a place, and an account at or above its share gets none until enough places are given back. A share is the number of
// places divided by the number of accounts that hold one.
//
// Nothing waits and nothing is taken away from a call that runs, so while one account drains to its share more places are
// held than the bound says: at most twice as many.
package fair

import "sync"

// Class is a kind of call.
type Class uint8

const (
	// Read may take every place.
	Read Class = iota
	// Create may take every place but the reserve of reads.
	Create
)

// Bound is a number of places, shared by accounts. It is safe for concurrent use.
type Bound struct {
	mu      sync.Mutex
	places  int
	reserve int
	taken   int
	held    map[string]int // by account; only accounts that hold a place
}

// New makes a bound of places, at least 1. Calls of class Create leave reserve of them, fewer than places, to reads.
func New(places, reserve int) *Bound {
	return &Bound{places: places, reserve: reserve, held: make(map[string]int)}
}

// Take takes a place for a call of the account, and reports whether there was one. Each place taken is given back once.
func (b *Bound) Take(account string, class Class) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.places
	if class == Create {
		limit -= b.reserve
	}
	held, active := b.held[account], len(b.held)
	if held == 0 {
		active++ // the account itself
	}
	share := max(1, limit/active)
	if b.taken >= limit && (held >= share || b.taken >= limit+b.places) {
		return false
	}
	b.taken++
	b.held[account]++
	return true
}

// Give gives back a place of the account.
func (b *Bound) Give(account string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken--
	if b.held[account]--; b.held[account] == 0 {
		delete(b.held, account)
	}
}

// move has a place of one account count for another, above the share of the other if need be.
func (b *Bound) move(from, to string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held[to]++
	if b.held[from]--; b.held[from] == 0 {
		delete(b.held, from)
	}
}

// Taken is how many places are held.
func (b *Bound) Taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// Places is the bound.
func (b *Bound) Places() int { return b.places }
