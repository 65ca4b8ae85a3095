package models

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// foregroundHold is how long places stay reserved for foreground calls after the last one came.
const foregroundHold = 5 * time.Second

// places bounds the calls that a model answers at once (spec: model-places). A foreground call is one that somebody waits for.
// Foreground calls come first: they can take every place, and background calls what is left. While foreground calls come,
// background calls leave a quarter of the places free, but can always take one (spec: run-leaves-places). It is safe for
// concurrent use.
type places struct {
	limit int // 0: no bound

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

// tryTake takes a place if one is free and no call that comes first waits for one.
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
	p.serve() // a place may have come free meanwhile
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
		p.serve() // foregroundHold may have passed, so that background calls get more places
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

// running is how many places are taken.
func (p *places) running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// arrive notes that a call came. The mutex is held here and in all methods below.
func (p *places) arrive(background bool) (queue int) {
	if !background {
		p.lastForeground = time.Now()
	}
	return queueOf(background)
}

func (p *places) take(queue int) bool {
	if p.limit > 0 && p.taken >= p.limit {
		return false
	}
	if queue == inBackground {
		if p.limit > 0 && p.background >= p.mostInBackground() {
			return false
		}
		p.background++
	}
	p.taken++
	return true
}

// mostInBackground is how many background calls may have a place now.
func (p *places) mostInBackground() int {
	if time.Since(p.lastForeground) >= foregroundHold {
		return p.limit
	}
	return max(1, p.limit-(p.limit+3)/4)
}

// serve hands free places to the calls that wait.
func (p *places) serve() {
	for queue := range p.waiting {
		for p.waiting[queue].Len() > 0 && p.take(queue) {
			close(p.waiting[queue].Remove(p.waiting[queue].Front()).(chan struct{}))
		}
	}
}
