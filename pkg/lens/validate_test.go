package lens_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// definition has a question of each type and the fields subject and body.
func definition() prism.Definition {
	return prism.Definition{
		Fields: []prism.Field{{Key: "subject"}, {Key: "body"}},
		Questions: []prism.Question{
			{
				Key: "intent", Type: prism.Choice, InsufficientInformation: true,
				Options: []prism.Option{{Key: "refund", Label: "Refund"}, {Key: "other", Label: "Other"}},
			},
			{Key: "urgent", Type: prism.YesNo},
			{Key: "mood", Type: prism.Scale, Levels: []prism.Level{
				{Key: "calm", Label: "Calm", Value: new(1.0)}, {Key: "tense", Label: "Tense", Value: new(2.0)}, {Key: "angry", Value: new(4.0)},
			}},
			{Key: "about", Type: prism.Tags, Options: []prism.Option{{Key: "price", Label: "The price"}, {Key: "staff"}, {Key: "vip", Label: "VIP"}}},
		},
	}
}

func at(f float64) *float64 { return &f }

// say writes problems as the error message does.
func say(problems []apierr.Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.Path + ": " + p.Text
	}
	return strings.Join(lines, "; ")
}

func TestTheDerivedLensHasAnAnswerAndANumberForEachQuestion(t *testing.T) {
	t.Parallel()
	want := []prism.Column{
		{Name: "intent", Question: "intent", Show: prism.ShowAnswer},
		{Name: "intent_probability", Question: "intent", Show: prism.ShowProbability},
		{Name: "urgent", Question: "urgent", Show: prism.ShowAnswer},
		{Name: "urgent_probability", Question: "urgent", Show: prism.ShowProbability},
		{Name: "mood", Question: "mood", Show: prism.ShowAnswer},
		{Name: "mood_average", Question: "mood", Show: prism.ShowAverage},
		{Name: "about", Question: "about", Show: prism.ShowAnswer},
	}
	if got := lens.Derive(definition()).Columns; !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// spec: lens-columns
func TestEachRuleOfALensIsRefusedAtItsPath(t *testing.T) {
	t.Parallel()
	const (
		shows    = "Expected 'answer' | 'probability' | 'average' | 'confidence' | 'count'"
		name     = "columns.0.name: must match ^[A-Za-z0-9_ .-]{1,64}$"
		taken    = "columns.0.name: must be unique in a row"
		option   = "columns.0.option: only for 'probability' of a choice or scale question"
		unknown  = "columns.0.option: Unknown option"
		yesAt    = "columns.0.yes_at: only for 'answer' of a yes_no question"
		noAt     = "columns.0.no_at: only for 'answer' of a yes_no question"
		question = "columns.0.question: Unknown question"
	)
	type col = prism.Column
	for _, c := range []struct {
		name   string
		column col
		want   string
	}{
		{"answer of a choice", col{Name: "n", Question: "intent", Show: "answer"}, ""},
		{"answer of a tags", col{Name: "n", Question: "about", Show: "answer", YesAt: at(0.3)}, ""},
		{"count of a tags", col{Name: "n", Question: "about", Show: "count", YesAt: at(1)}, ""},
		{"probability of an option of a tags", col{Name: "n", Question: "about", Show: "probability", Option: "vip"}, ""},
		{"probability of a tags", col{Name: "n", Question: "about", Show: "probability"}, "columns.0.option: Required"},
		{"an unknown option of a tags", col{Name: "n", Question: "about", Show: "probability", Option: "x"}, unknown},
		{"average of a tags", col{Name: "n", Question: "about", Show: "average"}, "columns.0.show: Expected 'answer' | 'probability' | 'count'"},
		{"confidence of a tags", col{Name: "n", Question: "about", Show: "confidence"}, "columns.0.show: Expected 'answer' | 'probability' | 'count'"},
		{"count of a choice", col{Name: "n", Question: "intent", Show: "count"}, "columns.0.show: Expected 'answer' | 'probability' | 'confidence'"},
		{
			"yes_at of the probability of a tags",
			col{Name: "n", Question: "about", Show: "probability", Option: "vip", YesAt: at(0.5)},
			"columns.0.yes_at: only for 'answer' | 'count' of a tags question",
		},
		{"no_at of a tags", col{Name: "n", Question: "about", Show: "answer", NoAt: at(0.5)}, noAt},
		{"yes_at of a tags above 1", col{Name: "n", Question: "about", Show: "count", YesAt: at(1.1)}, "columns.0.yes_at: Number must be less than or equal to 1"},
		{"answer of a yes_no", col{Name: "n", Question: "urgent", Show: "answer"}, ""},
		{"answer of a scale", col{Name: "n", Question: "mood", Show: "answer"}, ""},
		{"probability of a choice", col{Name: "n", Question: "intent", Show: "probability"}, ""},
		{"probability of a yes_no", col{Name: "n", Question: "urgent", Show: "probability"}, ""},
		{"probability of a scale", col{Name: "n", Question: "mood", Show: "probability"}, ""},
		{"average of a scale", col{Name: "n", Question: "mood", Show: "average"}, ""},
		{"confidence of a choice", col{Name: "n", Question: "intent", Show: "confidence"}, ""},
		{"average of a choice", col{Name: "n", Question: "intent", Show: "average"}, "columns.0.show: Expected 'answer' | 'probability' | 'confidence'"},
		{"average of a yes_no", col{Name: "n", Question: "urgent", Show: "average"}, "columns.0.show: Expected 'answer' | 'probability'"},
		{"confidence of a yes_no", col{Name: "n", Question: "urgent", Show: "confidence"}, "columns.0.show: Expected 'answer' | 'probability'"},
		// spec: show-confidence
		{"confidence of a scale", col{Name: "n", Question: "mood", Show: "confidence"}, "columns.0.show: Expected 'answer' | 'probability' | 'average'"},
		{"unknown show", col{Name: "n", Question: "mood", Show: "SECRET"}, "columns.0.show: " + shows},
		{"empty show", col{Name: "n", Question: "mood"}, "columns.0.show: " + shows},
		{"show in capitals", col{Name: "n", Question: "mood", Show: "Answer"}, "columns.0.show: " + shows},

		// spec: lens-column-names
		{"name of 64 characters", col{Name: strings.Repeat("n", 64), Question: "mood", Show: "answer"}, ""},
		// spec: lens-column-names
		{"name of 65 characters", col{Name: strings.Repeat("n", 65), Question: "mood", Show: "answer"}, name},
		// spec: lens-column-names
		{"empty name", col{Question: "mood", Show: "answer"}, name},
		{"name of every allowed kind", col{Name: "aZ09_ .-", Question: "mood", Show: "answer"}, ""},
		// spec: lens-column-names
		{"name with a comma", col{Name: "a,b", Question: "mood", Show: "answer"}, name},
		{"name with a quote", col{Name: `a"`, Question: "mood", Show: "answer"}, name},
		{"name with a letter beyond ASCII", col{Name: "Stimmung für", Question: "mood", Show: "answer"}, name},
		{"name with a line end", col{Name: "a\n", Question: "mood", Show: "answer"}, name},
		{"name of a field", col{Name: "subject", Question: "mood", Show: "answer"}, taken},
		{"name in other letters than a field", col{Name: "Subject", Question: "mood", Show: "answer"}, ""},

		{"unknown question", col{Name: "n", Question: "SECRET", Show: "answer"}, question},
		{"unknown question with an average", col{Name: "n", Question: "SECRET", Show: "average"}, question},
		{"unknown question and show", col{Name: "n", Question: "SECRET", Show: "SECRET"}, question + "; columns.0.show: " + shows},

		{"option of a choice", col{Name: "n", Question: "intent", Show: "probability", Option: "other"}, ""},
		{"insufficient information", col{Name: "n", Question: "intent", Show: "probability", Option: "insufficient_information"}, ""},
		{"level of a scale", col{Name: "n", Question: "mood", Show: "probability", Option: "angry"}, ""},
		{"unknown option", col{Name: "n", Question: "intent", Show: "probability", Option: "SECRET"}, unknown},
		{"unknown level", col{Name: "n", Question: "mood", Show: "probability", Option: "refund"}, unknown},
		{"option of a yes_no", col{Name: "n", Question: "urgent", Show: "probability", Option: "yes"}, option},
		{"option with an answer", col{Name: "n", Question: "intent", Show: "answer", Option: "other"}, option},
		{"option with an average", col{Name: "n", Question: "mood", Show: "average", Option: "angry"}, option},
		{"option with a confidence", col{Name: "n", Question: "intent", Show: "confidence", Option: "other"}, option},
		{"option of an unknown question", col{Name: "n", Question: "SECRET", Show: "probability", Option: "SECRET"}, question},

		{"limits", col{Name: "n", Question: "urgent", Show: "answer", YesAt: at(1), NoAt: at(0)}, ""},
		{"limits that overlap", col{Name: "n", Question: "urgent", Show: "answer", YesAt: at(0.1), NoAt: at(0.9)}, ""},
		{"yes_at below 0", col{Name: "n", Question: "urgent", Show: "answer", YesAt: at(-0.1)}, "columns.0.yes_at: Number must be greater than or equal to 0"},
		{"no_at above 1", col{Name: "n", Question: "urgent", Show: "answer", NoAt: at(1.1)}, "columns.0.no_at: Number must be less than or equal to 1"},
		{"yes_at that is no number", col{Name: "n", Question: "urgent", Show: "answer", YesAt: at(math.NaN())}, "columns.0.yes_at: Number must be greater than or equal to 0"},
		{"limits of a probability", col{Name: "n", Question: "urgent", Show: "probability", YesAt: at(2), NoAt: at(0)}, yesAt + "; " + noAt},
		{"limits of a choice", col{Name: "n", Question: "intent", Show: "answer", YesAt: at(1)}, yesAt},
		{"limits of a scale", col{Name: "n", Question: "mood", Show: "answer", NoAt: at(1)}, noAt},
		{"limits of an unknown question", col{Name: "n", Question: "SECRET", Show: "answer", YesAt: at(2)}, question + "; columns.0.yes_at: Number must be less than or equal to 1"},

		{
			"everything at once",
			col{Name: "ref\x00", Question: "SECRET", Show: "SECRET", Option: "SECRET", YesAt: at(-1), NoAt: at(2)},
			name + "; " + question + "; columns.0.show: " + shows +
				"; columns.0.yes_at: Number must be greater than or equal to 0; columns.0.no_at: Number must be less than or equal to 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := say(lens.Validate(prism.Lens{Columns: []col{c.column}}, definition(), ""))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if strings.Contains(got, "SECRET") {
				t.Error("a value that was sent is repeated")
			}
		})
	}
}

