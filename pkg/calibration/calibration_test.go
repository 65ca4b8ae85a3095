package calibration

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

func TestObservationsThatAreRefused(t *testing.T) {
	t.Parallel()
	good := Observation{Probabilities: []float64{0.4, 0.6}}
	for _, tt := range []struct {
		name string
		kind prism.Classes
		all  []Observation
		want string
	}{
		{"no observation", prism.Nominal, nil, "too few labels: 0 of 1"},
		{"fewer than 30", prism.Nominal, []Observation{good, good}, "too few labels: 2 of 30"},
		{"unknown classes", "text", []Observation{good}, `unknown classes "text"`},
		{"a yes_no of two probabilities", prism.Binary, []Observation{good}, "binary classes have one probability, of yes; got 2"},
		{"a choice of one", prism.Nominal, []Observation{{Probabilities: []float64{1}}}, "2 to 510 nominal classes, each with a probability; got 1"},
		{"a choice of 511", prism.Nominal, []Observation{{Probabilities: make([]float64, 511)}}, "2 to 510 nominal classes, each with a probability; got 511"},
		{
			"other classes", prism.Nominal,
			[]Observation{good, {Probabilities: []float64{0, 1, 0}}},
			"observation 1: 3 probabilities, where the first has 2",
		},
		{"NaN", prism.Binary, []Observation{{Probabilities: []float64{math.NaN()}}}, "observation 0: a probability is not between 0 and 1"},
		{
			"a sum of 0.9", prism.Ordinal,
			[]Observation{{Probabilities: []float64{0.4, 0.5}}},
			"observation 0: probabilities sum to 0.9 instead of 1",
		},
		{"an unknown label", prism.Nominal, []Observation{{Probabilities: []float64{0, 1}, Label: 2}}, "observation 0: label 2 of 2 classes"},
		{"a label of a yes_no", prism.Binary, []Observation{{Probabilities: []float64{1}, Label: -1}}, "observation 0: label -1 of 2 classes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Measure(tt.kind, tt.all); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestMeasuresThatAKindDoesNotHaveAreNull(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		world world
		n     int
		want  string // of the members, those that are null
	}{
		{"choice", world{"", prism.Nominal, 3, 1, 1}, 100, "kappa mae rps"},
		{"yes_no", world{"", prism.Binary, 2, 1, 1}, 100, "kappa mae rps"},
		{"scale", world{"", prism.Ordinal, 3, 1, 1}, 100, "classes macro_f1"},
		{"99 labels", world{"", prism.Nominal, 3, 1, 1}, 99, "bins ece ece_plain kappa mae rps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			observations, _ := tt.world.draw(rand.New(rand.NewPCG(1, 1)), tt.n)
			q, err := Measure(tt.world.kind, observations)
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			var members map[string]any
			if err := json.Unmarshal(b, &members); err != nil {
				t.Fatal(err)
			}
			var null []string
			for _, name := range []string{
				"accuracy", "bins", "brier", "classes", "confusion", "coverage", "ece", "ece_plain", "kappa",
				"log_loss", "macro_f1", "mae", "rps",
			} {
				if v, ok := members[name]; !ok || v == nil {
					null = append(null, name)
				}
			}
			if got := strings.Join(null, " "); got != tt.want {
				t.Errorf("null are %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUndefinedMeasuresAreNull(t *testing.T) {
	t.Parallel()
	scale, choice := make([]Observation, 40), make([]Observation, 40)
	for i := range scale {
		scale[i] = Observation{[]float64{0.2, 0.7, 0.1}, 1, uint64(i)}
		choice[i] = Observation{[]float64{0.2, 0.8}, i % 2, uint64(i)}
	}
	q, err := Measure(prism.Ordinal, scale)
	if err != nil || q.Kappa != nil {
		t.Errorf("kappa of one level is %v, %v", q.Kappa, err)
	}
	q, err = Measure(prism.Nominal, choice)
	if err != nil || len(q.Classes) != 2 || q.Classes[0].Precision != nil ||
		q.Classes[0].F1.Value != 0 || q.Classes[1].Precision == nil {
		t.Errorf("classes are %+v, %v", q.Classes, err)
	}
}

func TestClassesOfFewLabelsAreLeftOut(t *testing.T) {
	t.Parallel()
	observations := make([]Observation, 40)
	for i := range observations {
		observations[i] = Observation{[]float64{0.1, 0.8, 0.1}, 1, uint64(i)}
		if i < 4 {
			observations[i].Label = 0
		} else if i < 9 {
			observations[i].Label = 2
		}
	}
	q, err := Measure(prism.Nominal, observations)
	if err != nil || len(q.Classes) != 2 || q.Classes[0].Class != 1 || q.Classes[1].Class != 2 || q.Classes[1].N != 5 {
		t.Errorf("classes are %+v, %v", q.Classes, err)
	}
}

// Each observation three times says no more than each once.
func TestRepeatedInputsDoNotNarrowIntervals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	once, _ := world{"", prism.Ordinal, 4, 0.7, 1}.draw(r, 300)
	var thrice []Observation
	for _, o := range once {
		thrice = append(thrice, o, o, o)
	}
	a, err := Measure(prism.Ordinal, once)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Measure(prism.Ordinal, thrice)
	if err != nil {
		t.Fatal(err)
	}
	other := figures(b)
	for name, f := range figures(a) {
		if f == nil || strings.HasPrefix(name, "ece") { // errors have other bins
			continue
		}
		if width := (other[name].High - other[name].Low) / (f.High - f.Low); width < 0.9 || width > 1.1 {
			t.Errorf("the interval of %s is %.2f times as wide", name, width)
		}
	}
}

func TestEqualProbabilitiesShareABin(t *testing.T) {
	t.Parallel()
	values := []float64{0.5, 0.1, 0.5, 0.9, 0.5, 0.5, 0.2, 0.5}
	if got, want := quantileBins(values, 4), []int{1, 0, 1, 3, 1, 1, 0, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("bins are %v, want %v", got, want)
	}
}

func TestCoverageKeepsTheConfidentFirst(t *testing.T) {
	t.Parallel()
	s := newSample(prism.Binary, []Observation{
		{[]float64{0.9}, 1, 1}, {[]float64{0.2}, 0, 2}, {[]float64{0.8}, 0, 3}, {[]float64{0.5}, 0, 4},
	})
	want := []CoveragePoint{{0.9, 0.25, 0}, {0.8, 0.75, 1.0 / 3}, {0.5, 1, 0.5}}
	if got := s.coverage(); !reflect.DeepEqual(got, want) {
		t.Errorf("coverage is %v, want %v", got, want)
	}
}

func TestThresholdsOfTheory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		costs       Costs
		yesAt, noAt float64
	}{
		{"equal errors", Costs{1, 1, 0.25}, 0.75, 0.25},
		{"a dear yes", Costs{9, 1, 0.5}, 1 - 0.5/9, 0.5},
		{"unsure is too dear", Costs{3, 1, 2}, 0.75, 0.75},
		{"unsure costs as much as a guess", Costs{1, 1, 0.5}, 0.5, 0.5},
		{"unsure is free", Costs{1, 1, 0}, 1, 0},
		{"a false yes is free", Costs{0, 1, 0.1}, 0, 0},
		{"a false no is free", Costs{1, 0, 0.1}, 1, 1},
		{"errors are free", Costs{0, 0, 1}, 0.5, 0.5},
		{"all is free", Costs{}, 0.5, 0.5},
	} {
		yesAt, noAt := tt.costs.theory()
		near(t, tt.name+": yes_at", yesAt, tt.yesAt, 1e-12)
		near(t, tt.name+": no_at", noAt, tt.noAt, 1e-12)
	}
}

func TestThresholdsSayWhatTheyCost(t *testing.T) {
	t.Parallel()
	observations := make([]Observation, 40)
	for i := range observations {
		observations[i] = Observation{Probabilities: []float64{float64(i) / 39}, Label: min(1, i/20), Cluster: uint64(i)}
	}
	observations[30].Label, observations[21].Label = 0, 0
	got, err := ThresholdsOf(Costs{4, 2, 1}, observations)
	if err != nil {
		t.Fatal(err)
	}
	// In theory yes from 0.75 up, which is from 30, and no up to 0.5, which is to 19.
	if want := (Threshold{0.75, 0.5, 10, 20, 10, 1, 0, 14, 14.0 / 40}); got.Theory != want {
		t.Errorf("theory is %+v, want %+v", got.Theory, want)
	}
	// The labels change at 20 and 22, and are wrong at 30.
	if want := (Threshold{22.0 / 39, 21.0 / 39, 18, 22, 0, 1, 1, 6, 6.0 / 40}); got.Empirical.Total > want.Total {
		t.Errorf("empirical is %+v, where %+v is possible", got.Empirical, want)
	}
	if _, err := ThresholdsOf(Costs{-1, 0, 0}, observations); err == nil {
		t.Error("a negative cost is taken")
	}
	if _, err := ThresholdsOf(Costs{math.NaN(), 0, 0}, observations); err == nil {
		t.Error("a cost of NaN is taken")
	}
	if _, err := ThresholdsOf(Costs{1, 1, 1}, observations[:29]); !errors.As(err, new(*TooFewError)) {
		t.Errorf("29 labels: %v", err)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	none, up, down := Figure{0, -0.1, 0.1}, Figure{0.2, 0.1, 0.3}, Figure{-0.2, -0.3, -0.1}
	for _, tt := range []struct {
		name            string
		p               float64 // of McNemar's test
		accuracy, brier Figure
		want            Verdict
	}{
		{"nothing shows", 0.42, none, none, NotDistinguishable},
		{"accuracy", 0.001, up, none, Better},
		{"accuracy of the other", 0.001, down, none, Worse},
		{"accuracy by McNemar's test alone", 0.001, none, none, NotDistinguishable},
		{"accuracy by its interval alone", 0.03, up, none, NotDistinguishable},
		{"Brier", 0.42, none, down, Better},
		{"Brier of the other", 0.42, none, up, Worse},
		{"both", 0.001, up, down, Better},
		{"opposites", 0.001, down, down, NotDistinguishable},
	} {
		if got := verdict(McNemar{P: tt.p}, tt.accuracy, tt.brier); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestABetterVersionIsFound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	observations, _ := world{"", prism.Nominal, 3, 1, 1}.draw(r, 400)
	better, worse := make([]Pair, len(observations)), make([]Pair, len(observations))
	for i, o := range observations {
		bad := noisy(r, noisy(r, noisy(r, o.Probabilities)))
		better[i] = Pair{bad, o.Probabilities, o.Label, o.Cluster}
		worse[i] = Pair{o.Probabilities, bad, o.Label, o.Cluster}
	}
	for want, pairs := range map[Verdict][]Pair{Better: better, Worse: worse, NotDistinguishable: better[:40]} {
		c, err := Compare(prism.Nominal, pairs)
		if err != nil || c.Verdict != want {
			t.Errorf("%s: %+v of %+v, %v", want, c.McNemar, c.Differences, err)
		}
	}
	if _, err := Compare(prism.Nominal, better[:29]); !errors.As(err, new(*TooFewError)) {
		t.Errorf("29 pairs: %v", err)
	}
	other := []Pair{{[]float64{0, 1}, []float64{0, 0, 1}, 0, 0}}
	if _, err := Compare(prism.Nominal, other); err == nil || !strings.Contains(err.Error(), "version a has 2 classes and b has 3") {
		t.Errorf("other classes: %v", err)
	}
}

func TestDriftIsSeen(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	values := make([]float64, 2000)
	for i := range values {
		values[i] = 0.5 + r.Float64()/2
	}
	reference := referenceOf(values)
	if len(reference.Counts) != 10 {
		t.Fatal(reference)
	}
	b, err := json.Marshal(reference)
	var stored Reference
	if err != nil || json.Unmarshal(b, &stored) != nil || !reflect.DeepEqual(reference, stored) {
		t.Fatalf("%s is read as %v", b, stored)
	}
	for _, tt := range []struct {
		name   string
		n      int
		power  float64
		alarm  bool
		tooFew bool
	}{
		{"none", 1000, 1, false, false},
		{"much", 1000, 2, true, false},
		{"much, of few values", MinDrift - 1, 9, false, true},
	} {
		counts := make([]int, len(stored.Counts))
		for range tt.n {
			counts[stored.Bin(0.5+math.Pow(r.Float64(), tt.power)/2)]++
		}
		d, err := stored.Drift(counts)
		if err != nil || d.Alarm != tt.alarm || d.TooFew != tt.tooFew || d.N != tt.n {
			t.Errorf("%s: %+v, %v", tt.name, d, err)
		}
	}
}

func TestStabilityIndex(t *testing.T) {
	t.Parallel()
	d, err := NewClassReference([]int{699, 299, 999}).Drift([]int{0, 99, 399})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i, p := range []float64{699.5, 299.5, 999.5} {
		p /= 1998.5
		q := []float64{0.5, 99.5, 399.5}[i] / 499.5
		want += (q - p) * math.Log(q/p)
	}
	near(t, "index", d.Index, want, 1e-12)
	near(t, "limit", d.Limit, 0.1, 0) // (1/498 + 1/1997)·13.816 is less
	few, err := NewClassReference([]int{500, 500}).Drift([]int{60, 40})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "limit of few", few.Limit, (0.01+0.001)*10.827566170662733, 1e-12)
	none, err := NewClassReference([]int{500, 500}).Drift([]int{0, 0})
	if err != nil || !none.TooFew || none.Alarm {
		t.Errorf("no values: %+v, %v", none, err)
	}
}

func TestReferencesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		r      Reference
		counts []int
		want   string
	}{
		{Reference{}, nil, "0 counts with 0 edges"},
		{Reference{Edges: []float64{0.5}, Counts: []int{1}}, []int{1}, "1 counts with 1 edges"},
		{Reference{Edges: []float64{0.5, 0.5}, Counts: []int{1, 1, 1}}, []int{1, 1, 1}, "edges must rise"},
		{Reference{Counts: []int{1, -1}}, []int{1, 1}, "a count is negative"},
		{Reference{Counts: []int{1, 1}}, []int{1, -1}, "a count is negative"},
		{Reference{Counts: []int{1, 1}}, []int{1}, "1 counts for a reference of 2"},
	} {
		if _, err := tt.r.Drift(tt.counts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.r, err, tt.want)
		}
	}
}

// spec: calibration-not-fitted
func TestALabelThatNoProbabilityFollowsIsNotFitted(t *testing.T) {
	t.Parallel()
	for name, label := range map[string]func(p float64) (probability float64, label int){
		"equal probabilities":     func(p float64) (float64, int) { return 0.5, int(p * 1.5) },
		"inverted labels":         func(p float64) (float64, int) { return p, int(1.5 - p) },
		"labels that are all yes": func(p float64) (float64, int) { return p, 1 },
	} {
		var observations []Observation
		for i := range 1000 {
			p, yes := label(float64(i) / 1000)
			observations = append(observations, Observation{Probabilities: []float64{p}, Label: yes, Cluster: uint64(i) + 1})
		}
		for _, method := range []Method{Isotonic, Auto} {
			if c, _, err := Fit(prism.Binary, method, observations); !errors.Is(err, ErrNotFitted) && !errors.As(err, new(*TooFewError)) {
				t.Errorf("%s, %s: %+v, %v", name, method, c, err)
			}
		}
	}
}
