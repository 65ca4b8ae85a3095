package prism_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: probabilities-of-an-answer
func TestNormalizedWeightsAreOneTogetherInTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-15), rapid.SampledFrom([]float64{0, 0.33, 1, 1e-300}))
		given := append(rapid.SliceOfN(weight, 0, prism.MaxOptions-1).Draw(t, "weights"), rapid.Float64Range(0.01, 1).Draw(t, "heavy"))
		ps := append([]float64{}, given...)
		prism.Normalize(ps)
		var sum float64
		for i, p := range ps {
			if sum += p; p < 0 || p > 1 {
				t.Fatalf("%v is no probability", p)
			}
			for j := range ps {
				if given[i] > given[j] && p < ps[j] {
					t.Fatalf("%v became %v, and %v became %v", given[i], p, given[j], ps[j])
				}
			}
		}
		if math.Abs(sum-1) > 1e-15 {
			t.Fatalf("%v sums to %v", ps, sum)
		}
	})
}

// Without a correction these sum to 0.9999999999999989.
//
// spec: probabilities-of-an-answer
func TestRoundingThatAddsUpIsTakenOff(t *testing.T) {
	t.Parallel()
	ps := []float64{
		641, 81, 611, 821, 871, 301, 901, 631, 31, 611, 641, 611, 71.00000000000001, 291, 901, 371, 281, 121, 311, 371, 401, 681, 271, 101,
	}
	for i := range ps {
		ps[i] /= 1000
	}
	prism.Normalize(ps)
	sum := 0.0
	for _, p := range ps {
		sum += p
	}
	if math.Abs(sum-1) > 1e-15 || ps[6] < slices.Max(ps) {
		t.Errorf("%v sums to %v", ps, sum)
	}
}

// spec: confidence
func TestAConfidenceWithinRoundingOfAGuessOrOfCertaintyIsThat(t *testing.T) {
	t.Parallel()
	for n := 2; n <= prism.MaxOptions; n++ {
		ps := make([]float64, n)
		for i := range ps {
			ps[i] = 0.33
		}
		prism.Normalize(ps)
		// Of more options, what makes them sum to 1 may be more than the rounding.
		if got := prism.Confidence(ps[0], n); got != 0 && n <= 26 || got > 1e-14 {
			t.Errorf("%d equal options have the confidence %v", n, got)
		}
		if got := prism.Confidence(math.Nextafter(1, 0), n); got != 1 {
			t.Errorf("a certain one of %d options has the confidence %v", n, got)
		}
	}
}
