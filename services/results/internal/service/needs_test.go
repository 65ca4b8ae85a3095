package service

import (
	"math"
	"runtime"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
)

// Needs are those of the operations that the test of roles has rows for.
var Needs = needs

// PlacesOf are how many operations of each class are worked on at once in a process with a memory limit and so many processors.
var PlacesOf = placesOf

// ClassOf is the class of an operation's place; "" if it has none.
func ClassOf(op contract.Operation) string { return string(needOf(op).class) }

// FillPlaces takes every place of every class for another account.
func (s *Service) FillPlaces() {
	for c, n := range placesOf(math.MaxInt64, runtime.GOMAXPROCS(0)) {
		for range n {
			if !s.places.queues[c].TryTake("another", fair.Preferred) {
				panic("a place is taken")
			}
		}
	}
}
