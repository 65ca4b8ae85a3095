package calibration

import (
	"cmp"
	"fmt"
	"slices"
)

// SetPair is two answers to which of several options are right, about one input: those of version a and of version b.
type SetPair struct {
	A, B    []float64 // probabilities of the same options
	Labels  []int     // the indices of the options that are right, rising
	Cluster uint64
}

// SetComparison is two versions measured on the same labels of several options.
type SetComparison struct {
	Labels int
	A, B   SetQuality
	// Differences are b minus a, with paired intervals.
	Differences MeasuresOfSeveral
	// McNemar counts answers with all options right.
	McNemar McNemar
	Verdict Verdict
}

// CompareSets compares version b with version a by all options together. It needs 30 pairs, or fails with a TooFewError.
//
// The verdict comes from two tests as that of Compare does: McNemar's of exact match, and whether 0 is outside the 97.5% interval of the
// difference of Hamming losses, which says more of many options, where few answers have all of them right.
func CompareSets(pairs []SetPair) (SetComparison, error) {
	sorted := slices.SortedFunc(slices.Values(pairs), func(x, y SetPair) int {
		return cmp.Or(cmp.Compare(x.Cluster, y.Cluster), slices.Compare(x.Labels, y.Labels), slices.Compare(x.A, y.A), slices.Compare(x.B, y.B))
	})
	a, b := make([]Set, len(sorted)), make([]Set, len(sorted))
	for i, p := range sorted {
		a[i], b[i] = Set{p.A, p.Labels, p.Cluster}, Set{p.B, p.Labels, p.Cluster}
	}
	for i, side := range [][]Set{a, b} {
		if err := checkSets(side); err != nil {
			return SetComparison{}, fmt.Errorf("version %c: %w", "ab"[i], err)
		}
	}
	if len(a[0].Probabilities) != len(b[0].Probabilities) {
		return SetComparison{}, fmt.Errorf("version a has %d options and b has %d", len(a[0].Probabilities), len(b[0].Probabilities))
	}
	if len(sorted) < MinLabels {
		return SetComparison{}, &TooFewError{len(sorted), MinLabels, "labels"}
	}
	byContent := slices.SortedFunc(slices.Values(b), compareSets) // a is in this order already
	c := SetComparison{Labels: len(sorted), A: measureSets(a), B: measureSets(byContent)}
	sa, sb := newSetSample(a), newSetSample(b)
	r := resample(difference{sa, sb}, mix(seedOfSets(a))^seedOfSets(b))
	c.Differences = r.several()
	c.McNemar = newMcNemar(sa.exact, sb.exact)
	c.Verdict = verdict(c.McNemar, r.interval(exactMatch, 1-errorOfTest), r.interval(hamming, 1-errorOfTest))
	return c, nil
}
