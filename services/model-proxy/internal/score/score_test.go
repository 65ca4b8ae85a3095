package score

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

func choice(n int) prism.Question {
	q := prism.Question{Key: "q", Type: prism.Choice}
	for i := range n {
		q.Options = append(q.Options, prism.Option{Key: fmt.Sprintf("o%d", i)})
	}
	return q
}

func scale(n int) prism.Question {
	q := prism.Question{Key: "q", Type: prism.Scale}
	for i := range n {
		q.Levels = append(q.Levels, prism.Level{Key: fmt.Sprintf("o%d", i), Value: new(float64(i + 1))})
	}
	return q
}

func question(t *rapid.T) prism.Question {
	if rapid.Bool().Draw(t, "scale") {
		return scale(rapid.IntRange(2, 10).Draw(t, "levels"))
	}
	return choice(rapid.IntRange(2, 26).Draw(t, "options"))
}

// distribution draws probabilities that sum to sum.
func distribution(t *rapid.T, n int, sum float64) []float64 {
	ps := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "weights")
	ps[rapid.IntRange(0, n-1).Draw(t, "heavy")] += 0.01
	var total float64
	for _, p := range ps {
		total += p
	}
	for i := range ps {
		ps[i] *= sum / total
	}
	return ps
}

func TestAnythingThatSumsToNearlyOneBecomesAnAnswerThatKeepsTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := question(t)
		keys := q.AnswerKeys()
		off := tolerance(len(keys)) - 1e-4
		ps := distribution(t, len(keys), 1+rapid.Float64Range(-off, off).Draw(t, "off"))
		if slices.Max(ps) > 1 {
			t.Skip("more than a probability")
		}
		byKey := map[string]float64{"nobody defined it": 0}
		for i, k := range keys {
			byKey[k] = ps[i]
		}
		a := Options(q, byKey)
		if a == nil {
			t.Fatalf("%v is unusable", ps)
		}
		var sum float64
		best := 0
		for i, p := range a.Probabilities {
			if p.Key != keys[i] || p.Probability < 0 || p.Probability > 1 {
				t.Fatalf("probability %d is %+v", i, p)
			}
			sum += p.Probability
			if p.Probability > a.Probabilities[best].Probability {
				best = i
			}
		}
		if math.Abs(sum-1) > 1e-15 {
			t.Fatalf("sums to %v", sum)
		}
		if a.Chosen != keys[best] || a.Question != q.Key || a.Type != q.Type {
			t.Fatalf("got %+v, the first most probable is %s", a, keys[best])
		}
		n := float64(len(keys))
		want := (a.Probabilities[best].Probability - 1/n) / (1 - 1/n)
		if q.Type == prism.Scale {
			want = 0
		}
		if math.Abs(a.Confidence-want) > 1e-9 || a.Confidence < 0 || a.Confidence > 1 {
			t.Fatalf("confidence %v, want %v", a.Confidence, want)
		}
	})
}

func TestASumFurtherFromOneThanRoundingIsUnusable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := question(t)
		off := tolerance(len(q.AnswerKeys())) + 1e-4
		sum := rapid.OneOf(rapid.Float64Range(0, 1-off), rapid.Float64Range(1+off, 100)).Draw(t, "sum")
		if a := Ordered(q, distribution(t, len(q.AnswerKeys()), sum)); a != nil {
			t.Fatalf("got %+v", a)
		}
	})
}

// spec: probability-checks
func TestTheBoundsOfASumAreInclusive(t *testing.T) {
	t.Parallel()
	even := func(n int, sum float64) []float64 {
		ps := make([]float64, n)
		for i := range ps {
			ps[i] = sum / float64(n)
		}
		return ps
	}
	for _, ps := range [][]float64{
		{0.95, 0},
		{0.5, 0.45},
		{1, 0.05},
		{0.7, 0.35},
		{0.15, 0.8},
		even(10, 0.95), even(11, 0.945), even(20, 0.9), even(20, 1.1), even(26, 0.87),
		append([]float64{0.92}, even(19, 0)...),
		{1 + 1e-6, -1e-6},
	} {
		if Ordered(choice(len(ps)), slices.Clone(ps)) == nil {
			t.Errorf("%v is unusable", ps)
		}
	}
	for _, ps := range [][]float64{
		{0.949999, 0}, {1, 0.050001}, even(10, 0.9499), even(20, 0.8999), even(20, 1.1001), even(26, 0.8699), even(2, 0), even(26, 0),
	} {
		if Ordered(choice(len(ps)), ps) != nil {
			t.Errorf("%v is usable", ps)
		}
	}
}

// spec: probability-checks
func TestNumbersThatAreNoProbabilitiesAreUnusable(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.01, -1.1e-6, 1 + 1.1e-6} {
		if a := Ordered(choice(3), []float64{0, 0, bad}); a != nil {
			t.Errorf("%v: got %+v", bad, a)
		}
		if a := Yes(prism.Question{}, bad); a != nil {
			t.Errorf("%v: got %+v", bad, a)
		}
	}
	for near, want := range map[float64]float64{-1e-6: 0, -1e-300: 0, math.Nextafter(1, 2): 1, 1 + 1e-6: 1} {
		if a := Yes(prism.Question{}, near); a == nil || a.Probability != want {
			t.Errorf("%v: got %+v", near, a)
		}
	}
	if Ordered(choice(2), []float64{1}) != nil {
		t.Error("a missing probability is usable")
	}
	if Ordered(prism.Question{Type: prism.Choice}, nil) != nil {
		t.Error("no options are usable")
	}
}

func TestYesIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0, 0.25, 1} {
		if a := Yes(prism.Question{Key: "q", Type: prism.YesNo}, p); a == nil || a.Probability != p {
			t.Errorf("%v: got %+v", p, a)
		}
	}
	if a := Yes(prism.Question{}, math.Copysign(0, -1)); math.Signbit(a.Probability) {
		t.Error("a negative zero stayed one")
	}
}

// spec: chosen-key
func TestATieGoesToTheFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 26).Draw(t, "n")
		ps := make([]float64, n)
		for i := range ps {
			ps[i] = 1 / float64(n)
		}
		a := Ordered(choice(n), ps)
		if a == nil || a.Chosen != "o0" || a.Confidence != 0 {
			t.Fatalf("got %+v", a)
		}
	})
}

// spec: confidence
func TestConfidenceIsFromAGuessToCertainty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    float64
		n    int
		want float64
	}{{1, 2, 1}, {0.5, 2, 0}, {0.75, 2, 0.5}, {1, 26, 1}, {0.25, 4, 0}, {0.4, 4, 0.2}, {0.1, 2, 0}, {1, 1, 1}, {1.1, 2, 1}} {
		if got := prism.Confidence(c.p, c.n); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Confidence(%v, %d) = %v, want %v", c.p, c.n, got, c.want)
		}
	}
}

// spec: label-orders, order-disagreement
func TestOrdersArePooledByTheGeometricMean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		orders [][]float64
		want   []float64
		apart  float64
	}{
		"one order":            {[][]float64{{0.7, 0.2, 0.1}}, []float64{0.7, 0.2, 0.1}, 0},
		"the same":             {[][]float64{{0.7, 0.2, 0.1}, {0.7, 0.2, 0.1}}, []float64{0.7, 0.2, 0.1}, 0},
		"opposites":            {[][]float64{{0.8, 0.2}, {0.2, 0.8}}, []float64{0.5, 0.5}, 0.3},
		"√(.5·.8) to √(.5·.2)": {[][]float64{{0.5, 0.5}, {0.8, 0.2}}, []float64{2.0 / 3, 1.0 / 3}, (1.0/6 + 2.0/15) / 2},
		// √(1e-6·0.5) to √(1·0.5): 0.000999 and 0.999001
		"none is impossible": {[][]float64{{0, 1}, {0.5, 0.5}}, []float64{0.001 / 1.001, 1 / 1.001}, 0.25},
	} {
		q := choice(len(c.want))
		var answers []*prism.Answer
		for _, ps := range c.orders {
			answers = append(answers, Ordered(q, ps))
		}
		got, apart := Pool(answers)
		for i, p := range got.Probabilities {
			if p.Key != q.Options[i].Key || math.Abs(p.Probability-c.want[i]) > 1e-9 {
				t.Errorf("%s: got %+v, want %v", name, got.Probabilities, c.want)
				break
			}
		}
		if math.Abs(apart-c.apart) > 1e-9 {
			t.Errorf("%s: they are %v apart, want %v", name, apart, c.apart)
		}
		if len(c.want) == 2 {
			var yes []*prism.Answer
			for _, ps := range c.orders {
				yes = append(yes, Yes(prism.Question{Key: "q", Type: prism.YesNo}, ps[0]))
			}
			if a, d := Pool(yes); a.Question != "q" || math.Abs(a.Probability-c.want[0]) > 1e-9 || math.Abs(d-c.apart) > 1e-9 {
				t.Errorf("%s: yes is %+v, %v apart", name, a, d)
			}
		}
	}
}

// A preference of a model for labels is a factor of each label's probability, whatever the label stands for. Over all cyclic orders
// it cancels out.
// spec: label-orders
func TestAPreferenceForLabelsCancelsOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "n")
		draw := rapid.SliceOfN(rapid.Float64Range(0.05, 1), n, n)
		truth, preference, q := draw.Draw(t, "truth"), draw.Draw(t, "preference"), choice(n)
		normal := func(ps []float64) []float64 {
			var sum float64
			for _, p := range ps {
				sum += p
			}
			for i := range ps {
				ps[i] /= sum
			}
			return ps
		}
		var orders []*prism.Answer
		for shift := range n {
			ps := make([]float64, n)
			for i := range ps {
				ps[i] = truth[i] * preference[(i+n-shift)%n]
			}
			orders = append(orders, Ordered(q, normal(ps)))
		}
		got, apart := Pool(orders)
		for i, want := range normal(truth) {
			if math.Abs(got.Probabilities[i].Probability-want) > 1e-9 {
				t.Fatalf("got %+v, want %v", got.Probabilities, truth)
			}
		}
		if apart < 0 || apart > 1 {
			t.Fatalf("%v apart", apart)
		}
		slices.Reverse(orders[1:]) // the first has the order of the definition
		if again, d := Pool(orders); math.Abs(d-apart) > 1e-12 || math.Abs(again.Probabilities[0].Probability-got.Probabilities[0].Probability) > 1e-12 {
			t.Fatalf("in another order %+v, %v apart", again, d)
		}
	})
}
