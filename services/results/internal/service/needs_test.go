package service

import (
	"math"
	"runtime"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/results/internal/access"
)

// Needs are those of the operations that the test of roles has rows for.
var Needs = access.Needs

// PlacesOf are how many operations of each class are worked on at once in a process with a memory limit and so many processors.
var PlacesOf = access.PlacesOf

// ClassOf is the class of an operation's place; "" if it has none.
func ClassOf(op contract.Operation) string { return string(access.NeedOf(op).Class) }

// FillPlaces takes every place of every class for another account.
func (s *Service) FillPlaces() {
	for c, n := range access.PlacesOf(math.MaxInt64, runtime.GOMAXPROCS(0)) {
		for range n {
			if !s.Places.Queues[c].TryTake("another", fair.Preferred) {
				panic("a place is taken")
			}
		}
	}
}
