package lens_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// pinned halves the temperature of the choice and the scale, and moves the probability of the yes_no and of the option price from 0.5 to 0.6,
// and that of the option vip from 0.75 to 0.3.
func pinned() lens.Pinned {
	cold := &calibration.Calibration{Method: calibration.Temperature, Temperature: 0.5}
	return lens.Pinned{
		"intent": cold, "mood": cold,
		"urgent":      {Method: calibration.Isotonic, X: []float64{0, 0.5, 1}, Y: []float64{0, 0.6, 1}},
		"about.price": {Method: calibration.Isotonic, X: []float64{0, 0.5, 1}, Y: []float64{0, 0.6, 1}},
		"about.vip":   {Method: calibration.Isotonic, X: []float64{0, 1}, Y: []float64{0, 0.4}},
	}
}

// near tells whether two cells are the same but for the rounding of their numbers.
func near(a, b prism.Cell) bool {
	same := math.Abs(a.Number-b.Number) < 1e-12
	a.Number, b.Number = 0, 0
	return same && a == b
}

// spec: calibrated-column
func TestACalibratedColumnShowsWhatTheCalibrationMakesOfItsProbabilities(t *testing.T) {
	t.Parallel()
	type col = prism.Column
	// The squares of the stored probabilities, renormalised.
	refund, calm, angry := 0.49/0.54, 0.0625/0.375, 0.25/0.375
	for _, c := range []struct {
		name   string
		column col
		want   prism.Cell
	}{
		{"answer of a choice", col{Question: "intent", Show: "answer"}, text("refund", "Refund")},
		{"answer of a scale", col{Question: "mood", Show: "answer"}, text("angry", "angry")},
		{"probability of the chosen option", col{Question: "intent", Show: "probability"}, number(refund)},
		{"probability of an option", col{Question: "intent", Show: "probability", Option: "other"}, number(0.04 / 0.54)},
		{"probability of a level", col{Question: "mood", Show: "probability", Option: "calm"}, number(calm)},
		{"confidence", col{Question: "intent", Show: "confidence"}, number((refund - 1.0/3) / (1 - 1.0/3))},
		{"average", col{Question: "mood", Show: "average"}, number(calm*1 + calm*2 + angry*4)},
		{"probability of yes", col{Question: "urgent", Show: "probability"}, number(0.6)},
		{"answer of a yes_no", col{Question: "urgent", Show: "answer"}, text("yes", "Yes")},
		{"answer of a tags", col{Question: "about", Show: "answer"}, text("price", "The price")},
		{"its own limit of a tags, and an option without a calibration", col{Question: "about", Show: "answer", YesAt: at(0.25)}, text("price; vip; staff", "The price; VIP; staff")},
		{"count", col{Question: "about", Show: "count"}, number(1)},
		{"probability of an option of a tags", col{Question: "about", Show: "probability", Option: "price"}, number(0.6)},
		{"its own limit", col{Question: "urgent", Show: "answer", YesAt: at(0.61)}, text("unsure", "Unsure")},
		{"its own lower limit", col{Question: "urgent", Show: "answer", YesAt: at(0.61), NoAt: at(0.6)}, text("no", "No")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plain := c.column
			plain.Name, c.column.Name, c.column.Calibrated = "plain", "n", true
			l := prism.Lens{Columns: []col{c.column, plain, c.column}}
			got := lens.Compile(l, definition(), pinned()).Apply(nil, answers())
			if !near(got[0], c.want) || got[2] != got[0] {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if stored := apply(prism.Lens{Columns: []col{plain}}, definition(), answers()); got[1] != stored[0] {
				t.Errorf("beside it a column without calibration is %+v, want %+v", got[1], stored[0])
			}
		})
	}
}

// spec: calibrated-column, lens-preview-reasons
func TestACalibratedColumnIsNullWithoutACalibration(t *testing.T) {
	t.Parallel()
	only := pinned()
	delete(only, "intent")
	type col = prism.Column
	for _, c := range []struct {
		column col
		pinned lens.Pinned
		want   prism.Reason
	}{
		{col{Question: "urgent", Show: "answer"}, nil, prism.NotPinned},
		{col{Question: "intent", Show: "answer"}, only, prism.NotPinned},
		{col{Question: "intent", Show: "probability"}, only, prism.NotPinned},
		{col{Question: "mood", Show: "average"}, only, ""},
		{col{Question: "intent", Show: "confidence"}, pinned(), ""},
		{col{Question: "about", Show: "answer"}, only, ""},
		{col{Question: "about", Show: "answer"}, lens.Pinned{"about": only["mood"]}, prism.NotPinned},
		{col{Question: "about", Show: "probability", Option: "staff"}, only, prism.NotPinned},
		// What else is missing comes first.
		{col{Question: "language", Show: "answer"}, nil, prism.NoQuestion},
		{col{Question: "intent", Show: "probability", Option: "complaint"}, nil, prism.NoOption},
		{col{Question: "intent", Show: "average"}, pinned(), prism.OtherType},
	} {
		c.column.Name, c.column.Calibrated = "n", true
		plan, stored := lens.Compile(prism.Lens{Columns: []col{c.column}}, definition(), c.pinned), answers()
		if got := plan.Reasons(stored); !slices.Equal(got, []prism.Reason{c.want}) {
			t.Errorf("%+v: %q, want %q", c.column, got, c.want)
		}
		if null := plan.Apply(nil, stored)[0].Kind == prism.NullCell; null != (c.want != "") {
			t.Errorf("%+v: null is %v", c.column, null)
		}
		if !reflect.DeepEqual(stored, answers()) {
			t.Error("the stored answers have changed")
		}
	}
}

// spec: calibrated-column
func TestACalibratedColumnIsAProbabilityWheneverTheStoredOneIs(t *testing.T) {
	t.Parallel()
	d := definition()
	keys := d.Questions[0].AnswerKeys()
	plan := lens.Compile(prism.Lens{Columns: []prism.Column{
		{Name: "p", Question: "intent", Show: prism.ShowProbability, Calibrated: true},
		{Name: "c", Question: "intent", Show: prism.ShowConfidence, Calibrated: true},
		{Name: "a", Question: "intent", Show: prism.ShowAnswer, Calibrated: true},
	}}, d, pinned())
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0, 1), len(keys), len(keys)).Draw(t, "weights")
		weights[0] += 1e-9
		sum := weights[0] + weights[1] + weights[2]
		a := prism.Answer{Question: "intent", Type: prism.Choice}
		best := -1.0
		for i, key := range keys {
			p := weights[i] / sum
			a.Probabilities = append(a.Probabilities, prism.KeyProbability{Key: key, Probability: p})
			if p > best {
				best, a.Chosen = p, key
			}
		}
		got := plan.Apply(nil, prism.Answers{a})
		if p := got[0].Number; !(p >= best-1e-12 && p <= 1) { // colder: the chosen one is more probable
			t.Fatalf("chosen with %v, calibrated %v", best, p)
		}
		if c := got[1].Number; !(c >= 0 && c <= 1) || got[2].Key != a.Chosen {
			t.Fatalf("got %+v", got)
		}
	})
}

func BenchmarkApplyCalibrated(b *testing.B) {
	l := lens.Derive(definition())
	for i := range l.Columns {
		l.Columns[i].Calibrated = true
	}
	plan, stored := lens.Compile(l, definition(), pinned()), answers()
	var cells []prism.Cell
	b.ReportAllocs()
	for b.Loop() {
		cells = plan.Apply(cells[:0], stored)
	}
}