// spec: names-in-a-row
func TestReservedNamesAreTakenInEveryRow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"result_id", "ref", "version", "status", "error", "created_at"} {
		l := prism.Lens{Columns: []prism.Column{{Name: name, Question: "mood", Show: prism.ShowAnswer}}}
		if got := say(lens.Validate(l, definition(), "lens.")); got != "lens.columns.0.name: must be unique in a row" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestASecondColumnOfANameIsTheOneRefused(t *testing.T) {
	t.Parallel()
	column := prism.Column{Name: "n", Question: "mood", Show: prism.ShowAnswer}
	l := prism.Lens{Columns: []prism.Column{column, {Name: "m", Question: "mood", Show: prism.ShowAnswer}, column, column}}
	want := "lens.columns.2.name: must be unique in a row; lens.columns.3.name: must be unique in a row"
	if got := say(lens.Validate(l, definition(), "lens.")); got != want {
		t.Errorf("got %s", got)
	}
}

// spec: lens-columns
func TestALensHasOneTo200Columns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns int
		want    string
	}{
		{0, "columns: Array must contain at least 1 element(s)"},
		{1, ""},
		{200, ""},
		{201, "columns: Array must contain at most 200 element(s)"},
		{100_000, "columns: Array must contain at most 200 element(s)"},
	} {
		var l prism.Lens
		for i := range c.columns {
			l.Columns = append(l.Columns, prism.Column{Name: fmt.Sprint(i), Question: "mood", Show: prism.ShowAnswer})
		}
		if got := say(lens.Validate(l, definition(), "")); got != c.want {
			t.Errorf("%d columns: %s", c.columns, got)
		}
	}
}

