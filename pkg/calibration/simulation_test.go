package calibration

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// world is a way to make observations, with a probability of each label that is known.
type world struct {
	name    string
	kind    prism.Classes
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
			if w.kind == prism.Ordinal {
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
		if w.kind == prism.Binary {
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
	return 12
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
func errorsOfBins(kind prism.Classes, observations []Observation, truth [][]float64) (root, plain float64) {
	n := len(observations)
	p, q := make([]float64, n), make([]float64, n)
	for i, o := range observations {
		class := o.Chosen()
		if kind == prism.Binary {
			class = 1
		}
		p[i], q[i] = o.probability(class), truth[i][class]
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

// worlds are those that intervals are tried in.
func worlds() []world {
	return []world{
		{"yes_no", prism.Binary, 2, 1.7, 1},
		{"yes_no calibrated", prism.Binary, 2, 1, 1},
		{"choice", prism.Nominal, 4, 0.6, 1},
		{"scale", prism.Ordinal, 5, 0.7, 1},
		{"yes_no repeated", prism.Binary, 2, 1.7, 2},
		{"choice repeated", prism.Nominal, 4, 0.6, 2},
		{"scale repeated", prism.Ordinal, 5, 0.7, 2},
	}
}

// tally counts how intervals lie to their targets.
type tally map[string]*counts

type counts struct{ n, covered, below, above int }

func (c tally) add(name string, f Figure, target float64) {
	if c[name] == nil {
		c[name] = new(counts)
	}
	t := c[name]
	t.n++
	switch {
	case target < f.Low-1e-12:
		t.below++
	case target > f.High+1e-12:
		t.above++
	default:
		t.covered++
	}
}

// overall are the tallies of all worlds. It is safe for concurrent use.
type overall struct {
	mu  sync.Mutex
	sum tally
}

func (o *overall) add(c tally) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, x := range c {
		if o.sum[name] == nil {
			o.sum[name] = new(counts)
		}
		o.sum[name].n += x.n
		o.sum[name].covered += x.covered
		o.sum[name].below += x.below
		o.sum[name].above += x.above
	}
}

// newOverall expects of each measure, over all worlds, a coverage of 93% to 97% once the parallel subtests of a test are over.
func newOverall(t *testing.T) *overall {
	t.Helper()
	o := &overall{sum: tally{}}
	t.Cleanup(func() {
		for _, name := range slices.Sorted(maps.Keys(o.sum)) {
			covered := float64(o.sum[name].covered) / float64(o.sum[name].n)
			t.Logf("coverage | all | %s | %.3f |", name, covered)
			if o.sum[name].n >= 1000 && (covered < 0.93 || covered > 0.97) {
				t.Errorf("the interval of %s covers %.1f%%", name, 100*covered)
			}
		}
	})
	return o
}

// check expects coverage of 93% to 97%, as far as so many simulations can tell: two standard errors from 1,000 up, and three
// below.
func (c tally) check(t *testing.T, count int) {
	t.Helper()
	tolerance := 3 * math.Sqrt(0.95*0.05/float64(count))
	if count >= 1000 {
		tolerance *= 2.0 / 3
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		x := c[name]
		n := float64(x.n)
		covered := float64(x.covered) / n
		t.Logf("coverage | %s | %s | %.3f | %.3f | %.3f |", t.Name()[strings.Index(t.Name(), "/")+1:], name, covered,
			float64(x.below)/n, float64(x.above)/n)
		if covered < 0.93-tolerance || covered > min(0.97+tolerance, 1) {
			t.Errorf("the interval of %s covers %.1f%%", name, 100*covered)
		}
	}
}

func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	count, all := simulations(t), newOverall(t)
	for _, w := range worlds() {
		for _, n := range []int{200, 500} {
			if count < 1000 && n > 200 {
				continue
			}
			t.Run(fmt.Sprint(w.name, " ", n), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(1, uint64(n)))
				large, _ := w.draw(r, 100000+100*count)
				targets := map[string]float64{}
				for name, f := range figures(withoutIntervals(t, w.kind, large)) {
					if f != nil {
						targets[name] = f.Value
					}
				}
				counts := tally{}
				for range count {
					observations, truth := w.draw(r, n)
					q, err := Measure(w.kind, observations)
					if err != nil {
						t.Fatal(err)
					}
					targets["ece"], targets["ece_plain"] = errorsOfBins(w.kind, observations, truth)
					for name, f := range figures(q) {
						if f != nil {
							measure, _, _ := strings.Cut(name, " ") // classes are counted together
							counts.add(measure, *f, targets[name])
						}
					}
				}
				counts.check(t, count)
				all.add(counts)
			})
		}
	}
}

// withoutIntervals measures many observations, of which no interval is needed.
func withoutIntervals(t *testing.T, kind prism.Classes, observations []Observation) Quality {
	t.Helper()
	sorted, err := canonical(kind, observations)
	if err != nil {
		t.Fatal(err)
	}
	s := newSample(kind, sorted)
	all := s.empty()
	for g := range s.sums {
		all.addOne(g, 1)
	}
	return s.quality(resampled{point: all.measure()})
}

// Two versions that are equally good, and differ by noise: the differences are 0.
func TestIntervalsOfDifferencesCover(t *testing.T) {
	t.Parallel()
	count, all := simulations(t), newOverall(t)
	for _, w := range worlds() {
		if w.name == "yes_no calibrated" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			r, counts, wrong := rand.New(rand.NewPCG(3, uint64(len(w.name)))), tally{}, 0
			for range count {
				observations, _ := w.draw(r, 300+200*min(1, count/1000))
				pairs := make([]Pair, len(observations))
				for i, o := range observations {
					if i > 0 && o.Cluster == observations[i-1].Cluster {
						pairs[i] = pairs[i-1]
						continue
					}
					pairs[i] = Pair{noisy(r, o.Probabilities), noisy(r, o.Probabilities), o.Label, o.Cluster}
				}
				c, err := Compare(w.kind, pairs)
				if err != nil {
					t.Fatal(err)
				}
				d := c.Differences
				for name, f := range map[string]*Figure{
					"accuracy": d.Accuracy, "log_loss": d.LogLoss, "brier": d.Brier, "macro_f1": d.MacroF1, "rps": d.RPS, "mae": d.MAE,
					"kappa": d.Kappa,
				} {
					if f != nil {
						counts.add(name, *f, 0)
					}
				}
				if c.Verdict != NotDistinguishable {
					wrong++
				}
			}
			counts.check(t, count)
			all.add(counts)
			share := float64(wrong) / float64(count)
			t.Logf("coverage | %s | verdicts that err | %.3f |", t.Name(), share)
			if share > 0.05+3*math.Sqrt(0.05*0.95/float64(count)) {
				t.Errorf("%.1f%% of verdicts on equal versions tell them apart", 100*share)
			}
		})
	}
}

