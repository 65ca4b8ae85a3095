package fair

import (
	"sync"
	"time"
)

// Work that keeps a processor busy for more than a slice pauses after each slice, for a pause at least.
const (
	slice = time.Millisecond
	pause = 100 * time.Microsecond
)

// Work is work of one goroutine that can keep a processor busy for milliseconds. It is done in steps of well below a millisecond. What all
// Work of the process does takes half of the processors at most (Processors), in slices of a millisecond, so that calls which need a
// processor for a moment do not wait for the slices of Go's and of the system's schedulers (spec: turns-of-work). The zero value is ready.
type Work struct {
	began time.Time
	busy  time.Duration // since the last pause
}

// Begin begins a step.
func (w *Work) Begin() { w.began = time.Now() }

// End ends a step, and waits if it is time for a pause. What is waited for between End and Begin is no work.
func (w *Work) End() {
	now := time.Now()
	if w.busy += now.Sub(w.began); w.busy >= slice {
		<-time.After(processors.next(now, w.busy))
		w.busy = 0
	}
}

// Step ends a step, if one began, and begins the next one.
func (w *Work) Step() {
	if !w.began.IsZero() {
		w.End()
	}
	w.Begin()
}

// processors are those of the process that Work uses.
var processors queueOfSlices

// queueOfSlices has the time from which the next slice may begin.
type queueOfSlices struct {
	mu   sync.Mutex
	from time.Time
}

// next takes a slice for work that was busy for so long, and returns how long to wait for it.
func (q *queueOfSlices) next(now time.Time, busy time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.from.Before(now) {
		q.from = now
	}
	wait := max(q.from.Sub(now), pause)
	q.from = q.from.Add((busy + pause) / time.Duration(Processors()))
	return wait
}
