package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// How drift is found, and how many values it takes.
const (
	driftBins    = 10
	driftFloor   = 0.1   // the least limit of a stability index
	driftAlarms  = 0.001 // the share of comparisons without drift that raise an alarm
	MinReference = 500   // values of a reference
	MinDrift     = 100   // values that are compared with a reference
)

// Reference is how values were distributed in a reference period. Its JSON form can be stored. Counts of a later time are made
// with Bin, and counts of several times can be added.
type Reference struct {
	// Edges separate the bins, rising: bin i has the values that are Edges[i-1] or more and less than Edges[i]. A distribution
	// over classes has none.
	Edges  []float64 `json:"edges,omitzero"`
	Counts []int     `json:"counts"` // of each bin, or class
	// Among is how many references an alarm is raised for together, such as those of the options of a question; 0 and 1 for one by itself.
	Among int `json:"among,omitzero"`
}

// NewCountedReference makes a reference of the numbers 0, 1, 2 …, of which each occurs counts[number] times, such as the numbers of
// fine bins of top probabilities. It has 10 bins of about equal size. Equal numbers share a bin, so there may be fewer bins.
func NewCountedReference(counts []int) Reference {
	var r Reference
	n := 0
	for _, c := range counts {
		n += c
	}
	first := slices.IndexFunc(counts, func(c int) bool { return c > 0 })
	bin, below := 0, 0 // below values are in bins before bin
	for b := 1; b < driftBins && n > 0; b++ {
		for below+counts[bin] <= b*n/driftBins {
			below += counts[bin]
			bin++
		}
		if edge := float64(bin); bin > first && !slices.Contains(r.Edges, edge) {
			r.Edges = append(r.Edges, edge)
		}
	}
	r.Counts = make([]int, len(r.Edges)+1)
	for value, c := range counts {
		r.Counts[r.Bin(float64(value))] += c
	}
	return r
}

// NewClassReference makes a reference of how often each class was the answer.
func NewClassReference(counts []int) Reference { return Reference{Counts: slices.Clone(counts)} }

// Validate checks a reference that was read from outside: whether counts can be compared with it.
func (r Reference) Validate() error {
	if len(r.Counts) == 0 || len(r.Edges) > 0 && len(r.Edges) != len(r.Counts)-1 {
		return fmt.Errorf("reference: %d counts with %d edges", len(r.Counts), len(r.Edges))
	}
	for i := 1; i < len(r.Edges); i++ {
		if !(r.Edges[i] > r.Edges[i-1]) {
			return errors.New("reference: edges must rise")
		}
	}
	if slices.Min(r.Counts) < 0 {
		return errors.New("reference: a count is negative")
	}
	return nil
}

// Bin is the bin of a number.
func (r Reference) Bin(value float64) int {
	i, found := slices.BinarySearch(r.Edges, value)
	if found {
		i++
	}
	return i
}

// Drift is how far counts are from a reference.
type Drift struct {
	N int `json:"n"` // values that were compared
	// Index is the population stability index.
	Index float64 `json:"index"`
	// Limit is what Index has to exceed for an alarm.
	Limit float64 `json:"limit"`
	Alarm bool    `json:"alarm"`
	// TooFew tells that the reference has fewer than 500 values or the counts fewer than 100. Then there is no alarm.
	TooFew bool `json:"too_few"`
}

// Drift compares counts by bin with the reference. It fails when there are not as many counts as bins.
//
// The population stability index is Σ(q - p)·ln(q/p) over bins with shares p in the reference and q in the counts. Half a value
// is added to each bin, so that no share is 0. Without drift the index is about (1/n + 1/m)·χ² with one degree of freedom less
// than there are bins, of n and m values (Yurdakul and Naranjo 2020, Statistical properties of the population stability index,
// J. Risk Model Valid. 14). The limit is its 99.9% quantile, and 0.1 at least. Among k references each has 1/k of the 0.1% (Bonferroni): the
// chance that one of them raises an alarm is what it is of one by itself, however they depend on each other.
func (r Reference) Drift(counts []int) (Drift, error) {
	if err := r.Validate(); err != nil {
		return Drift{}, err
	}
	if len(counts) != len(r.Counts) {
		return Drift{}, fmt.Errorf("%d counts for a reference of %d", len(counts), len(r.Counts))
	}
	n, m := 0, 0
	for i, c := range counts {
		if c < 0 {
			return Drift{}, errors.New("a count is negative")
		}
		n += c
		m += r.Counts[i]
	}
	d := Drift{N: n, TooFew: n < MinDrift || m < MinReference, Limit: driftFloor}
	if n == 0 || m == 0 {
		return d, nil
	}
	half := float64(len(counts)) / 2
	for i, c := range counts {
		p, q := (float64(r.Counts[i])+0.5)/(float64(m)+half), (float64(c)+0.5)/(float64(n)+half)
		d.Index += (q - p) * math.Log(q/p)
	}
	if bins := len(counts); bins > 1 {
		d.Limit = max(driftFloor, (1/float64(n)+1/float64(m))*chiSquareQuantile(1-driftAlarms/float64(max(1, r.Among)), bins-1))
	}
	d.Alarm = !d.TooFew && d.Index > d.Limit
	return d, nil
}
