package calibration

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// scikit-learn measures both versions, and statsmodels has McNemar's test of exact match.
//
// spec: compare-several
func TestSetsAreComparedAsScikitLearnMeasuresThem(t *testing.T) {
	t.Parallel()
	for _, c := range readGoldens(t).Several {
		pairs := make([]SetPair, len(c.Labels))
		for i, row := range c.Labels {
			pairs[i] = SetPair{A: c.Probabilities[i], B: c.Other.Probabilities[i], Labels: rightOptions(row), Cluster: uint64(i)}
		}
		got, err := CompareSets(pairs)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "exact match of a", got.A.ExactMatch.Value, c.ExactMatch, 1e-9)
		near(t, "exact match of b", got.B.ExactMatch.Value, c.Other.ExactMatch, 1e-9)
		near(t, "Hamming loss of b", got.B.HammingLoss.Value, c.Other.HammingLoss, 1e-9)
		d := got.Differences
		near(t, "difference of exact match", d.ExactMatch.Value, c.Other.ExactMatch-c.ExactMatch, 1e-9)
		near(t, "difference of Hamming loss", d.HammingLoss.Value, c.Other.HammingLoss-c.HammingLoss, 1e-9)
		for _, each := range []struct {
			name string
			got  Retrieval
			a, b map[string]float64
		}{{"micro", d.Micro, c.Micro, c.Other.Micro}, {"macro", d.Macro, c.Macro, c.Other.Macro}} {
			for name, f := range map[string]*Figure{"precision": each.got.Precision, "recall": each.got.Recall, "f1": each.got.F1} {
				near(t, "difference of "+each.name+" "+name, f.Value, each.b[name]-each.a[name], 1e-9)
				if !(f.Low <= f.Value && f.Value <= f.High) {
					t.Errorf("%s %s is %+v", each.name, name, *f)
				}
			}
		}
		if only := [2]int{got.McNemar.OnlyA, got.McNemar.OnlyB}; only != c.Other.Only {
			t.Errorf("only one is right in %v, want %v", only, c.Other.Only)
		}
		near(t, "McNemar", got.McNemar.P, c.Other.McNemar, 1e-9)
		if got.Labels != len(pairs) || got.A.Counted != len(pairs) {
			t.Errorf("%d labels, %d counted", got.Labels, got.A.Counted)
		}
	}
}

// spec: compare-several
func TestAVersionIsWorseByExactMatchOrByHammingLoss(t *testing.T) {
	t.Parallel()
	sure, wrong := []float64{0.9, 0.1, 0.1, 0.1}, []float64{0.1, 0.9, 0.9, 0.1}
	near := []float64{0.9, 0.9, 0.1, 0.1} // one option is wrong
	compare := func(a, b func(i int) []float64) Verdict {
		pairs := make([]SetPair, 60)
		for i := range pairs {
			pairs[i] = SetPair{A: a(i), B: b(i), Labels: []int{0}, Cluster: uint64(i)}
		}
		c, err := CompareSets(pairs)
		if err != nil {
			t.Fatal(err)
		}
		return c.Verdict
	}
	often := func(usual, other []float64, every int) func(i int) []float64 {
		return func(i int) []float64 {
			if i%every == 0 {
				return other
			}
			return usual
		}
	}
	for _, c := range []struct {
		name string
		a, b func(i int) []float64
		want Verdict
	}{
		{"exact match falls", often(sure, near, 60), often(sure, near, 3), Worse},
		{"exact match rises", often(sure, near, 3), often(sure, near, 60), Better},
		{"more options of wrong answers are wrong", often(near, near, 2), often(near, wrong, 2), Worse},
		{"the same", often(sure, near, 4), often(sure, near, 4), NotDistinguishable},
	} {
		if got := compare(c.a, c.b); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// spec: compare-several
func TestSetsThatCannotBeComparedAreRefused(t *testing.T) {
	t.Parallel()
	good := SetPair{A: []float64{0.5, 0.5}, B: []float64{0.5, 0.5}, Labels: []int{1}}
	for name, bad := range map[string]SetPair{
		"other options in b": {A: []float64{0.5, 0.5}, B: []float64{0.5}}, "no number": {A: []float64{0.5, math.NaN()}, B: good.B},
		"a label of no option": {A: good.A, B: good.B, Labels: []int{2}},
	} {
		if _, err := CompareSets(append(slices.Repeat([]SetPair{good}, 30), bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := CompareSets(slices.Repeat([]SetPair{{A: []float64{0.5, 0.5}, B: []float64{0.5}}}, 30)); err == nil {
		t.Error("other options: no error")
	}
	few, ok := errors.AsType[*TooFewError](func() error { _, err := CompareSets(slices.Repeat([]SetPair{good}, 29)); return err }())
	if !ok || few.Have != 29 || few.Need != 30 {
		t.Errorf("29 pairs: %+v", few)
	}
}

// Two versions of 8 options that are equally good, and differ by noise: the differences are 0, in any order of the pairs.
//
// spec: compare-verdict
func TestEqualVersionsOfSeveralAreRarelyCalledDifferent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 3))
	count := max(60, simulations(t))
	wrong, covered := 0, 0
	for range count {
		pairs := make([]SetPair, 120)
		for i := range pairs {
			p := SetPair{A: make([]float64, 8), B: make([]float64, 8), Cluster: uint64(i)}
			for option := range p.A {
				truth := r.Float64() * r.Float64()
				if r.Float64() < truth {
					p.Labels = append(p.Labels, option)
				}
				p.A[option], p.B[option] = nearby(r, truth), nearby(r, truth)
			}
			pairs[i] = p
		}
		c, err := CompareSets(pairs)
		if err != nil {
			t.Fatal(err)
		}
		if c.Verdict != NotDistinguishable {
			wrong++
		}
		for _, f := range []Figure{c.Differences.ExactMatch, c.Differences.HammingLoss, *c.Differences.Micro.F1, *c.Differences.Macro.F1} {
			if f.Low <= 0 && 0 <= f.High {
				covered++
			}
		}
	}
	n := float64(count)
	if share := float64(wrong) / n; share > 0.05+3*math.Sqrt(0.05*0.95/n) {
		t.Errorf("%v of equal versions are called different", share)
	}
	if share := float64(covered) / (4 * n); share < 0.95-3*math.Sqrt(0.05*0.95/n) {
		t.Errorf("%v of intervals have 0", share)
	}
}

// nearby is a probability with noise.
func nearby(r *rand.Rand, p float64) float64 { return min(max(p+0.3*(r.Float64()-0.5), 0), 1) }

func TestComparisonsOfSetsDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 4))
	pairs := make([]SetPair, 80)
	for i := range pairs {
		pairs[i] = SetPair{A: []float64{r.Float64(), r.Float64()}, B: []float64{r.Float64(), r.Float64()}, Labels: []int{i % 2}, Cluster: uint64(i / 2)}
	}
	first, err := CompareSets(pairs)
	if err != nil {
		t.Fatal(err)
	}
	r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	again, err := CompareSets(pairs)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("in another order %+v, %v, want %+v", again, err, first)
	}
}
