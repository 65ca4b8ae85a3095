package calibration

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Set is one answer to which of several options are right, each by itself, whose right options are known. Sets are read, never changed.
type Set struct {
	// Probabilities of the options in order. An option is answered from 0.5 up.
	Probabilities []float64
	// Labels are the indices of the options that are right, rising.
	Labels []int
	// Cluster is the same for sets of equal inputs, as in Observation.
	Cluster uint64
}

// SetQuality is the measures of sets.
type SetQuality struct {
	Counted int // sets
	MeasuresOfSeveral
}

// MeasuresOfSeveral are estimates of answers with any number of right options, or differences between those of two versions.
type MeasuresOfSeveral struct {
	// The share of answers with all options right. That of one version has Wilson's interval.
	ExactMatch Figure `json:"exact_match"`
	// The share of options, of all answers, that are wrong.
	HammingLoss Figure `json:"hamming_loss"`
	// Of all options of all answers together.
	Micro Retrieval `json:"micro"`
	// The mean over the options that are a label or an answer at least once.
	Macro Retrieval `json:"macro"`
}

// Retrieval is how much of what is answered is right, and how much of what is right is answered. A figure is nil where neither labels nor
// answers have an option. As in scikit-learn a precision of no answer is 0, and a recall of no label.
type Retrieval struct {
	// Of the options that are answered, the share that is right.
	Precision *Figure `json:"precision"`
	// Of the options that are right, the share that is answered.
	Recall *Figure `json:"recall"`
	// The harmonic mean of both. Of the macro-average the mean of F1 over options.
	F1 *Figure `json:"f1"`
}

// A vector of measures of sets is indexed by these.
const (
	hamming = iota
	microPrecision
	microRecall
	microF1
	macroPrecision
	macroRecall
	macroF1OfSets
	exactMatch
)

// What an option is in a set in which it is a label or an answer; elsewhere it is right to leave it out.
const (
	bothKind = iota // a label and an answer
	answerKind
	labelKind
	setKinds
)

// setSample is sets prepared for resampling.
type setSample struct {
	options int
	exact   []bool        // of the sets in canonical order, whether all options are right
	start   clusterStarts // in exact
	first   []int         // of each cluster in cells, and the end of the last one
	sums    []setTotals   // of each cluster
	cells   []int32       // option*setKinds + kind, of the sets in canonical order
}

// setTotals are how many sets there are, and how many of them are right as a whole.
type setTotals struct{ n, right float64 }

func newSetSample(sorted []Set) *setSample {
	s := &setSample{options: len(sorted[0].Probabilities), start: startsOf(sorted, func(set Set) uint64 { return set.Cluster })}
	for i, set := range sorted {
		if i == s.start[len(s.sums)] {
			s.first, s.sums = append(s.first, len(s.cells)), append(s.sums, setTotals{})
		}
		exact := true
		for option := range set.Probabilities {
			if kind := set.kind(option); kind < setKinds {
				s.cells = append(s.cells, int32(option*setKinds+kind)) //nolint:gosec // there are few options
				exact = exact && kind == bothKind
			}
		}
		s.exact = append(s.exact, exact)
		sum := &s.sums[len(s.sums)-1]
		if sum.n++; exact {
			sum.right++
		}
	}
	s.first = append(s.first, len(s.cells))
	return s
}

// kind is what an option is, or setKinds if it is neither a label nor an answer.
func (s Set) kind(option int) int {
	_, label := slices.BinarySearch(s.Labels, option)
	switch answer := s.Probabilities[option] >= 0.5; {
	case label && answer:
		return bothKind
	case answer:
		return answerKind
	case label:
		return labelKind
	}
	return setKinds
}

func (s *setSample) clusters() int { return len(s.sums) }

func (s *setSample) empty() sums {
	return &setSums{setSample: s, counts: make([]float64, s.options*setKinds)}
}

// setSums are how often each option was what.
type setSums struct {
	*setSample
	setTotals
	counts []float64
}

func (t *setSums) clear() {
	t.setTotals = setTotals{}
	clear(t.counts)
}

func (t *setSums) add(weights []uint32) {
	for g, w := range weights {
		if w > 0 {
			t.addOne(g, float64(w))
		}
	}
}

