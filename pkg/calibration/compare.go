package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
)

// Pair is two answers to one question about one input: those of version a and of version b.
type Pair struct {
	A, B    []float64 // probabilities of the same classes
	Label   int
	Cluster uint64
}

// Verdict says how version b compares with version a.
type Verdict string

// The verdicts.
const (
	Better             Verdict = "better"
	Worse              Verdict = "worse"
	NotDistinguishable Verdict = "not_distinguishable"
)

// Comparison is two versions measured on the same labels.
type Comparison struct {
	Labels int     `json:"labels"`
	A      Quality `json:"a"`
	B      Quality `json:"b"`
	// Differences are b minus a. Below 0 is better for LogLoss, Brier, RPS and MAE, above 0 for the others.
	Differences Differences `json:"differences"`
	McNemar     McNemar     `json:"mcnemar"`
	Verdict     Verdict     `json:"verdict"`
}

// Differences are differences of measures, with paired intervals. Below 0 is better of losses, above 0 of the others.
type Differences struct {
	// Of accuracy.
	Accuracy *Figure `json:"accuracy"`
	// Of log loss.
	LogLoss *Figure `json:"log_loss"`
	// Of the Brier score.
	Brier *Figure `json:"brier"`
	// Of macro-F1.
	MacroF1 *Figure `json:"macro_f1"`
	// Of the ranked probability score.
	RPS *Figure `json:"rps"`
	// Of the mean distance.
	MAE *Figure `json:"mae"`
	// Of kappa.
	Kappa *Figure `json:"kappa"`
	// Of all options of a tags question together, of which all other differences are null. Absent of other types, and of an option.
	Several *MeasuresOfSeveral `json:"tags,omitzero" null:"true"`
}

// McNemar is McNemar's exact test of equal accuracy, two-sided. An answer with several right options is right if it has just those.
type McNemar struct {
	// Answers that only version a had right.
	OnlyA int `json:"only_a" min:"0"`
	// Answers that only version b had right.
	OnlyB int `json:"only_b" min:"0"`
	// How likely counts as different as these are if neither is better.
	P float64 `json:"p" min:"0" max:"1"`
}

// Compare compares version b with version a. It needs 30 pairs, or fails with a TooFewError.
//
// The verdict comes from two tests, each of which errs in at most 2.5% of the cases where versions are equal, so that the
// verdict errs in at most 5% (Bonferroni). The test of accuracy is McNemar's. It also requires that 0 is outside the 97.5%
// interval of the difference, because McNemar's test does not account for repeated inputs. The test of probabilities requires
// that 0 is outside the 97.5% interval of the difference of Brier scores. Brier scores are bounded, so one confident mistake
// cannot decide the test, as it could with log loss. b is better when one test says so and the other does not say the opposite.
func Compare(kind prism.Classes, pairs []Pair) (Comparison, error) {
	sorted := slices.Clone(pairs)
	slices.SortFunc(sorted, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(x.Cluster, y.Cluster), cmp.Compare(x.Label, y.Label), slices.Compare(x.A, y.A),
			slices.Compare(x.B, y.B))
	})
	a, b := make([]Observation, len(sorted)), make([]Observation, len(sorted))
	for i, p := range sorted {
		a[i], b[i] = Observation{p.A, p.Label, p.Cluster}, Observation{p.B, p.Label, p.Cluster}
	}
	for i, side := range [][]Observation{a, b} {
		if err := check(kind, side); err != nil {
			return Comparison{}, fmt.Errorf("version %c: %w", "ab"[i], err)
		}
	}
	if len(a[0].Probabilities) != len(b[0].Probabilities) {
		return Comparison{}, fmt.Errorf("version a has %d classes and b has %d", len(a[0].Probabilities), len(b[0].Probabilities))
	}
	if len(sorted) < MinLabels {
		return Comparison{}, &TooFewError{len(sorted), MinLabels, "labels"}
	}
	byContent := slices.SortedFunc(slices.Values(b), compareObservations) // a is in this order already
	c := Comparison{Labels: len(sorted), A: measure(kind, a), B: measure(kind, byContent)}
	sa, sb := newSample(kind, a), newSample(kind, b)
	r := resample(difference{sa, sb}, mix(seedOf(a))^seedOf(b))
	c.Differences = Differences{
		Accuracy: r.optional(int(right)), LogLoss: r.optional(int(logLoss)), Brier: r.optional(int(brier)),
	}
	if kind == prism.Ordinal {
		c.Differences.RPS, c.Differences.MAE = r.optional(int(rps)), r.optional(int(distance))
		c.Differences.Kappa = r.optional(kappa)
	} else {
		c.Differences.MacroF1 = r.optional(macroF1)
	}
	c.McNemar = newMcNemar(sa.right(), sb.right())
	c.Verdict = verdict(c.McNemar, r.interval(int(right), 1-errorOfTest), r.interval(int(brier), 1-errorOfTest))
	return c, nil
}

const errorOfTest = 0.025

func verdict(m McNemar, accuracy, brier Figure) Verdict {
	better, worse := brier.High < 0, brier.Low > 0
	if m.P < errorOfTest {
		better = better || accuracy.Low > 0
		worse = worse || accuracy.High < 0
	}
	switch {
	case better && !worse:
		return Better
	case worse && !better:
		return Worse
	}
	return NotDistinguishable
}

// right tells of each answer whether it is.
func (s *sample) right() []bool {
	right := make([]bool, len(s.obs))
	for i, o := range s.obs {
		right[i] = s.chosen[i] == o.Label
	}
	return right
}

// newMcNemar tests which answers of two versions are right.
func newMcNemar(a, b []bool) (m McNemar) {
	for i, rightA := range a {
		switch rightB := b[i]; {
		case rightA && !rightB:
			m.OnlyA++
		case rightB && !rightA:
			m.OnlyB++
		}
	}
	m.P = mcNemar(m.OnlyA, m.OnlyB)
	return m
}

// mcNemar is the two-sided probability of counts that differ as much or more when each version is equally likely to be the one
// that is right: that of a binomial distribution with 1/2 (McNemar 1947, Psychometrika 12, in its exact form).
func mcNemar(onlyA, onlyB int) float64 {
	n, least := float64(onlyA+onlyB), min(onlyA, onlyB)
	whole, _ := math.Lgamma(n + 1)
	sum := 0.0
	for i := range least + 1 {
		x, _ := math.Lgamma(float64(i) + 1)
		y, _ := math.Lgamma(n - float64(i) + 1)
		sum += math.Exp(whole - x - y - n*math.Ln2)
	}
	return min(1, 2*sum)
}
