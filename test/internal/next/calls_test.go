package next_test

import (
	"maps"
	"testing"

	"github.com/prism-results/prism/test/internal/next"
)

func TestEveryKindOfWrongResponseIsFound(t *testing.T) {
	t.Parallel()
	right := func() next.Calls {
		return next.Calls{
			Known: map[int]int{200: 9}, Member: map[int]int{200: 5, 503: 4}, Operation: map[int]int{200: 2, 404: 3, 503: 4}, Noted: 2,
		}
	}
	for name, change := range map[string]func(*next.Calls){
		"a known call is refused":              func(c *next.Calls) { c.Known[503] = 1 },
		"a known call has no response":         func(c *next.Calls) { c.Known[0] = 1 },
		"the member leads to an error":         func(c *next.Calls) { c.Member[500] = 1 },
		"the member is a wrong request":        func(c *next.Calls) { c.Member[400] = 1 },
		"the operation has no response":        func(c *next.Calls) { c.Operation[0] = 1 },
		"the next release was not called":      func(c *next.Calls) { c.Noted = 0 },
		"this release was not called":          func(c *next.Calls) { delete(c.Operation, 404) },
		"the added operation was not answered": func(c *next.Calls) { delete(c.Operation, 200) },
		"there was no call":                    func(c *next.Calls) { *c = next.Calls{} },
	} {
		calls := right()
		calls.Known, calls.Member, calls.Operation = maps.Clone(calls.Known), maps.Clone(calls.Member), maps.Clone(calls.Operation)
		if change(&calls); calls.Right() == nil {
			t.Errorf("%s: %+v is right", name, calls)
		}
	}
	calls := right()
	if err := calls.Right(); err != nil {
		t.Error(err)
	}
}
