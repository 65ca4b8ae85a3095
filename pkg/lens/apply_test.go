package lens_test

import (
	"math"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

func answers() prism.Answers {
	return prism.Answers{
		{
			Question: "intent", Type: prism.Choice, Chosen: "refund", Confidence: 0.55,
			Probabilities: []prism.KeyProbability{
				{Key: "refund", Probability: 0.7}, {Key: "other", Probability: 0.2}, {Key: "insufficient_information", Probability: 0.1},
			},
		},
		{Question: "urgent", Type: prism.YesNo, Probability: 0.5},
		{
			Question: "mood", Type: prism.Scale, Chosen: "angry",
			Probabilities: []prism.KeyProbability{
				{Key: "calm", Probability: 0.25}, {Key: "tense", Probability: 0.25}, {Key: "angry", Probability: 0.5},
			},
		},
		{
			Question: "about", Type: prism.Tags,
			Probabilities: []prism.KeyProbability{{Key: "price", Probability: 0.5}, {Key: "staff", Probability: 0.25}, {Key: "vip", Probability: 0.75}},
		},
	}
}

func apply(l prism.Lens, answered prism.Definition, stored prism.Answers) []prism.Cell {
	return lens.Compile(l, answered, nil).Apply(nil, stored)
}

func number(f float64) prism.Cell { return prism.Cell{Kind: prism.NumberCell, Number: f} }

func text(key, label string) prism.Cell {
	return prism.Cell{Kind: prism.TextCell, Key: key, Label: label}
}

// spec: lens-column-without-an-answer
func TestAColumnShowsWhatItsShowSays(t *testing.T) {
	t.Parallel()
	null := prism.Cell{}
	type col = prism.Column
	for _, c := range []struct {
		name   string
		column col
		want   prism.Cell
	}{
		{"answer of a choice is the option", col{Question: "intent", Show: "answer"}, text("refund", "Refund")},
		{"answer of a scale is the level, without a label its key", col{Question: "mood", Show: "answer"}, text("angry", "angry")},
		{"probability of a choice is the chosen one's", col{Question: "intent", Show: "probability"}, number(0.7)},
		{"probability of an option", col{Question: "intent", Show: "probability", Option: "other"}, number(0.2)},
		{"probability of insufficient information", col{Question: "intent", Show: "probability", Option: "insufficient_information"}, number(0.1)},
		{"probability of a scale is the chosen one's", col{Question: "mood", Show: "probability"}, number(0.5)},
		{"probability of a level", col{Question: "mood", Show: "probability", Option: "calm"}, number(0.25)},
		{"probability of a yes_no is that of yes", col{Question: "urgent", Show: "probability"}, number(0.5)},
		{"average weighs the levels' values", col{Question: "mood", Show: "average"}, number(0.25*1 + 0.25*2 + 0.5*4)},
		{"confidence of a choice", col{Question: "intent", Show: "confidence"}, number(0.55)},

		{"answer of a tags is what is right, the most probable first", col{Question: "about", Show: "answer"}, text("vip; price", "VIP; The price")},
		{"answer of a tags from a probability on", col{Question: "about", Show: "answer", YesAt: at(0.25)}, text("vip; price; staff", "VIP; The price; staff")},
		{"answer of a tags of which nothing is right", col{Question: "about", Show: "answer", YesAt: at(0.8)}, text("", "")},
		{"count of a tags", col{Question: "about", Show: "count"}, number(2)},
		{"count of a tags from a probability on", col{Question: "about", Show: "count", YesAt: at(0.8)}, number(0)},
		{"probability of an option of a tags", col{Question: "about", Show: "probability", Option: "staff"}, number(0.25)},

		{"probability of a tags", col{Question: "about", Show: "probability"}, null},
		{"average of a tags", col{Question: "about", Show: "average"}, null},
		{"count of a choice", col{Question: "intent", Show: "count"}, null},
		{"count of a yes_no", col{Question: "urgent", Show: "count"}, null},
		{"question that was not asked", col{Question: "language", Show: "answer"}, null},
		{"option that was not there", col{Question: "intent", Show: "probability", Option: "complaint"}, null},
		{"level that was not there", col{Question: "mood", Show: "probability", Option: "furious"}, null},
		{"option of a yes_no", col{Question: "urgent", Show: "probability", Option: "yes"}, null},
		{"average of a choice", col{Question: "intent", Show: "average"}, null},
		{"average of a yes_no", col{Question: "urgent", Show: "average"}, null},
		{"confidence of a yes_no", col{Question: "urgent", Show: "confidence"}, null},
		{"confidence of a scale", col{Question: "mood", Show: "confidence"}, null},
		{"a show that is unknown", col{Question: "mood", Show: "median"}, null},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.column.Name = "n"
			got := apply(prism.Lens{Columns: []col{c.column}}, definition(), answers())
			if !slices.Equal(got, []prism.Cell{c.want}) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// spec: lens-preview-reasons
func TestEveryNullHasItsReasonAndNothingElseHas(t *testing.T) {
	t.Parallel()
	huge := definition()
	huge.Questions[2].Levels[2].Value = new(math.MaxFloat64)
	huge.Questions[2].Levels[1].Value = new(math.MaxFloat64)
	bare := definition()
	bare.Questions[2].Levels[1].Value = nil
	type col = prism.Column
	for _, c := range []struct {
		column   col
		answered prism.Definition
		want     prism.Reason
	}{
		{col{Question: "intent", Show: "answer"}, definition(), ""},
		{col{Question: "mood", Show: "average"}, definition(), ""},
		{col{Question: "mood", Show: "average"}, bare, prism.NoAverage},
		{col{Question: "language", Show: "answer"}, definition(), prism.NoQuestion},
		{col{Question: "intent", Show: "probability", Option: "complaint"}, definition(), prism.NoOption},
		{col{Question: "mood", Show: "probability", Option: "furious"}, definition(), prism.NoOption},
		{col{Question: "urgent", Show: "probability", Option: "yes"}, definition(), prism.OtherType},
		{col{Question: "intent", Show: "average"}, definition(), prism.OtherType},
		{col{Question: "mood", Show: "confidence"}, definition(), prism.OtherType},
		{col{Question: "mood", Show: "average"}, prism.Definition{}, prism.NoAverage},
		{col{Question: "about", Show: "answer", YesAt: at(1)}, definition(), ""},
		{col{Question: "about", Show: "probability"}, definition(), prism.OtherType},
		{col{Question: "about", Show: "probability", Option: "other"}, definition(), prism.NoOption},
		{col{Question: "mood", Show: "average"}, huge, ""},
	} {
		c.column.Name = "n"
		plan, stored := lens.Compile(prism.Lens{Columns: []col{c.column}}, c.answered, nil), answers()
		if got := plan.Reasons(stored); !slices.Equal(got, []prism.Reason{c.want}) {
			t.Errorf("%+v: %q, want %q", c.column, got, c.want)
		}
		if null := plan.Apply(nil, stored)[0].Kind == prism.NullCell; null != (c.want != "") {
			t.Errorf("%+v: null is %v", c.column, null)
		}
	}
}

func TestYesNoAndUnsureDependOnTheLimits(t *testing.T) {
	t.Parallel()
	yes, no, unsure := text("yes", "Yes"), text("no", "No"), text("unsure", "Unsure")
	for _, c := range []struct {
		name        string
		p           float64
		yesAt, noAt *float64
		want        prism.Cell
	}{
		{"at 0.6", 0.6, nil, nil, yes},
		{"just below 0.6", math.Nextafter(0.6, 0), nil, nil, unsure},
		{"just above 0.4", math.Nextafter(0.4, 1), nil, nil, unsure},
		{"at 0.4", 0.4, nil, nil, no},
		{"certain", 1, nil, nil, yes},
		{"impossible", 0, nil, nil, no},
		{"own yes_at", 0.55, at(0.55), nil, yes},
		{"own no_at", 0.45, nil, at(0.45), no},
		{"yes_at 0 is always yes", 0, at(0), nil, yes},
		{"no_at 1 is never unsure", 0.59, nil, at(1), no},
		{"where limits overlap it is yes", 0.5, at(0.3), at(0.7), yes},
		{"where limits meet it is yes", 0.5, at(0.5), at(0.5), yes},
		{"limits of 1 and 0", 0.999, at(1), at(0), unsure},
	} {
		l := prism.Lens{Columns: []prism.Column{{Name: "n", Question: "q", Show: prism.ShowAnswer, YesAt: c.yesAt, NoAt: c.noAt}}}
		got := apply(l, prism.Definition{}, prism.Answers{{Question: "q", Type: prism.YesNo, Probability: c.p}})
		if got[0] != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got[0], c.want)
		}
	}
}

func TestValuesAndLabelsAreOfTheVersionThatAnswered(t *testing.T) {
	t.Parallel()
	l := prism.Lens{Columns: []prism.Column{
		{Name: "mood", Question: "mood", Show: prism.ShowAnswer}, {Name: "average", Question: "mood", Show: prism.ShowAverage},
	}}
	older := definition()
	older.Questions[2].Levels = []prism.Level{
		{Key: "calm", Label: "Ruhig", Value: new(10.0)}, {Key: "tense", Label: "Angespannt", Value: new(20.0)}, {Key: "angry", Label: "Wütend", Value: new(40.0)},
	}
	short := definition()
	short.Questions[2].Levels = short.Questions[2].Levels[:2]
	asked := definition()
	asked.Questions[2] = prism.Question{Key: "mood", Type: prism.Choice, Options: []prism.Option{{Key: "angry", Label: "No level"}}}
	for _, c := range []struct {
		name    string
		version prism.Definition
		want    []prism.Cell
	}{
		{"its own values and labels", older, []prism.Cell{text("angry", "Wütend"), number(27.5)}},
		{"a level it lacks has no value, so there is no average", short, []prism.Cell{text("angry", "angry"), {}}},
		{"a question it lacks", prism.Definition{}, []prism.Cell{text("angry", "angry"), {}}},
		{"a question of another type", asked, []prism.Cell{text("angry", "angry"), {}}},
	} {
		if got := apply(l, c.version, answers()); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

func TestAnswersAreFoundInAnyOrder(t *testing.T) {
	t.Parallel()
	l := lens.Derive(definition())
	want := apply(l, definition(), answers())
	reversed := answers()
	slices.Reverse(reversed)
	if got := apply(l, definition(), reversed); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := apply(l, definition(), nil); !slices.Equal(got, make([]prism.Cell, len(l.Columns))) {
		t.Errorf("without answers: %+v", got)
	}
}

func TestAnAverageBeyondTheLargestNumberIsNull(t *testing.T) {
	t.Parallel()
	d := prism.Definition{Questions: []prism.Question{{Key: "q", Type: prism.Scale, Levels: []prism.Level{
		{Key: "a", Value: new(math.MaxFloat64)}, {Key: "b", Value: new(math.MaxFloat64)},
	}}}}
	l := prism.Lens{Columns: []prism.Column{{Name: "n", Question: "q", Show: prism.ShowAverage}}}
	got := apply(l, d, prism.Answers{{Question: "q", Type: prism.Scale, Chosen: "a", Probabilities: []prism.KeyProbability{
		{Key: "a", Probability: 0.9}, {Key: "b", Probability: 0.9},
	}}})
	if got[0] != (prism.Cell{}) {
		t.Errorf("got %+v", got[0])
	}
}

func TestAPlanAppendsToWhatItIsGiven(t *testing.T) {
	t.Parallel()
	l := lens.Derive(definition())
	before := number(42)
	got := lens.Compile(l, definition(), nil).Apply([]prism.Cell{before}, answers())
	if got[0] != before || !slices.Equal(got[1:], apply(l, definition(), answers())) {
		t.Errorf("got %+v", got)
	}
}

// wholeLens shows everything of every question, whether there is such a thing or not.
func wholeLens() prism.Lens {
	var l prism.Lens
	for _, q := range []string{"intent", "urgent", "mood", ""} {
		for _, s := range []prism.Show{prism.ShowAnswer, prism.ShowProbability, prism.ShowAverage, prism.ShowConfidence, ""} {
			for _, o := range []string{"", "refund", "angry"} {
				l.Columns = append(l.Columns, prism.Column{Name: "n", Question: q, Show: s, Option: o})
			}
		}
	}
	return l
}

func FuzzApply(f *testing.F) {
	f.Add(answerjson.Append(nil, answers()))
	f.Add([]byte(`{"mood":{"type":"scale","level":"","probabilities":{"calm":1e308,"tense":1e308,"angry":1e308}}}`))
	f.Add([]byte(`{"intent":{"type":"choice","value":"x","probabilities":{},"confidence":-1}}`))
	f.Add([]byte(`{"urgent":{"type":"later","share":[1,{"a":2}]},"":{"type":""}}`))
	f.Add([]byte(`{"mood":{"type":"yes_no","probability":1e-400}}`))
	plan, columns := lens.Compile(wholeLens(), definition(), nil), len(wholeLens().Columns)
	f.Fuzz(func(t *testing.T, stored []byte) {
		answers, err := answerjson.Parse(stored)
		if err != nil {
			return
		}
		cells := plan.Apply(nil, answers)
		if len(cells) != columns {
			t.Fatalf("%d cells for %d columns", len(cells), columns)
		}
		for _, c := range cells {
			if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
				t.Fatalf("%+v has no JSON form", c)
			}
			if c.Kind > prism.TextCell || (c.Kind != prism.TextCell && c.Key+c.Label != "") || (c.Kind != prism.NumberCell && c.Number != 0) {
				t.Fatalf("%+v is of two kinds", c)
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	plan, stored := lens.Compile(lens.Derive(definition()), definition(), nil), answers()
	var cells []prism.Cell
	b.ReportAllocs()
	for b.Loop() {
		cells = plan.Apply(cells[:0], stored)
	}
}

func BenchmarkCompile(b *testing.B) {
	l, d := lens.Derive(definition()), definition()
	b.ReportAllocs()
	for b.Loop() {
		lens.Compile(l, d, nil)
	}
}