func (t *setSums) addOne(g int, f float64) {
	t.n += f * t.sums[g].n
	t.right += f * t.sums[g].right
	for _, cell := range t.cells[t.first[g]:t.first[g+1]] {
		t.counts[cell] += f
	}
}

// measure computes the measures of the sums. Those of no label and no answer are not a number.
func (t *setSums) measure() vector {
	var v vector
	var all [setKinds]float64
	some := 0.0 // options that are a label or an answer
	for option := range t.options {
		c := t.counts[option*setKinds:][:setKinds]
		if c[bothKind]+c[answerKind]+c[labelKind] == 0 {
			continue
		}
		some++
		for kind, n := range c {
			all[kind] += n
		}
		precision, recall, f1 := retrieval(c)
		v[macroPrecision], v[macroRecall], v[macroF1OfSets] = v[macroPrecision]+precision, v[macroRecall]+recall, v[macroF1OfSets]+f1
	}
	for m := macroPrecision; m <= macroF1OfSets; m++ {
		v[m] /= some
	}
	v[hamming] = (all[answerKind] + all[labelKind]) / (t.n * float64(t.options))
	v[exactMatch] = t.right / t.n
	v[microPrecision], v[microRecall], v[microF1] = retrieval(all[:])
	return v
}

// retrieval is precision, recall and F1 of how often options are what; not a number without any.
func retrieval(c []float64) (precision, recall, f1 float64) {
	both, answers, labels := c[bothKind], c[bothKind]+c[answerKind], c[bothKind]+c[labelKind]
	if answers+labels == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	if answers > 0 {
		precision = both / answers
	}
	if labels > 0 {
		recall = both / labels
	}
	return precision, recall, 2 * both / (answers + labels)
}

// MeasureSets computes the measures of sets. It needs 30 of them, or fails with a TooFewError.
func MeasureSets(sets []Set) (q SetQuality, err error) {
	if err := checkSets(sets); err != nil {
		return q, err
	}
	if len(sets) < MinLabels {
		return q, &TooFewError{len(sets), MinLabels, "labels"}
	}
	return measureSets(slices.SortedFunc(slices.Values(sets), compareSets)), nil
}

func compareSets(a, b Set) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), slices.Compare(a.Labels, b.Labels), slices.Compare(a.Probabilities, b.Probabilities))
}

// measureSets computes all measures of sets in canonical order.
func measureSets(sorted []Set) SetQuality {
	s := newSetSample(sorted)
	measures := resample(s, seedOfSets(sorted)).several()
	// A share of answers has the interval of an accuracy: an answer is right or wrong as a whole.
	measures.ExactMatch = s.start.shareOf(func(int) bool { return true }, func(i int) bool { return s.exact[i] }).figure()
	return SetQuality{len(sorted), measures}
}

// several are the figures of measures of sets.
func (r resampled) several() MeasuresOfSeveral {
	return MeasuresOfSeveral{
		ExactMatch: r.figure(exactMatch), HammingLoss: r.figure(hamming),
		Micro: Retrieval{r.optional(microPrecision), r.optional(microRecall), r.optional(microF1)},
		Macro: Retrieval{r.optional(macroPrecision), r.optional(macroRecall), r.optional(macroF1OfSets)},
	}
}

func checkSets(sets []Set) error {
	if len(sets) == 0 {
		return &TooFewError{Need: 1, Counted: "labels"}
	}
	options := len(sets[0].Probabilities)
	if options == 0 {
		return errors.New("set 0: no options")
	}
	for i, s := range sets {
		if len(s.Probabilities) != options {
			return fmt.Errorf("set %d: %d probabilities, where the first has %d", i, len(s.Probabilities), options)
		}
		for _, p := range s.Probabilities {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("set %d: a probability is not between 0 and 1", i)
			}
		}
		before := -1
		for _, option := range s.Labels {
			if option <= before || option >= options {
				return fmt.Errorf("set %d: labels must rise and be below %d", i, options)
			}
			before = option
		}
	}
	return nil
}

// seedOfSets derives a seed from sets in canonical order.
func seedOfSets(sorted []Set) uint64 {
	var h uint64
	for _, s := range sorted {
		h = mix(h ^ s.Cluster)
		for _, option := range s.Labels {
			h = mix(h ^ uint64(option)) //nolint:gosec // an index
		}
		for _, p := range s.Probabilities {
			h = mix(h ^ math.Float64bits(p))
		}
	}
	return h
}
