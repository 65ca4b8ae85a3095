package calibration

import (
	"math"
	"testing"
)

func frac(x float64) float64 { return x - math.Floor(x) }

// quasirandom are 500 answers whose numbers other implementations computed.
func quasirandom() []Observation {
	observations := make([]Observation, 500)
	for i := range observations {
		n := float64(i + 1)
		p := math.Round((frac(n*0.6180339887498949)*0.98+0.01)*1e6) / 1e6
		q := math.Pow(p, 1.7) / (math.Pow(p, 1.7) + math.Pow(1-p, 1.7))
		observations[i] = Observation{Probabilities: []float64{p}, Cluster: uint64(i)}
		if frac(n*0.7548776662466927) < q {
			observations[i].Label = 1
		}
	}
	return observations
}

// asChoice turns a yes_no into a choice of no and yes.
func asChoice(observations []Observation) []Observation {
	two := make([]Observation, len(observations))
	for i, o := range observations {
		p := o.Probabilities[0]
		two[i] = Observation{[]float64{1 - p, p}, o.Label, o.Cluster}
	}
	return two
}

func near(t *testing.T, name string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %.15g, want %.15g", name, got, want)
	}
}

func TestNumbersOfTheSpecification(t *testing.T) {
	t.Parallel()
	observations := quasirandom()
	q, err := Measure(YesNo, observations)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Brier", q.Brier.Value, 0.127827971060894, 1e-9)
	near(t, "log loss", q.LogLoss.Value, 0.4050006228351275, 1e-9)
	near(t, "accuracy", q.Accuracy.Value, 0.824, 1e-9)
	near(t, "Wilson's low", q.Accuracy.Low, 0.78818582871064, 1e-9)
	near(t, "Wilson's high", q.Accuracy.High, 0.854873598670274, 1e-9)

	s := newSample(YesNo, observations)
	r := s.reliability()
	bins := s.bins(r, equalWidthBins(r.p, 10), 10)
	near(t, "plain error", plainError(bins), 0.079019814, 1e-9)
	near(t, "debiased square", debiasedSquare(bins), 0.005401217006554462, 1e-9)

	two := asChoice(observations)
	temperature, _, err := Fit(Choice, Temperature, two)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "temperature", temperature.Temperature, 0.55790797, 1e-6)
	loss := 0.0
	for _, o := range two {
		loss += Observation{temperature.Apply(o.Probabilities), o.Label, 0}.logLoss() / 500
	}
	near(t, "log loss after", loss, 0.3706777366, 1e-9)

	platt, _, err := Fit(YesNo, Platt, observations)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "A", platt.A, 1.73634599, 1e-6)
	near(t, "B", platt.B, 0.00412026, 1e-6)

	x, y := poolAdjacentViolators(observations)
	for at, want := range map[float64]float64{.1: 0, .3: .25, .5: .470588, .7: .857143, .9: .967742} {
		near(t, "isotonic", interpolate(x, y, at), want, 1e-6)
	}
	near(t, "McNemar", mcNemar(12, 5), 0.143463134765625, 1e-9)
}

// equalWidthBins gives each value its bin of count bins of equal width, of which each includes its upper edge.
func equalWidthBins(values []float64, count int) []int {
	bins := make([]int, len(values))
	for i, v := range values {
		bins[i] = min(count-1, max(0, int(math.Ceil(v*float64(count)))-1))
	}
	return bins
}
