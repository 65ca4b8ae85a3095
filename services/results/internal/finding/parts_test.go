package finding

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: search-where
func TestTheNeedsOfABoundHaveThePartsOfAllNumbersWithinIt(t *testing.T) {
	t.Parallel()
	of := Subject{Question: "urgent"}
	p := prism.PrismID{UUID: prism.UUID{1}}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom(partBounds[:]), rapid.SampledFrom([]float64{0, 1}))
		bound, n := number.Draw(t, "bound"), number.Draw(t, "number")
		operator, holds := From, n >= bound
		if rapid.Bool().Draw(t, "to") {
			operator, holds = To, n <= bound
		}
		needs := Conditions{{Subject: of, Operator: operator, Bound: bound}}.Needs(p)[0]
		if holds && !slices.Contains(needs, term(p.UUID, factKind, numberFact(of, part(n)))) {
			t.Errorf("%v is not found %s %v", n, operator, bound)
		}
	})
}

func TestABoundThatPeopleAskForNeedsNoPartBeyondIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operator Operator
		bound    float64
		parts    int
	}{
		{To, 0.0001, 1}, {To, 0.001, 2}, {To, 0.5, 10}, {From, 0.9, 6}, {From, 0.999, 2}, {From, 0.9999, 1}, {From, 0, 20}, {To, 1, 20},
	} {
		needs := Conditions{{Subject: Subject{Question: "urgent"}, Operator: c.operator, Bound: c.bound}}.Needs(prism.PrismID{})
		if n := len(needs[0]); n != c.parts {
			t.Errorf("%s %v needs %d parts, want %d", c.operator, c.bound, n, c.parts)
		}
	}
}
