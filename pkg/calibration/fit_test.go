package calibration

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

func TestFitsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	draw := func(kind prism.Classes, classes, n int) []Observation {
		all, _ := world{"", kind, classes, 1.5, 1}.draw(r, n)
		return all
	}
	change := func(all []Observation, f func(i int, o *Observation)) []Observation {
		for i := range all {
			f(i, &all[i])
		}
		return all
	}
	for _, tt := range []struct {
		name   string
		kind   prism.Classes
		method Method
		all    []Observation
		want   string
	}{
		{"temperature of 99", prism.Nominal, Temperature, draw(prism.Nominal, 3, 99), "too few labels: 99 of 100"},
		{"auto of 99", prism.Ordinal, Auto, draw(prism.Ordinal, 3, 99), "too few labels: 99 of 100"},
		{"platt of 199", prism.Binary, Platt, draw(prism.Binary, 2, 199), "too few labels: 199 of 200"},
		{"auto of 199", prism.Binary, Auto, draw(prism.Binary, 2, 199), "too few labels: 199 of 200"},
		{"isotonic of 999", prism.Binary, Isotonic, draw(prism.Binary, 2, 999), "too few labels: 999 of 1000"},
		{
			"19 of yes", prism.Binary, Platt,
			change(draw(prism.Binary, 2, 300), func(i int, o *Observation) { o.Label = min(1, max(0, 19-i)) }),
			"too few labels of yes or of no: 19 of 20",
		},
		{"temperature of a yes_no", prism.Binary, Temperature, draw(prism.Binary, 2, 300), `binary classes are not calibrated by "temperature"`},
		{"platt of a choice", prism.Nominal, Platt, draw(prism.Nominal, 2, 300), `nominal classes are not calibrated by "platt"`},
		{"an unknown method", prism.Binary, "beta", draw(prism.Binary, 2, 300), `binary classes are not calibrated by "beta"`},
		{
			"always right", prism.Nominal, Temperature,
			change(draw(prism.Nominal, 3, 300), func(_ int, o *Observation) { o.Label = o.Chosen() }), "the best temperature is below 0.05",
		},
		{
			"always wrong", prism.Nominal, Temperature,
			change(draw(prism.Nominal, 2, 300), func(_ int, o *Observation) { o.Label = 1 - o.Chosen() }), "the best temperature is above 20",
		},
		{
			"equal probabilities", prism.Binary, Platt,
			change(draw(prism.Binary, 2, 300), func(_ int, o *Observation) { o.Probabilities = []float64{0.3} }), "all probabilities are equal",
		},
		{
			"the wrong way", prism.Binary, Platt,
			change(draw(prism.Binary, 2, 300), func(_ int, o *Observation) { o.Probabilities = []float64{1 - o.Probabilities[0]} }),
			"yes is no more frequent where its probability is higher",
		},
		{
			"one input", prism.Nominal, Temperature,
			change(draw(prism.Nominal, 3, 300), func(_ int, o *Observation) { o.Cluster = 7 }), "fewer than 5 different inputs",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if c, _, err := Fit(tt.kind, tt.method, tt.all); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want %q", c, err, tt.want)
			}
		})
	}
}

func TestAutoTakesWhatGains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		world world
		n     int
		want  Method // none: no method gains
	}{
		{"an overconfident choice", world{"", prism.Nominal, 4, 0.5, 1}, 400, Temperature},
		{"an underconfident scale", world{"", prism.Ordinal, 4, 1.8, 1}, 400, Temperature},
		{"a calibrated choice", world{"", prism.Nominal, 4, 1, 1}, 400, ""},
		{"an overconfident yes_no", world{"", prism.Binary, 2, 0.4, 1}, 600, Platt},
		{"a calibrated yes_no", world{"", prism.Binary, 2, 1, 1}, 2000, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			observations, _ := tt.world.draw(rand.New(rand.NewPCG(3, 3)), tt.n)
			c, report, err := Fit(tt.world.kind, Auto, observations)
			if err != nil {
				t.Fatal(err)
			}
			if got := c; (got == nil) != (tt.want == "") || got != nil && got.Method != tt.want {
				t.Errorf("auto takes %+v with %+v, want %q", c, report, tt.want)
			}
			if math.Abs(report.Before-report.After-report.Gain.Value) > 1e-12 || report.Labels != tt.n {
				t.Errorf("the report is %+v", report)
			}
		})
	}
	t.Run("isotonic where no logistic function fits", func(t *testing.T) {
		t.Parallel()
		r := rand.New(rand.NewPCG(4, 4))
		observations := make([]Observation, 3000)
		for i := range observations {
			p := r.Float64()
			observations[i] = Observation{Probabilities: []float64{p}, Cluster: r.Uint64()}
			if r.Float64() < 0.3+0.5*math.Round(p*0.75+0.2) { // 0.3, and 0.8 from p = 0.4
				observations[i].Label = 1
			}
		}
		if c, report, err := Fit(prism.Binary, Auto, observations); err != nil || c == nil || c.Method != Isotonic {
			t.Errorf("auto takes %v with %+v, %v", c, report, err)
		}
	})
}

