package calibration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// world is a way to make observations, with a probability of each label that is known.
type world struct {
	name    string
	kind    Kind
	classes int
	power   float64 // the labels follow the probabilities to this power: 1 is calibrated, above 1 is underconfident
	repeats int     // each input is drawn about so many times, and equal inputs have equal labels
}

func (w world) draw(r *rand.Rand, n int) (all []Observation, truth [][]float64) {
	for len(all) < n {
		p := make([]float64, w.classes)
		sum, centre := 0.0, r.Float64()*float64(w.classes-1)
		for c := range p {
			z := 1.2 * r.NormFloat64()
			if w.kind == Scale {
				z = -(float64(c)-centre)*(float64(c)-centre)*0.7 + 0.3*r.NormFloat64()
			}
			p[c] = math.Exp(z)
			sum += p[c]
		}
		q, total := make([]float64, w.classes), 0.0
		for c := range p {
			p[c] /= sum
			q[c] = math.Pow(p[c], w.power)
			total += q[c]
		}
		u, label := r.Float64()*total, 0
		for c := range q {
			if u -= q[c]; u > 0 && c < len(q)-1 {
				label = c + 1
			}
			q[c] /= total
		}
		o := Observation{Probabilities: p, Label: label, Cluster: r.Uint64()}
		if w.kind == YesNo {
			o.Probabilities = p[1:]
		}
		for range 1 + r.IntN(2*w.repeats-1) {
			if len(all) < n {
				all, truth = append(all, o), append(truth, q)
			}
		}
	}
	return all, truth
}

// simulations is how often each world is drawn: few by default, PRISM_SIMULATIONS=1000 for the coverage itself.
func simulations(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("PRISM_SIMULATIONS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 60
}

func figures(q Quality) map[string]*Figure {
	all := map[string]*Figure{
		"accuracy": &q.Accuracy, "log_loss": &q.LogLoss, "brier": &q.Brier, "macro_f1": q.MacroF1, "rps": q.RPS, "mae": q.MAE,
		"kappa": q.Kappa, "ece": q.ECE, "ece_plain": q.ECEPlain,
	}
	for _, c := range q.Classes {
		all[fmt.Sprintf("precision %d", c.Class)] = c.Precision
		all[fmt.Sprintf("recall %d", c.Class)] = &c.Recall
		all[fmt.Sprintf("f1 %d", c.Class)] = &c.F1
	}
	return all
}

// errorsOfBins are the targets of both calibration errors: those of the true rates, in the bins of the sample.
func errorsOfBins(kind Kind, observations []Observation, truth [][]float64) (root, plain float64) {
	n := len(observations)
	p, q := make([]float64, n), make([]float64, n)
	for i, o := range observations {
		class := o.Chosen()
		if kind == YesNo {
			class = 1
		}
		p[i], q[i] = o.of(class), truth[i][class]
	}
	count := min(maxBins, n/labelsOfBin)
	difference, size := make([]float64, count), make([]float64, count)
	for i, b := range quantileBins(p, count) {
		difference[b] += p[i] - q[i]
		size[b]++
	}
	for b, d := range difference {
		root += d * d / size[b]
		plain += math.Abs(d)
	}
	return math.Sqrt(root / float64(n)), plain / float64(n)
}

func TestCoverageOfIntervals(t *testing.T) {
	t.Parallel()
	count := simulations(t)
	for _, w := range []world{
		{"yes_no", YesNo, 2, 1.7, 1},
		{"yes_no calibrated", YesNo, 2, 1, 1},
		{"choice", Choice, 4, 0.6, 1},
		{"scale", Scale, 5, 0.7, 1},
		{"yes_no repeated", YesNo, 2, 1.7, 2},
		{"choice repeated", Choice, 4, 0.6, 2},
		{"scale repeated", Scale, 5, 0.7, 2},
	} {
		for _, n := range []int{100, 200, 500, 1500} {
			t.Run(fmt.Sprint(w.name, " ", n), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(1, uint64(n)))
				large, _ := w.draw(r, 400000)
				sorted, err := canonical(w.kind, large)
				if err != nil {
					t.Fatal(err)
				}
				s := newSample(w.kind, sorted)
				all := estimator{s}.empty()
				for g := range s.sums {
					s.addOne(&all[0], g, 1)
				}
				q := s.quality(resampled{point: s.measure(&all[0])})
				targets := map[string]float64{}
				for name, f := range figures(q) {
					if f != nil {
						targets[name] = f.Value
					}
				}
				covered, below, seen := map[string]int{}, map[string]int{}, map[string]int{}
				for range count {
					observations, truth := w.draw(r, n)
					q, err := Measure(w.kind, observations)
					if err != nil {
						t.Fatal(err)
					}
					targets["ece"], targets["ece_plain"] = errorsOfBins(w.kind, observations, truth)
					for name, f := range figures(q) {
						if f == nil {
							continue
						}
						seen[name]++
						switch target := targets[name]; {
						case target < f.Low-1e-12:
							below[name]++
						case target <= f.High+1e-12:
							covered[name]++
						}
					}
				}
				for name := range seen {
					t.Logf("COV %-20s %4d %-12s %.3f below %.3f above %.3f", w.name, n, name, float64(covered[name])/float64(seen[name]),
						float64(below[name])/float64(seen[name]), float64(seen[name]-covered[name]-below[name])/float64(seen[name]))
				}
			})
		}
	}
}
