package calibration

import (
	"cmp"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

const (
	maxBins        = 15
	labelsOfBin    = 25
	coveragePoints = 50
	maxLevels      = 52                   // of ordinal classes: two versions of a scale that share no level have 20
	maxClasses     = 2 * prism.MaxOptions // of two versions of a choice that share no option
)

// Quality is the measures of one question. A measure is nil where its kind does not have it, where there are too few labels
// for it, and where it is undefined.
type Quality struct {
	Counted  int     `json:"counted"` // observations
	Accuracy Figure  `json:"accuracy"`
	LogLoss  Figure  `json:"log_loss"` // in nats
	Brier    Figure  `json:"brier"`
	MacroF1  *Figure `json:"macro_f1"`
	// Classes of a choice or yes_no that have 5 labels or more, in order.
	Classes []Class `json:"classes"`
	// Confusion counts observations by the index of the label, then of the answer.
	Confusion [][]int `json:"confusion"`
	RPS       *Figure `json:"rps"`   // 0 to 1
	MAE       *Figure `json:"mae"`   // in positions of levels
	Kappa     *Figure `json:"kappa"` // quadratically weighted
	// ECE is debiased, and is the error as seen in the bins. ECEPlain is biased upwards; its low and high are those of its own
	// target in the same bins.
	ECE      *Figure         `json:"ece"`
	ECEPlain *Figure         `json:"ece_plain"`
	Bins     []Bin           `json:"bins"`
	Coverage []CoveragePoint `json:"coverage"`
}

// Class is how well one class is told from the others.
type Class struct {
	Class     int     `json:"class"` // index
	N         int     `json:"n"`     // labels
	Precision *Figure `json:"precision"`
	Recall    Figure  `json:"recall"`
	F1        Figure  `json:"f1"`
}

// CoveragePoint is what is kept when answers below a probability are left to people.
type CoveragePoint struct {
	// The least probability that is kept.
	At float64 `json:"at" min:"0" max:"1"`
	// The share of answers that is kept.
	Kept float64 `json:"kept" min:"0" max:"1"`
	// The share of the kept ones that is wrong.
	Risk float64 `json:"risk" min:"0" max:"1"`
}

// Measure computes all measures of a question. It needs 30 observations, or fails with a TooFewError.
func Measure(kind prism.Classes, observations []Observation) (Quality, error) {
	sorted, err := canonical(kind, observations)
	if err != nil {
		return Quality{}, err
	}
	if len(sorted) < MinLabels {
		return Quality{}, &TooFewError{len(sorted), MinLabels, "labels"}
	}
	return measure(kind, sorted), nil
}

// measure computes all measures of observations in canonical order.
func measure(kind prism.Classes, sorted []Observation) Quality {
	s := newSample(kind, sorted)
	return s.quality(resample(s, seedOf(sorted)))
}

func (s *sample) quality(r resampled) Quality {
	q := Quality{
		Counted:  len(s.obs),
		Accuracy: s.start.shareOf(func(int) bool { return true }, func(i int) bool { return s.chosen[i] == s.obs[i].Label }).figure(),
		LogLoss:  r.figure(int(logLoss)),
		Brier:    r.figure(int(brier)),
		Coverage: s.coverage(),
	}
	q.Confusion = make([][]int, s.classes)
	for c := range q.Confusion {
		q.Confusion[c] = make([]int, s.classes)
	}
	for i, o := range s.obs {
		q.Confusion[o.Label][s.chosen[i]]++
	}
	if s.kind == prism.Ordinal {
		q.RPS, q.MAE, q.Kappa = r.optional(int(rps)), r.optional(int(distance)), r.optional(kappa)
	} else {
		q.MacroF1, q.Classes = r.optional(macroF1), s.perClass()
	}
	if n := len(s.obs); n >= MinBins {
		count := min(maxBins, n/labelsOfBin)
		reliability := s.reliability()
		q.Bins = s.bins(reliability, quantileBins(reliability.p, count), count)
		ece, plain := debiasedError(q.Bins), plainFigure(q.Bins)
		q.ECE, q.ECEPlain = &ece, &plain
	}
	return q
}

func (s *sample) perClass() []Class {
	var classes []Class
	for c := range s.classes {
		label := func(i int) bool { return s.obs[i].Label == c }
		answer := func(i int) bool { return s.chosen[i] == c }
		recall := s.start.shareOf(label, answer)
		if recall.n < MinClass {
			continue
		}
		class := Class{Class: c, N: int(recall.n), Recall: recall.figure()}
		if precision := s.start.shareOf(answer, label); precision.n > 0 {
			f := precision.figure()
			class.Precision = &f
		}
		class.F1 = s.start.shareOf(
			func(i int) bool { return label(i) || answer(i) },
			func(i int) bool { return label(i) && answer(i) }).f1()
		classes = append(classes, class)
	}
	return classes
}

// coverage keeps the most confident 1/50, 2/50 … of the answers, and with them all equally confident ones (El-Yaniv and Wiener
// 2010, On the foundations of noise-free selective classification, J. Mach. Learn. Res. 11).
func (s *sample) coverage() []CoveragePoint {
	type answer struct {
		confidence float64
		wrong      bool
	}
	answers := make([]answer, len(s.obs))
	for i, o := range s.obs {
		answers[i] = answer{o.probability(s.chosen[i]), s.chosen[i] != o.Label}
	}
	slices.SortFunc(answers, func(a, b answer) int { return cmp.Compare(b.confidence, a.confidence) })
	var points []CoveragePoint
	n, wrong, next := len(answers), 0, 1
	for i, a := range answers {
		if a.wrong {
			wrong++
		}
		last := i+1 == n || answers[i+1].confidence < a.confidence
		if kept := i + 1; last && kept*coveragePoints >= next*n {
			points = append(points, CoveragePoint{a.confidence, float64(kept) / float64(n), float64(wrong) / float64(kept)})
			next = kept*coveragePoints/n + 1
		}
	}
	return points
}
