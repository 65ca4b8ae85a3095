package models

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// foregroundHold is how long places stay reserved for foreground calls after the last one came.
const foregroundHold = 5 * time.Second

// places are the calls that a model answers at once (spec: model-places). A foreground call is one that somebody waits for.
// Foreground calls come first: they have every place, and calls in the background what is left. While foreground calls come,
// those in the background leave a quarter of the places, but always have one (spec: run-leaves-places). It is safe for
// concurrent use.
type places struct {
	most int // 0: no bound

	mu             sync.Mutex
	taken          int
	background     int       // of those taken
	lastForeground time.Time // when the last foreground call came
	waiting        [2]list.List
}

// The queues of places, in the order in which they are served.
const (
	foreground = iota
	inBackground
)

func queueOf(background bool) int {
	if background {
		return inBackground
	}
	return foreground
}

// tryTake takes a place if there is one that nobody waits for.
func (p *places) tryTake(background bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.arrive(background)
	for q := range p.waiting[:queue+1] {
		if p.waiting[q].Len() > 0 {
			return false
		}
	}
	return p.take(queue)
}

// wait takes a place, and waits for it until ctx ends.
func (p *places) wait(ctx context.Context, background bool) bool {
	if p.tryTake(background) {
		return true
	}
	queue, got := queueOf(background), make(chan struct{})
	p.mu.Lock()
	place := p.waiting[queue].PushBack(got)
	p.serve() // one may have come free meanwhile
	p.mu.Unlock()
	select {
	case <-got:
		return true
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-got:
		return true
	default:
		p.waiting[queue].Remove(place)
		p.serve() // the next one may need less
		return false
	}
}

// give gives a place back.
func (p *places) give(background bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if background {
		p.background--
	}
	p.serve()
}

// arrive notes that a call came. The mutex is held, as for all that follow.
func (p *places) arrive(background bool) (queue int) {
	if !background {
		p.lastForeground = time.Now()
	}
	return queueOf(background)
}

func (p *places) take(queue int) bool {
	if p.most > 0 && p.taken >= p.most {
		return false
	}
	if queue == inBackground {
		if p.most > 0 && p.background >= p.mostInBackground() {
			return false
		}
		p.background++
	}
	p.taken++
	return true
}

// mostInBackground is how many calls in the background may have a place now.
func (p *places) mostInBackground() int {
	if time.Since(p.lastForeground) >= foregroundHold {
		return p.most
	}
	return max(1, p.most-(p.most+3)/4)
}

// serve hands free places to those that wait.
func (p *places) serve() {
	for queue := range p.waiting {
		for p.waiting[queue].Len() > 0 && p.take(queue) {
			close(p.waiting[queue].Remove(p.waiting[queue].Front()).(chan struct{}))
		}
	}
}

// running is how many places are taken.
func (p *places) running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}
