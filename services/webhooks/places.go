package webhooks

import (
	"context"
)

// kind is which webhooks a place takes.
type kind uint8

const (
	anyHealth kind = iota // every one
	healthy               // those whose last try succeeded
)

// places are how many webhooks are sent to at once. Half of them, rounded down, take only healthy webhooks.
type places struct{ free [2]chan struct{} }

func newPlaces(n int) *places {
	p := &places{}
	for k, size := range [2]int{anyHealth: n - n/2, healthy: n / 2} {
		p.free[k] = make(chan struct{}, size)
		for range size {
			p.free[k] <- struct{}{}
		}
	}
	return p
}

// take waits for a place, or for the end of ctx. While there are places for every webhook, it is one of these, so that nothing that is due
// is passed over.
func (p *places) take(ctx context.Context) (k kind, ok bool) {
	if ctx.Err() != nil {
		return 0, false
	}
	select {
	case <-p.free[anyHealth]:
		return anyHealth, true
	default:
	}
	select {
	case <-p.free[anyHealth]:
		return anyHealth, true
	case <-p.free[healthy]:
		return healthy, true
	case <-ctx.Done():
		return 0, false
	}
}

func (p *places) give(k kind) { p.free[k] <- struct{}{} }

// size and taken are how many places there are, and how many are taken.
func (p *places) size(k kind) int  { return cap(p.free[k]) }
func (p *places) taken(k kind) int { return cap(p.free[k]) - len(p.free[k]) }