func TestFoldsAreStratifiedAndKeepClusters(t *testing.T) {
	t.Parallel()
	observations, _ := world{"", prism.Nominal, 3, 1, 3}.draw(rand.New(rand.NewPCG(5, 5)), 600)
	sorted, err := canonical(prism.Nominal, observations)
	if err != nil {
		t.Fatal(err)
	}
	of, clusters := map[uint64]int{}, map[[2]int]int{}
	for i, fold := range foldsOf(sorted) {
		if other, ok := of[sorted[i].Cluster]; ok && other != fold {
			t.Fatal("a cluster is in two folds")
		} else if !ok {
			of[sorted[i].Cluster] = fold
			clusters[[2]int{sorted[i].Label, fold}]++
		}
	}
	for label := range 3 {
		for fold := range foldCount {
			if d := clusters[[2]int{label, fold}] - clusters[[2]int{label, 0}]; d < -1 || d > 1 {
				t.Errorf("clusters by label and fold are %v", clusters)
			}
		}
	}
}

func TestCalibrationsAreStoredAndChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ json, want string }{
		{`{"method":"temperature","temperature":1.5}`, ""},
		{`{"method":"platt","a":1.5,"b":-0.25}`, ""},
		{`{"method":"isotonic","x":[0.1,0.4],"y":[0,0.5]}`, ""},
		{`{"method":"temperature"}`, "temperature 0: must be above 0"},
		{`{"method":"platt","a":-1}`, "a must be above 0"},
		{`{"method":"isotonic"}`, "0 x and 0 y"},
		{`{"method":"isotonic","x":[0.1],"y":[0,0.5]}`, "1 x and 2 y"},
		{`{"method":"isotonic","x":[0.1,0.1],"y":[0,0.5]}`, "x must rise"},
		{`{"method":"isotonic","x":[0.1,0.2],"y":[0.6,0.5]}`, "y must not fall"},
		{`{"method":"isotonic","x":[0.1,0.2],"y":[0.6,1.5]}`, "between 0 and 1"},
		{`{"method":"auto"}`, "auto is not the method of a calibration"},
		{`{}`, `unknown method ""`},
	} {
		var c Calibration
		if err := json.Unmarshal([]byte(tt.json), &c); err != nil {
			t.Fatal(err)
		}
		err := c.Validate()
		if tt.want == "" {
			if b, e := json.Marshal(c); err != nil || e != nil || string(b) != tt.json {
				t.Errorf("%s is written as %s: %v, %v", tt.json, b, err, e)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.json, err, tt.want)
		}
	}
}

func TestCertainAnswersAreCalibrated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c        Calibration
		in, want []float64
	}{
		{Calibration{Method: Temperature, Temperature: 2}, []float64{0, 1, 0}, []float64{0, 1, 0}},
		{Calibration{Method: Temperature, Temperature: 0.5}, []float64{0.5, 0.25, 0.25}, []float64{2.0 / 3, 1.0 / 6, 1.0 / 6}},
		{Calibration{Method: Temperature, Temperature: 0.05}, []float64{1e-300, 1 - 1e-300}, []float64{0, 1}},
		{Calibration{Method: Platt, A: 0.5}, []float64{0}, []float64{math.Sqrt(1e-15)}},
		{Calibration{Method: Platt, A: 0.5}, []float64{1}, []float64{1 - math.Sqrt(1e-15)}},
		{Calibration{Method: Isotonic, X: []float64{0.2, 0.6}, Y: []float64{0.1, 0.3}}, []float64{0}, []float64{0.1}},
		{Calibration{Method: Isotonic, X: []float64{0.2, 0.6}, Y: []float64{0.1, 0.3}}, []float64{0.4}, []float64{0.2}},
		{Calibration{Method: Isotonic, X: []float64{0.2, 0.6}, Y: []float64{0.1, 0.3}}, []float64{1}, []float64{0.3}},
	} {
		for i, p := range tt.c.Apply(tt.in) {
			near(t, string(tt.c.Method), p, tt.want[i], 1e-9)
		}
	}
}
