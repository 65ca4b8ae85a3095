package fair

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
)

// Queue is a number of places for which calls wait. Accounts take turns: a free place goes to the account that holds the fewest
// places, and of several to the one whose turn is longest ago. An account that comes new is before the one that was served last. Of
// one account, preferred calls go first, then calls in their order. It is safe for concurrent use.
//
// Unlike a Bound, a Queue never lends more places than it has, except by Yield.
type Queue struct {
	mu      sync.Mutex
	places  int
	reserve int
	taken   int
	waiting int
	turns   int64 // places that were taken so far
	came    int64 // accounts that came so far
	lines   map[string]*line
}

// line is an account that holds a place or waits for one.
type line struct {
	places  int
	turn    int64              // twice Queue.turns at its last turn; of a new account, 1 less than that of the last turn of any account
	came    int64              // Queue.came
	waiting [2][]chan struct{} // by Class; a channel is closed when its call has a place
}

// order is in which order lines get free places.
func (l *line) order(other *line) int {
	return cmp.Or(cmp.Compare(l.places, other.places), cmp.Compare(l.turn, other.turn), cmp.Compare(l.came, other.came))
}

// Processors are places for work that keeps a processor busy: half of the processors, at least one, so that other calls have the rest.
func Processors() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// NewQueue makes a Queue of places, at least 1. Yielding calls leave reserve of them, fewer than places, to preferred calls.
func NewQueue(places, reserve int) *Queue {
	return &Queue{places: places, reserve: reserve, lines: map[string]*line{}}
}

// TryTake takes a place for a call of the account, and reports whether one was free. Each place taken is given back once.
func (q *Queue) TryTake(account string, class Class) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.free(class) {
		return false
	}
	q.grant(q.line(account))
	return true
}

// Take is TryTake that waits for a place until ctx ends; then the error is that of ctx.
func (q *Queue) Take(ctx context.Context, account string, class Class) error {
	turn := q.join(account, class)
	if turn == nil {
		return nil
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	if !q.withdraw(account, class, turn) { // the place came at the same time
		return nil
	}
	return ctx.Err()
}

// Give gives back a place of the account.
func (q *Queue) Give(account string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.give(account)
}

// Yield lets the calls of other accounts go first if any wait: it is Give and Take. If ctx ends before Take has a place, the error is
// that of ctx, and the call holds a place beyond the bound until it gives the place back.
func (q *Queue) Yield(ctx context.Context, account string, class Class) error {
	q.mu.Lock()
	l := q.line(account)
	if q.waiting == len(l.waiting[Preferred])+len(l.waiting[Yielding]) {
		q.mu.Unlock()
		return nil
	}
	q.give(account)
	q.mu.Unlock()
	err := q.Take(ctx, account, class)
	if err != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.grant(q.line(account))
	}
	return err
}

// Taken and Waiting are how many calls hold a place, and wait for one.
func (q *Queue) Taken() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken
}

// Waiting is described at Taken.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

// free tells whether a call of the class gets a place at once. Then no call of the class waits, as it would have the place.
func (q *Queue) free(class Class) bool {
	if class == Yielding {
		return q.taken < q.places-q.reserve
	}
	return q.taken < q.places
}

// line is that of an account.
func (q *Queue) line(account string) *line {
	l := q.lines[account]
	if l == nil {
		q.came++
		l = &line{turn: 2*q.turns - 1, came: q.came}
		q.lines[account] = l
	}
	return l
}

func (q *Queue) grant(l *line) {
	q.taken++
	q.turns++
	l.places++
	l.turn = 2 * q.turns
}

// join takes a place, and returns nil, or waits for one: the channel is closed when the call has it.
func (q *Queue) join(account string, class Class) chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.line(account)
	if q.free(class) {
		q.grant(l)
		return nil
	}
	turn := make(chan struct{})
	l.waiting[class] = append(l.waiting[class], turn)
	q.waiting++
	return turn
}

// withdraw ends the waiting of a call, and reports false if the call has its place.
func (q *Queue) withdraw(account string, class Class, turn chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[account]
	i := slices.Index(l.waiting[class], turn)
	if i >= 0 {
		l.waiting[class] = slices.Delete(l.waiting[class], i, i+1)
		q.waiting--
		q.forget(account, l)
	}
	return i >= 0
}

// give gives back a place, and the free places to calls that wait.
func (q *Queue) give(account string) {
	l := q.lines[account]
	q.taken--
	l.places--
	q.forget(account, l)
	for q.waiting > 0 && q.free(Preferred) {
		next, class := q.next()
		if next == nil {
			return
		}
		close(next.waiting[class][0])
		next.waiting[class] = slices.Delete(next.waiting[class], 0, 1)
		q.waiting--
		q.grant(next)
	}
}

// next is the line that gets a free place, and the class of its call; nil if only yielding calls wait, for whom none is free.
func (q *Queue) next() (next *line, class Class) {
	yielding := q.free(Yielding)
	for _, l := range q.lines {
		waits := len(l.waiting[Preferred]) > 0 || yielding && len(l.waiting[Yielding]) > 0
		if waits && (next == nil || l.order(next) < 0) {
			next = l
		}
	}
	if next != nil && len(next.waiting[Preferred]) == 0 {
		class = Yielding
	}
	return next, class
}

// forget removes the line of an account that neither holds nor waits.
func (q *Queue) forget(account string, l *line) {
	if l.places == 0 && len(l.waiting[Preferred]) == 0 && len(l.waiting[Yielding]) == 0 {
		delete(q.lines, account)
	}
}
