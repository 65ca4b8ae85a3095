package history

import (
	"runtime"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// searchBudget bounds the search for an order of one race. A race is small, so only a bug in the model exceeds the bound.
const (
	searchBudget = 2 * time.Minute
	// shortBudget bounds each attempt to shorten a violation. An attempt that takes longer is dropped.
	shortBudget = 100 * time.Millisecond
)

// Violation is a race that no order explains.
type Violation struct {
	Race Race
	// Undecided tells that the search took too long. That proves nothing, so it counts as a violation.
	Undecided bool
	// Shortest is a shortest part of the race that no order explains.
	Shortest []Call
}

// Check decides every race and returns those that no order explains.
func Check(races []Race) []Violation {
	var (
		mu         sync.Mutex
		violations []Violation
		wg         sync.WaitGroup
	)
	work := make(chan Race)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for race := range work {
				if v, bad := decide(race); bad {
					mu.Lock()
					violations = append(violations, v)
					mu.Unlock()
				}
			}
		})
	}
	for _, race := range races {
		work <- race
	}
	close(work)
	wg.Wait()
	return violations
}

func decide(race Race) (Violation, bool) {
	switch porcupine.CheckOperationsTimeout(model(orderOf(race.Calls)), operations(race.Calls), searchBudget) {
	case porcupine.Ok:
		return Violation{}, false
	case porcupine.Unknown:
		return Violation{Race: race, Undecided: true, Shortest: race.Calls}, true
	case porcupine.Illegal:
	}
	return Violation{Race: race, Shortest: shortest(race.Calls)}, true
}

// explained tells whether some order explains the calls.
func explained(calls []Call) bool {
	return porcupine.CheckOperationsTimeout(model(orderOf(calls)), operations(calls), shortBudget) != porcupine.Illegal
}

// operations are the calls that matter to the check. Calls without an effect, and reads without a response, do not matter.
// A call with an unknown outcome may take effect at any later time.
func operations(calls []Call) []porcupine.Operation {
	var end time.Duration
	for _, c := range calls {
		end = max(end, c.Began, c.Ended)
	}
	var ops []porcupine.Operation
	for i := range calls {
		c := &calls[i]
		if c.Response.Meaning == Nothing || c.Response.Meaning == Unknown && c.Kind == Read {
			continue
		}
		op := porcupine.Operation{
			ClientId: c.Client, Input: c, Output: c.Response, Call: int64(c.Began), Return: int64(c.Ended),
		}
		if c.Response.Meaning == Unknown {
			op.Return = int64(end) + 1
		}
		ops = append(ops, op)
	}
	return ops
}
