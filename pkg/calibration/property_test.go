package calibration

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

// hostile draws observations with probabilities of exactly 0 and 1, equal ones, sums that rounding moves off 1, a single
// class, and clusters of any size.
func hostile(t *rapid.T, kind prism.Classes, least, most int) []Observation {
	classes := 2
	if kind != prism.Binary {
		classes = rapid.IntRange(2, 6).Draw(t, "classes")
	}
	n := rapid.IntRange(least, most).Draw(t, "n")
	clusters := rapid.SampledFrom([]uint64{1, 3, uint64(n), math.MaxUint64}).Draw(t, "clusters")
	digits := math.Pow10(rapid.IntRange(0, 17).Draw(t, "digits"))
	labels := rapid.IntRange(1, classes).Draw(t, "labels")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	spread := rapid.SampledFrom([]float64{0, 1, 30, 1000}).Draw(t, "spread")
	observations := make([]Observation, n)
	for i := range observations {
		p, sum := make([]float64, classes), 0.0
		for c := range p {
			p[c] = math.Exp(spread*(r.Float64()-1)) + 1e-300
			sum += p[c]
		}
		rounded := 0.0
		for c := range p {
			p[c] = math.Round(p[c]/sum*digits) / digits
			rounded += p[c]
		}
		if math.Abs(rounded-1) > 1e-7 { // as rounding would be refused, all goes to one class
			clear(p)
			p[r.IntN(classes)] = 1
		}
		if kind == prism.Binary {
			p = p[1:]
		}
		observations[i] = Observation{p, r.IntN(labels), r.Uint64N(clusters)}
	}
	return observations
}

func kinds(t *rapid.T) prism.Classes {
	return rapid.SampledFrom([]prism.Classes{prism.Nominal, prism.Binary, prism.Ordinal}).Draw(t, "kind")
}

func shuffled[T any](t *rapid.T, values []T) []T {
	other := slices.Clone(values)
	rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 2)).Shuffle(len(other), func(i, j int) {
		other[i], other[j] = other[j], other[i]
	})
	return other
}

// sound fails when a number anywhere in v is not finite, or a figure is outside its interval.
func sound(t *rapid.T, v any) {
	b, err := json.Marshal(v) // which refuses NaN and infinities
	if err != nil {
		t.Fatal(err)
	}
	var read any
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if value, ok := v["value"]; ok && (value.(float64) < v["low"].(float64) || value.(float64) > v["high"].(float64)) {
				t.Fatalf("a figure is outside its interval: %v", v)
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(read)
}

func TestMeasuresAreSoundInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := kinds(t)
		observations := hostile(t, kind, MinLabels, 110)
		q, err := Measure(kind, observations)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, q)
		other, err := Measure(kind, shuffled(t, observations))
		if err != nil || !reflect.DeepEqual(q, other) {
			t.Fatalf("in another order: %v, %v, %v", q, other, err)
		}
		for i, p := range q.Coverage {
			if i > 0 && (p.At >= q.Coverage[i-1].At || p.Kept <= q.Coverage[i-1].Kept) {
				t.Fatalf("coverage goes back: %v", q.Coverage)
			}
		}
		if last := q.Coverage[len(q.Coverage)-1]; last.Kept != 1 || math.Abs(1-last.Risk-q.Accuracy.Value) > 1e-12 {
			t.Fatalf("the last point of coverage is %v with an accuracy of %v", last, q.Accuracy)
		}
	})
}

func TestComparisonsAreSoundInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := kinds(t)
		observations := hostile(t, kind, MinLabels, 40)
		pairs, swapped, second := make([]Pair, len(observations)), make([]Pair, len(observations)), slices.Clone(observations)
		for i, o := range observations {
			other := observations[(i*7+1)%len(observations)]
			pairs[i] = Pair{o.Probabilities, other.Probabilities, o.Label, o.Cluster}
			second[i].Probabilities = other.Probabilities
			swapped[i] = Pair{other.Probabilities, o.Probabilities, o.Label, o.Cluster}
		}
		c, err := Compare(kind, pairs)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, c)
		switch rapid.SampledFrom([]string{"shuffled", "alone", "swapped"}).Draw(t, "otherwise") {
		case "shuffled":
			if same, err := Compare(kind, shuffled(t, pairs)); err != nil || !reflect.DeepEqual(c, same) {
				t.Fatalf("in another order: %v, %v, %v", c, same, err)
			}
		case "alone":
			if q, err := Measure(kind, observations); err != nil || !reflect.DeepEqual(c.A, q) {
				t.Fatalf("version a measures %+v, and alone %+v, %v", c.A, q, err)
			}
			if q, err := Measure(kind, second); err != nil || !reflect.DeepEqual(c.B, q) {
				t.Fatalf("version b measures %+v, and alone %+v, %v", c.B, q, err)
			}
		case "swapped":
			opposite, err := Compare(kind, swapped)
			if err != nil || opposite.McNemar.P != c.McNemar.P ||
				math.Abs(opposite.Differences.Brier.Value+c.Differences.Brier.Value) > 1e-12 {
				t.Fatalf("swapped: %v, %v, %v", c, opposite, err)
			}
		}
	})
}

func TestFitsAreSoundInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := kinds(t)
		method := rapid.SampledFrom([]Method{Temperature, Platt, Isotonic, Auto}).Draw(t, "method")
		n := rapid.SampledFrom([]int{1, MinTemperature, MinTemperature, MinPlatt, MinIsotonic}).Draw(t, "least")
		observations := hostile(t, kind, n, n+20)
		c, report, err := Fit(kind, method, observations)
		same, sameReport, sameErr := Fit(kind, method, shuffled(t, observations))
		if !reflect.DeepEqual(c, same) || report != sameReport || (err == nil) != (sameErr == nil) {
			t.Fatalf("in another order: %v, %v", c, same)
		}
		if err != nil {
			return
		}
		sound(t, report)
		if c == nil {
			if method != Auto || report.Gain.Low > 0 {
				t.Fatalf("no calibration: %v", report)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(c)
		var read Calibration
		if err != nil || json.Unmarshal(b, &read) != nil || !reflect.DeepEqual(*c, read) {
			t.Fatalf("%s is read as %v", b, read)
		}
		applies(t, *c, observations)
	})
}

// applies checks what holds of each calibration: probabilities that sum to 1, and an order that is kept.
func applies(t *rapid.T, c Calibration, observations []Observation) {
	var last *Observation
	byYes := slices.SortedFunc(slices.Values(observations), func(a, b Observation) int {
		return slices.Compare(a.Probabilities, b.Probabilities)
	})
	for _, o := range byYes {
		before := slices.Clone(o.Probabilities)
		after := c.Apply(o.Probabilities)
		if !slices.Equal(before, o.Probabilities) {
			t.Fatal("the probabilities were changed in place")
		}
		sum, want := 0.0, 1.0
		if c.Temperature == 1 { // changes nothing, so rounded probabilities keep their sum
			want = 0
			for _, p := range before {
				want += p
			}
		}
		for i, p := range after {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("%v becomes %v", before, after)
			}
			sum += p
			for j, other := range after {
				if before[i] < before[j] && p > other {
					t.Fatalf("%v becomes %v", before, after)
				}
			}
		}
		if len(after) == 1 {
			if last != nil && last.Probabilities[0] > after[0]+1e-15 {
				t.Fatalf("%v is below %v", after, last.Probabilities)
			}
			last = &Observation{Probabilities: after}
		} else if math.Abs(sum-want) > 1e-12 {
			t.Fatalf("%v sums to %v", after, sum)
		}
	}
}

func TestCalibrationsKeepOrderAndSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := kinds(t)
		observations := hostile(t, kind, 1, 40)
		var c Calibration
		switch {
		case kind != prism.Binary:
			c = Calibration{Method: Temperature, Temperature: rapid.Float64Range(leastTemperature, mostTemperature).Draw(t, "T")}
		case rapid.Bool().Draw(t, "platt"):
			c = Calibration{Method: Platt, A: rapid.Float64Range(1e-6, 100).Draw(t, "a"), B: rapid.Float64Range(-50, 50).Draw(t, "b")}
		default:
			x := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 9).Draw(t, "x"))))
			y := slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Float64Range(0, 1), len(x), len(x)).Draw(t, "y")))
			c = Calibration{Method: Isotonic, X: x, Y: y}
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		applies(t, c, observations)
	})
}

func TestATemperatureOf1ChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, o := range hostile(t, prism.Nominal, 1, 20) {
			if after := (Calibration{Method: Temperature, Temperature: 1}).Apply(o.Probabilities); !slices.Equal(after, o.Probabilities) {
				t.Fatalf("%v becomes %v", o.Probabilities, after)
			}
		}
	})
}

func TestEmpiricalThresholdsAreTheCheapest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cost := rapid.SampledFrom([]float64{0, 0.1, 0.5, 1, 3, 10})
		costs := Costs{cost.Draw(t, "false yes"), cost.Draw(t, "false no"), cost.Draw(t, "unsure")}
		observations := hostile(t, prism.Binary, MinLabels, 60)
		got, err := ThresholdsOf(costs, observations)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, got)
		at := []float64{0, 1}
		for _, o := range observations {
			at = append(at, o.Probabilities[0])
		}
		best := math.Inf(1)
		for _, yesAt := range at {
			for _, noAt := range at {
				if noAt <= yesAt {
					best = min(best, costs.evaluate(yesAt, noAt, observations).Total)
				}
			}
		}
		if math.Abs(got.Empirical.Total-best) > 1e-9 {
			t.Fatalf("empirical %v, where %v is possible", got.Empirical, best)
		}
		for _, x := range []Threshold{got.Theory, got.Empirical} {
			if x.NoAt > x.YesAt || x.Yes+x.No+x.Unsure != len(observations) || x.YesAt > 1 || x.NoAt < 0 {
				t.Fatalf("%+v", x)
			}
		}
	})
}

func FuzzAnythingIsMeasuredOrRefused(f *testing.F) {
	f.Add(uint8(0), 3, 0.2, 0.3, 0.5)
	f.Add(uint8(1), 0, 0.0, 0.0, 1.0)
	f.Add(uint8(2), -1, math.NaN(), math.Inf(1), -0.1)
	f.Fuzz(func(t *testing.T, kind uint8, label int, a, b, c float64) {
		k := []prism.Classes{prism.Nominal, prism.Binary, prism.Ordinal, "other"}[kind%4]
		observations := make([]Observation, 120)
		for i := range observations {
			p := [][]float64{{a, b, c}, {b, c, a}, {a, c, b}}[i%3]
			if k == prism.Binary {
				p = p[:1]
			}
			observations[i] = Observation{p, label, uint64(i) % 50}
		}
		q, err := Measure(k, observations)
		if err != nil {
			return
		}
		if _, err := json.Marshal(q); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Fit(k, Auto, observations); err != nil && !errors.Is(err, ErrNotFitted) && !errors.As(err, new(*TooFewError)) {
			t.Fatal(err)
		}
	})
}

func TestAReferenceOfCountsIsThatOfTheirValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 30)), 0, 40).Draw(t, "counts")
		var values []float64
		for value, n := range counts {
			values = append(values, slices.Repeat([]float64{float64(value)}, n)...)
		}
		if got, want := NewCountedReference(counts), referenceOf(values); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// referenceOf is the reference of values that were not counted.
func referenceOf(values []float64) (r Reference) {
	sorted := slices.Sorted(slices.Values(values))
	for b := 1; b < driftBins && len(sorted) > 0; b++ {
		edge := sorted[b*len(sorted)/driftBins]
		if edge > sorted[0] && !slices.Contains(r.Edges, edge) {
			r.Edges = append(r.Edges, edge)
		}
	}
	r.Counts = make([]int, len(r.Edges)+1)
	for _, v := range sorted {
		r.Counts[r.Bin(v)]++
	}
	return r
}
