package calibration

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
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
	q, err := Measure(prism.Binary, observations)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Brier", q.Brier.Value, 0.127827971060894, 1e-9)
	near(t, "log loss", q.LogLoss.Value, 0.4050006228351275, 1e-9)
	near(t, "accuracy", q.Accuracy.Value, 0.824, 1e-9)
	near(t, "Wilson's low", q.Accuracy.Low, 0.78818582871064, 1e-9)
	near(t, "Wilson's high", q.Accuracy.High, 0.854873598670274, 1e-9)

	s := newSample(prism.Binary, observations)
	r := s.reliability()
	bins := s.bins(r, equalWidthBins(r.p, 10), 10)
	near(t, "plain error", plainError(bins), 0.079019814, 1e-9)
	near(t, "debiased square", debiasedSquare(bins), 0.005401217006554462, 1e-9)

	two := asChoice(observations)
	temperature, _, err := Fit(prism.Nominal, Temperature, two)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "temperature", temperature.Temperature, 0.55790797, 1e-6)
	loss := 0.0
	for _, o := range two {
		loss += Observation{temperature.Apply(o.Probabilities), o.Label, 0}.logLoss() / 500
	}
	near(t, "log loss after", loss, 0.3706777366, 1e-9)

	platt, _, err := Fit(prism.Binary, Platt, observations)
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

// goldens is testdata/goldens.json, which goldens.py writes.
type goldens struct {
	Cases []struct {
		Kind          prism.QuestionType `json:"kind"`
		Probabilities [][]float64        `json:"probabilities"`
		Labels        []int              `json:"labels"`
		Accuracy      float64            `json:"accuracy"`
		Wilson        [2]float64         `json:"wilson"`
		LogLoss       float64            `json:"log_loss"`
		Brier         float64            `json:"brier"`
		MacroF1       float64            `json:"macro_f1"`
		Precision     []float64          `json:"precision"`
		Recall        []float64          `json:"recall"`
		F1            []float64          `json:"f1"`
		Support       []int              `json:"support"`
		RecallWilson  [][2]float64       `json:"recall_wilson"`
		Confusion     [][]int            `json:"confusion"`
		RPS           float64            `json:"rps"`
		MAE           float64            `json:"mae"`
		Kappa         float64            `json:"kappa"`
		ECEPlain      float64            `json:"ece_plain"`
		ECESquare     float64            `json:"ece_square"`
		Temperature   float64            `json:"temperature"`
		LossAfter     float64            `json:"loss_after"`
	} `json:"cases"`
	Binary []struct {
		Probabilities []float64 `json:"probabilities"`
		Labels        []int     `json:"labels"`
		Brier         float64   `json:"brier"`
		LogLoss       float64   `json:"log_loss"`
		MacroF1       float64   `json:"macro_f1"`
		ECEPlain      float64   `json:"ece_plain"`
		ECESquare     float64   `json:"ece_square"`
		A             float64   `json:"a"`
		B             float64   `json:"b"`
		Isotonic      []float64 `json:"isotonic"` // at 0, 1/40, 2/40 …
		F1            []float64 `json:"f1"`
	} `json:"binary"`
	Wilson []struct {
		Hits     float64    `json:"hits"`
		N        float64    `json:"n"`
		Interval [2]float64 `json:"interval"`
	} `json:"wilson"`
	McNemar []struct {
		A int     `json:"a"`
		B int     `json:"b"`
		P float64 `json:"p"`
	} `json:"mcnemar"`
	Chi2 []struct {
		P       float64 `json:"p"`
		Freedom int     `json:"freedom"`
		X       float64 `json:"x"`
	} `json:"chi2"`
	Forms []struct {
		Bins  int     `json:"bins"`
		Shift float64 `json:"shift"`
		At    float64 `json:"at"`
		CDF   float64 `json:"cdf"`
	} `json:"forms"`
	Several []struct {
		Probabilities [][]float64        `json:"probabilities"`
		Labels        [][]int            `json:"labels"`
		ExactMatch    float64            `json:"exact_match"`
		ExactWilson   [2]float64         `json:"exact_wilson"`
		HammingLoss   float64            `json:"hamming_loss"`
		Micro         map[string]float64 `json:"micro"`
		Macro         map[string]float64 `json:"macro"`
		Other         struct {
			Probabilities [][]float64        `json:"probabilities"`
			ExactMatch    float64            `json:"exact_match"`
			HammingLoss   float64            `json:"hamming_loss"`
			Micro         map[string]float64 `json:"micro"`
			Macro         map[string]float64 `json:"macro"`
			Only          [2]int             `json:"only"`
			McNemar       float64            `json:"mcnemar"`
		} `json:"other"`
		Options []struct {
			Precision float64 `json:"precision"`
			Recall    float64 `json:"recall"`
			F1        float64 `json:"f1"`
			Support   int     `json:"support"`
			Brier     float64 `json:"brier"`
			LogLoss   float64 `json:"log_loss"`
			Accuracy  float64 `json:"accuracy"`
		} `json:"options"`
	} `json:"several"`
}

