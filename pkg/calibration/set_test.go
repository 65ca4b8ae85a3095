package calibration

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// As its multilabel measures are: exact match is its subset accuracy, and a precision of no answer is 0.
//
// spec: quality-several
func TestSetsAsScikitLearnMeasuresThem(t *testing.T) {
	t.Parallel()
	for _, c := range readGoldens(t).Several {
		sets := make([]Set, len(c.Labels))
		for i, row := range c.Labels {
			sets[i] = Set{Probabilities: c.Probabilities[i], Labels: rightOptions(row), Cluster: uint64(i)}
		}
		q, err := MeasureSets(sets)
		if err != nil {
			t.Fatal(err)
		}
		if q.Counted != len(sets) {
			t.Errorf("%d sets are counted", q.Counted)
		}
		near(t, "exact match", q.ExactMatch.Value, c.ExactMatch, 1e-9)
		near(t, "low of exact match", q.ExactMatch.Low, c.ExactWilson[0], 1e-9)
		near(t, "high of exact match", q.ExactMatch.High, c.ExactWilson[1], 1e-9)
		near(t, "Hamming loss", q.HammingLoss.Value, c.HammingLoss, 1e-9)
		for _, each := range []struct {
			name string
			got  Retrieval
			want map[string]float64
		}{{"micro", q.Micro, c.Micro}, {"macro", q.Macro, c.Macro}} {
			near(t, each.name+" precision", each.got.Precision.Value, each.want["precision"], 1e-9)
			near(t, each.name+" recall", each.got.Recall.Value, each.want["recall"], 1e-9)
			near(t, each.name+" F1", each.got.F1.Value, each.want["f1"], 1e-9)
		}
		for i, want := range c.Options { // as a yes_no
			observations := make([]Observation, len(sets))
			for k, s := range sets {
				observations[k] = Observation{s.Probabilities[i : i+1], c.Labels[k][i], s.Cluster}
			}
			one, err := Measure(prism.Binary, observations)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "Brier", one.Brier.Value, want.Brier, 1e-9)
			near(t, "log loss", one.LogLoss.Value, want.LogLoss, 1e-9)
			near(t, "accuracy", one.Accuracy.Value, want.Accuracy, 1e-9)
			at := slices.IndexFunc(one.Classes, func(c Class) bool { return c.Class == 1 })
			if at < 0 {
				if want.Support >= MinClass {
					t.Errorf("option %d has no measures of yes", i)
				}
				continue
			}
			near(t, "recall", one.Classes[at].Recall.Value, want.Recall, 1e-9)
			near(t, "F1", one.Classes[at].F1.Value, want.F1, 1e-9)
			if one.Classes[at].Precision != nil {
				near(t, "precision", one.Classes[at].Precision.Value, want.Precision, 1e-9)
			}
		}
	}
}

func rightOptions(row []int) (labels []int) {
	for option, right := range row {
		if right == 1 {
			labels = append(labels, option)
		}
	}
	return labels
}

// spec: quality-several
func TestAnOptionThatIsNeitherALabelNorAnAnswerIsInNoMean(t *testing.T) {
	t.Parallel()
	sets := make([]Set, 30)
	for i := range sets {
		sets[i] = Set{Probabilities: []float64{0.9, 0.1}, Labels: []int{0}, Cluster: uint64(i)}
	}
	q, err := MeasureSets(sets)
	if err != nil || q.Macro.F1.Value != 1 || q.Micro.F1.Value != 1 || q.HammingLoss.Value != 0 || q.ExactMatch.Value != 1 {
		t.Errorf("got %+v, %v", q, err)
	}
	for i := range sets {
		sets[i] = Set{Probabilities: []float64{0.1, 0.1}, Cluster: uint64(i)}
	}
	q, err = MeasureSets(sets)
	if err != nil || q.Macro != (Retrieval{}) || q.Micro != (Retrieval{}) || q.ExactMatch.Value != 1 {
		t.Errorf("without any option %+v, %v", q, err)
	}
}

func TestSetsThatCannotBeMeasuredAreRefused(t *testing.T) {
	t.Parallel()
	good := Set{Probabilities: []float64{0.5, 0.5}, Labels: []int{1}}
	for name, bad := range map[string]Set{
		"other options": {Probabilities: []float64{0.5}}, "a probability above 1": {Probabilities: []float64{0.5, 1.5}},
		"no number": {Probabilities: []float64{0.5, math.NaN()}}, "labels that fall": {Probabilities: []float64{0.5, 0.5}, Labels: []int{1, 0}},
		"a label of no option": {Probabilities: []float64{0.5, 0.5}, Labels: []int{2}},
	} {
		if _, err := MeasureSets(append(slices.Repeat([]Set{good}, 30), bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	few, ok := errors.AsType[*TooFewError](func() error { _, err := MeasureSets(slices.Repeat([]Set{good}, 29)); return err }())
	if !ok || few.Have != 29 || few.Need != 30 {
		t.Errorf("29 sets: %+v", few)
	}
}

// The measures and their intervals depend on what the sets are, and not on their order; each interval has its value.
//
// spec: quality-intervals
func TestMeasuresOfSetsDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	sets := make([]Set, 200)
	for i := range sets {
		s := Set{Probabilities: make([]float64, 6), Cluster: uint64(i / 2)}
		for option := range s.Probabilities {
			if s.Probabilities[option] = random.Float64(); random.Float64() < s.Probabilities[option] {
				s.Labels = append(s.Labels, option)
			}
		}
		sets[i] = s
	}
	q, err := MeasureSets(sets)
	if err != nil {
		t.Fatal(err)
	}
	figures := func(q SetQuality) []Figure {
		return []Figure{
			q.ExactMatch, q.HammingLoss, *q.Micro.Precision, *q.Micro.Recall, *q.Micro.F1, *q.Macro.Precision, *q.Macro.Recall, *q.Macro.F1,
		}
	}
	for i, f := range figures(q) {
		if !(f.Low < f.Value && f.Value < f.High && f.High-f.Low < 0.2) {
			t.Errorf("figure %d is %+v", i, f)
		}
	}
	random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	again, err := MeasureSets(sets)
	if err != nil || !slices.Equal(figures(q), figures(again)) {
		t.Errorf("in another order %+v, %v", again, err)
	}
}