// noisy changes probabilities by as much as two versions may differ.
func noisy(r *rand.Rand, p []float64) []float64 {
	if len(p) == 1 {
		return []float64{logistic(logit(p[0]) + 0.8*r.NormFloat64())}
	}
	other, sum := make([]float64, len(p)), 0.0
	for i := range p {
		other[i] = p[i] * math.Exp(0.8*r.NormFloat64())
		sum += other[i]
	}
	for i := range other {
		other[i] /= sum
	}
	return other
}

func TestDriftIsSilentWithoutDrift(t *testing.T) {
	t.Parallel()
	count := 10 * simulations(t)
	classes := func(shares ...float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			u, c := r.Float64()-shares[0], 0
			for u > 0 && c < len(shares)-1 {
				c++
				u -= shares[c]
			}
			return float64(c)
		}
	}
	for _, tt := range []struct {
		name    string
		classes int // 0: numbers
		draw    func(r *rand.Rand) float64
	}{
		{"numbers", 0, (*rand.Rand).Float64},
		{"numbers of 21 values", 0, func(r *rand.Rand) float64 { return math.Round(20*r.Float64()) / 20 }},
		{"mostly 1", 0, func(r *rand.Rand) float64 { return min(1, 3*r.Float64()) }},
		{"always 1", 0, func(*rand.Rand) float64 { return 1 }},
		{"two classes", 2, classes(0.5, 0.5)},
		{"a rare class", 2, classes(0.995, 0.005)},
		{"rare classes", 10, classes(0.6, 0.2, 0.1, 0.05, 0.02, 0.01, 0.01, 0.005, 0.003, 0.002)},
	} {
		for _, n := range []int{MinDrift, 400} {
			t.Run(fmt.Sprint(tt.name, " ", n), func(t *testing.T) {
				t.Parallel()
				r, alarms := rand.New(rand.NewPCG(5, uint64(n))), 0
				for range count {
					var reference Reference
					if tt.classes > 0 {
						counts := make([]int, tt.classes)
						for range MinReference {
							counts[int(tt.draw(r))]++
						}
						reference = NewClassReference(counts)
					} else {
						values := make([]float64, MinReference)
						for i := range values {
							values[i] = tt.draw(r)
						}
						reference = referenceOf(values)
					}
					counts := make([]int, len(reference.Counts))
					for range n {
						if x := tt.draw(r); tt.classes > 0 {
							counts[int(x)]++
						} else {
							counts[reference.Bin(x)]++
						}
					}
					d, err := reference.Drift(counts)
					if err != nil {
						t.Fatal(err)
					}
					if d.TooFew {
						t.Fatal("too few")
					}
					if d.Alarm {
						alarms++
					}
				}
				share := float64(alarms) / float64(count)
				t.Logf("alarms %.4f", share)
				if share > 0.002+2*math.Sqrt(0.002/float64(count)) {
					t.Errorf("%d alarms of %d", alarms, count)
				}
			})
		}
	}
}