func readGoldens(t *testing.T) goldens {
	t.Helper()
	b, err := os.ReadFile("testdata/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldens
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestChoicesAndScalesAsScikitLearnMeasuresThem(t *testing.T) {
	t.Parallel()
	for _, c := range readGoldens(t).Cases {
		observations := make([]Observation, len(c.Labels))
		for i, label := range c.Labels {
			observations[i] = Observation{c.Probabilities[i], label, uint64(i)}
		}
		q, err := Measure(c.Kind.Classes(), observations)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "accuracy", q.Accuracy.Value, c.Accuracy, 1e-9)
		near(t, "low of accuracy", q.Accuracy.Low, c.Wilson[0], 1e-9)
		near(t, "high of accuracy", q.Accuracy.High, c.Wilson[1], 1e-9)
		near(t, "log loss", q.LogLoss.Value, c.LogLoss, 1e-9)
		near(t, "Brier", q.Brier.Value, c.Brier, 1e-9)
		near(t, "plain error", q.ECEPlain.Value, c.ECEPlain, 1e-9)
		near(t, "debiased error", q.ECE.Value, math.Sqrt(max(0, c.ECESquare)), 1e-9)
		near(t, "debiased square", debiasedSquare(q.Bins), c.ECESquare, 1e-9)
		if !reflect.DeepEqual(q.Confusion, c.Confusion) {
			t.Errorf("confusion is %v, want %v", q.Confusion, c.Confusion)
		}
		if c.Kind.Classes() == prism.Ordinal {
			near(t, "RPS", q.RPS.Value, c.RPS, 1e-9)
			near(t, "MAE", q.MAE.Value, c.MAE, 1e-9)
			near(t, "kappa", q.Kappa.Value, c.Kappa, 1e-9)
		} else {
			near(t, "macro-F1", q.MacroF1.Value, c.MacroF1, 1e-9)
			if len(q.Classes) != len(c.Support) {
				t.Fatalf("%d classes of %d are measured", len(q.Classes), len(c.Support))
			}
		}
		for i, class := range q.Classes {
			if class.N != c.Support[i] {
				t.Errorf("class %d has %d labels, want %d", i, class.N, c.Support[i])
			}
			near(t, "precision", class.Precision.Value, c.Precision[i], 1e-9)
			near(t, "recall", class.Recall.Value, c.Recall[i], 1e-9)
			near(t, "low of recall", class.Recall.Low, c.RecallWilson[i][0], 1e-9)
			near(t, "high of recall", class.Recall.High, c.RecallWilson[i][1], 1e-9)
			near(t, "F1", class.F1.Value, c.F1[i], 1e-9)
		}
		fitted, _, err := Fit(c.Kind.Classes(), Temperature, observations)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "temperature", fitted.Temperature, c.Temperature, 1e-6)
		loss := 0.0
		for _, o := range observations {
			loss += Observation{fitted.Apply(o.Probabilities), o.Label, 0}.logLoss() / float64(len(observations))
		}
		near(t, "log loss after", loss, c.LossAfter, 1e-9)
	}
}

func TestYesNoAsScikitLearnMeasuresIt(t *testing.T) {
	t.Parallel()
	for _, c := range readGoldens(t).Binary {
		observations := make([]Observation, len(c.Labels))
		for i, label := range c.Labels {
			observations[i] = Observation{[]float64{c.Probabilities[i]}, label, uint64(i)}
		}
		q, err := Measure(prism.Binary, observations)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "Brier", q.Brier.Value, c.Brier, 1e-9)
		near(t, "log loss", q.LogLoss.Value, c.LogLoss, 1e-9)
		near(t, "macro-F1", q.MacroF1.Value, c.MacroF1, 1e-9)
		near(t, "F1 of no", q.Classes[0].F1.Value, c.F1[0], 1e-9)
		near(t, "F1 of yes", q.Classes[1].F1.Value, c.F1[1], 1e-9)
		near(t, "plain error", q.ECEPlain.Value, c.ECEPlain, 1e-9)
		near(t, "debiased square", debiasedSquare(q.Bins), c.ECESquare, 1e-9)
		platt, _, err := Fit(prism.Binary, Platt, observations)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "A", platt.A, c.A, 1e-6)
		near(t, "B", platt.B, c.B, 1e-6)
		x, y := poolAdjacentViolators(observations)
		for i, want := range c.Isotonic {
			near(t, "isotonic", interpolate(x, y, float64(i)/40), want, 1e-9)
		}
	}
}

func TestDistributionsAsScipyAndStatsmodelsHaveThem(t *testing.T) {
	t.Parallel()
	g := readGoldens(t)
	for _, c := range g.Wilson {
		f := wilson(c.Hits/c.N, c.N)
		near(t, "Wilson's low", f.Low, c.Interval[0], 1e-9)
		near(t, "Wilson's high", f.High, c.Interval[1], 1e-9)
	}
	for _, c := range g.McNemar {
		near(t, "McNemar", mcNemar(c.A, c.B), c.P, 1e-9)
	}
	for _, c := range g.Chi2 {
		near(t, "χ²", chiSquareQuantile(c.P, c.Freedom)/c.X, 1, 1e-9)
	}
	for _, c := range g.Forms { // an approximation
		k, shift := float64(c.Bins), c.Shift*c.Shift
		near(t, "form", quadraticFormCDF(c.At, [3]float64{k * (1 + shift), k * (1 + 2*shift), k * (1 + 3*shift)}), c.CDF, 5e-3)
	}
}
