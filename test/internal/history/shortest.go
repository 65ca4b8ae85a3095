package history

import (
	"cmp"
	"slices"
)

// shortest removes from an unexplained history what the violation does not need. It drops calls that changed nothing, and
// turns calls that may have changed something into calls with an unknown outcome. Both only weaken the history, so the rest
// is a violation too.
func shortest(calls []Call) []Call {
	calls = prefix(calls)
	for i := 0; i < len(calls); {
		without := weaken(calls, i)
		if without == nil || explained(without) {
			i++
			continue
		}
		if len(without) == len(calls) {
			i++ // it stays, as one that may have happened
		}
		calls = without
	}
	return calls
}

// prefix is the history up to the first moment at which no order explains it. Calls without a response by then have an
// unknown outcome.
func prefix(calls []Call) []Call {
	calls = slices.Clone(calls)
	slices.SortFunc(calls, func(a, b Call) int { return cmp.Compare(a.Began, b.Began) })
	ends := make([]Call, len(calls))
	copy(ends, calls)
	slices.SortFunc(ends, func(a, b Call) int { return cmp.Compare(a.Ended, b.Ended) })
	for _, last := range ends {
		var seen []Call
		for _, c := range calls {
			if c.Began > last.Ended {
				break
			}
			if c.Ended > last.Ended {
				if !c.mayChange() {
					continue
				}
				c.Response = Response{Meaning: Unknown}
			}
			seen = append(seen, c)
		}
		if !explained(seen) {
			return seen
		}
	}
	return calls
}

func (c *Call) mayChange() bool { return c.Kind != Read && c.Response.Meaning != Nothing }

// weaken returns the history in which the i-th call is dropped or has an unknown outcome, or nil if that is so already.
func weaken(calls []Call, i int) []Call {
	if c := calls[i]; !c.changes() {
		return slices.Delete(slices.Clone(calls), i, i+1)
	} else if c.Response.Meaning == Unknown {
		return nil
	}
	less := slices.Clone(calls)
	less[i].Response = Response{Meaning: Unknown}
	return less
}
