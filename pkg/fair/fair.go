// Package fair divides a bound among the accounts that share it (spec: fair-shares).
//
// An account gets every place while no other account wants one. When the places run out, an account below its share still
// gets a place, and an account at or above its share gets none until enough places are given back. A share is the number of
// places divided by the number of accounts that hold one.
//
// Of a Bound, no call waits, and no running call loses its place. So while the calls of one account end until it is at its share,
// more places are held than the bound says: at most twice as many. Reserve can go beyond that for what must be held. Such a place is
// a call, or a byte that calls hold. Calls wait for the places of a Queue.
package fair

import "sync"

// Class is a kind of call.
type Class uint8

const (
	// Preferred calls may take every place: reads, and calls that somebody waits for.
	Preferred Class = iota
	// Yielding calls leave the reserve to preferred calls.
	Yielding
)

// Bound is a number of places, shared by accounts. It is safe for concurrent use.
type Bound struct {
	mu           sync.Mutex
	places       int
	reserve      int
	maxOfAccount int // 0: any number
	taken        int
	byAccount    map[string]int // only accounts that hold a place
}

// New makes a bound of places, at least 1. Yielding calls leave reserve of them, fewer than places, to preferred calls.
func New(places, reserve int) *Bound {
	return &Bound{places: places, reserve: reserve, byAccount: make(map[string]int)}
}

// AtMost has no account hold more than n places, whoever else wants one.
func (b *Bound) AtMost(n int) *Bound {
	b.maxOfAccount = n
	return b
}

// Take takes a place for a call of the account, and reports whether there was one. Each place taken is given back once.
func (b *Bound) Take(account string, class Class) bool { return b.TakeN(account, class, 1, 0) }

// TakeN takes n places, at least 1, or none, for a call that holds own places already. While no other call holds one, there are always
// enough.
func (b *Bound) TakeN(account string, class Class, n, own int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.places
	if class == Yielding {
		limit -= b.reserve
	}
	places, active := b.byAccount[account], len(b.byAccount)
	if places == 0 {
		active++ // the account itself
	}
	if b.maxOfAccount > 0 && places+n > b.maxOfAccount {
		return false
	}
	share := max(1, limit/active)
	if b.taken > own && b.taken+n > limit && (places+n > share || b.taken+n > limit+b.places) {
		return false
	}
	b.add(account, n)
	return true
}

// add takes n places and ignores the bound; with n below zero it gives places back. The caller holds the lock.
func (b *Bound) add(account string, n int) {
	b.taken += n
	if b.byAccount[account] += n; b.byAccount[account] == 0 {
		delete(b.byAccount, account)
	}
}

// force is add for a caller without the lock.
func (b *Bound) force(account string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(account, n)
}

// Give gives back a place of the account.
func (b *Bound) Give(account string) { b.force(account, -1) }

// GiveN gives back n places of the account.
func (b *Bound) GiveN(account string, n int) { b.force(account, -n) }

// move has n places of one account count for another, even above the share of the other.
func (b *Bound) move(from, to string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(to, n)
	b.add(from, -n)
}

// Taken is how many places are held.
func (b *Bound) Taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// Places is the bound.
func (b *Bound) Places() int { return b.places }