// spec: names-in-a-row
func TestADerivedLensThatClashesIsRefusedOnceAtLens(t *testing.T) {
	t.Parallel()
	const unique, long = "lens: must be unique in a row", "lens: String must contain at most 64 character(s)"
	yesNo := func(keys ...string) (d prism.Definition) {
		d.Fields = []prism.Field{{Key: "text"}, {Key: "mood_probability"}}
		for _, k := range keys {
			d.Questions = append(d.Questions, prism.Question{Key: k, Type: prism.YesNo})
		}
		return d
	}
	scale := yesNo("mood", "mood_average")
	scale.Questions[0].Type = prism.Scale
	for _, c := range []struct {
		name string
		d    prism.Definition
		want string
	}{
		{"no clash", yesNo("a", "b"), ""},
		{"a question named like a field", yesNo("text"), unique},
		{"a question named like a reserved column", yesNo("status"), unique},
		{"a probability named like a field", yesNo("mood"), unique},
		{"a question named like another's probability", yesNo("a", "a_probability"), unique},
		{"the same in the other order", yesNo("a_probability", "a"), unique},
		{"a question named like another's average", scale, unique},
		{"several clashes are one problem", yesNo("text", "status", "ref"), unique},
		{"a key of 52 characters", yesNo(strings.Repeat("k", 52)), ""},
		{"a key of 53 characters", yesNo(strings.Repeat("k", 53)), long},
		{"too long and clashing", yesNo(strings.Repeat("k", 64), "text"), long + "; " + unique},
	} {
		if got := say(lens.ValidateDerived(c.d)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// anyDefinition draws definitions with few, short keys, so that names clash often.
func anyDefinition(t *rapid.T) prism.Definition {
	key := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b", "a_probability", "a_average", "ref", "error"}),
		rapid.StringMatching(`[a-z][a-z0-9_]{0,63}`),
	)
	var d prism.Definition
	for _, k := range rapid.SliceOfNDistinct(key, 1, 5, rapid.ID).Draw(t, "fields") {
		d.Fields = append(d.Fields, prism.Field{Key: k})
	}
	for _, k := range rapid.SliceOfNDistinct(key, 1, 64, rapid.ID).Draw(t, "questions") {
		q := prism.Question{Key: k, Type: rapid.SampledFrom([]prism.QuestionType{prism.Choice, prism.YesNo, prism.Scale, prism.Tags}).Draw(t, "type")}
		switch q.Type {
		case prism.Choice, prism.Tags:
			q.Options = []prism.Option{{Key: "x", Label: "X"}, {Key: "y", Label: "Y"}}
		case prism.Scale:
			q.Levels = []prism.Level{{Key: "x", Label: "X", Value: new(1.0)}, {Key: "y", Label: "Y", Value: new(2.0)}}
		case prism.YesNo:
		}
		d.Questions = append(d.Questions, q)
	}
	return d
}

func TestADerivedLensIsEitherValidOrRefusedAtLens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := anyDefinition(t)
		refused := lens.ValidateDerived(d)
		problems := lens.Validate(lens.Derive(d), d, "")
		if (len(refused) == 0) != (len(problems) == 0) {
			t.Fatalf("derived: %s; sent: %s", say(refused), say(problems))
		}
		for i, p := range refused {
			if p.Path != "lens" || slices.Contains(refused[:i], p) {
				t.Fatal(say(refused))
			}
		}
	})
}

func TestALensOfUnknownQuestionsIsStillCheckedByItself(t *testing.T) {
	t.Parallel()
	l := prism.Lens{Columns: []prism.Column{{Name: "ref", Question: "mood", Show: prism.ShowProbability, Option: "good"}}}
	if got := say(lens.Validate(l, prism.Definition{}, "")); got != "columns.0.name: must be unique in a row" {
		t.Error(got)
	}
}

func BenchmarkValidate(b *testing.B) {
	d := definition()
	l := lens.Derive(d)
	b.ReportAllocs()
	for b.Loop() {
		if problems := lens.Validate(l, d, "lens"); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
