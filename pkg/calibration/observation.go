// Package calibration computes what probabilities are worth from labelled observations: measures with 95% intervals,
// calibrations, thresholds by cost, comparisons of two versions, and drift. It is pure: it reads no clock, no file and no
// global source of random numbers. Results depend on the observations only, never on their order.
package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// How many labels the parts need.
const (
	MinLabels      = 30   // for measures and comparisons
	MinBins        = 100  // for reliability
	MinTemperature = 100  // for a temperature
	MinPlatt       = 200  // for Platt's method
	MinPlattClass  = 20   // labels of each class, for Platt's method
	MinIsotonic    = 1000 // for an isotonic regression
	MinClass       = 5    // labels of a class, for precision, recall and F1 of that class
)

// clip is the least probability of log loss: the loss of an answer is at most -ln 1e-15, which is 34.5.
const clip = 1e-15

// Observation is one answer whose right value is known. Observations are read, never changed.
type Observation struct {
	// Probabilities of the classes in order, which sum to 1 within 1e-6. A yes_no has one: the probability of yes.
	Probabilities []float64
	// Label is the index of the right class. Of a yes_no, 0 is no and 1 is yes.
	Label int
	// Cluster is the same for observations of equal inputs, such as a hash of the text. Resampling keeps them together.
	Cluster uint64
}

// Chosen is the index of the answer: the most probable class, the first one on a tie. A yes_no is yes from 0.5 up.
func (o Observation) Chosen() int {
	if len(o.Probabilities) == 1 {
		if o.Probabilities[0] >= 0.5 {
			return 1
		}
		return 0
	}
	best := 0
	for i, p := range o.Probabilities {
		if p > o.Probabilities[best] {
			best = i
		}
	}
	return best
}

// probability is the probability of a class.
func (o Observation) probability(class int) float64 {
	if len(o.Probabilities) > 1 {
		return o.Probabilities[class]
	}
	if class == 1 {
		return o.Probabilities[0]
	}
	return 1 - o.Probabilities[0]
}

// logLoss is -ln of the label's probability, which counts as 1e-15 at least.
func (o Observation) logLoss() float64 { return -math.Log(max(o.probability(o.Label), clip)) }

// TooFewError tells that there are fewer labels than a computation needs.
type TooFewError struct {
	Have, Need int
	Counted    string // "labels", or what else is counted
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("too few %s: %d of %d", e.Counted, e.Have, e.Need)
}

// canonical checks observations and returns a copy in an order that depends on their content only: clusters together, in
// rising order of their number.
func canonical(kind prism.Classes, observations []Observation) ([]Observation, error) {
	if err := check(kind, observations); err != nil {
		return nil, err
	}
	sorted := slices.Clone(observations)
	slices.SortFunc(sorted, compareObservations)
	return sorted, nil
}

func compareObservations(a, b Observation) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Label, b.Label),
		slices.Compare(a.Probabilities, b.Probabilities))
}

func check(kind prism.Classes, observations []Observation) error {
	if len(observations) == 0 {
		return &TooFewError{Need: 1, Counted: "labels"}
	}
	width := len(observations[0].Probabilities)
	switch kind {
	case prism.Binary:
		if width != 1 {
			return fmt.Errorf("observation 0: binary classes have one probability, of yes; got %d", width)
		}
	case prism.Nominal, prism.Ordinal:
		most := maxClasses
		if kind == prism.Ordinal {
			most = maxLevels
		}
		if width < 2 || width > most {
			return fmt.Errorf("observation 0: there are 2 to %d %s classes, each with a probability; got %d", most, kind, width)
		}
	default:
		return fmt.Errorf("unknown classes %q", kind)
	}
	for i, o := range observations {
		if len(o.Probabilities) != width {
			return fmt.Errorf("observation %d: %d probabilities, where the first has %d", i, len(o.Probabilities), width)
		}
		sum := 0.0
		for _, p := range o.Probabilities {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("observation %d: a probability is not between 0 and 1", i)
			}
			sum += p
		}
		if width > 1 && math.Abs(sum-1) > 1e-6 {
			return fmt.Errorf("observation %d: probabilities sum to %v instead of 1", i, sum)
		}
		if o.Label < 0 || o.Label >= max(2, width) {
			return fmt.Errorf("observation %d: label %d of %d classes", i, o.Label, max(2, width))
		}
	}
	return nil
}

// seedOf derives a seed from observations in canonical order.
func seedOf(sorted []Observation) uint64 {
	var h uint64
	for _, o := range sorted {
		h = mix(h ^ o.Cluster)
		h = mix(h ^ math.Float64bits(float64(o.Label)))
		for _, p := range o.Probabilities {
			h = mix(h ^ math.Float64bits(p))
		}
	}
	return h
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014, Fast splittable pseudorandom number generators).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
