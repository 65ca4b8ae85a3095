package format

import (
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// uuid parses an id.
func uuid(t testing.TB, s string) prism.UUID {
	t.Helper()
	id, err := prism.ParseUUID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// ticket is a version with a question of each type.
func ticket() prism.Definition {
	return prism.Definition{
		Fields: []prism.Field{{Key: "subject"}, {Key: "body"}},
		Questions: []prism.Question{
			{
				Key: "intent", Type: prism.Choice, InsufficientInformation: true,
				Options: []prism.Option{{Key: "refund", Label: "Refund <&> return"}, {Key: "other", Label: "Other"}},
			},
			{Key: "urgent", Type: prism.YesNo},
			{
				Key: "mood", Type: prism.Scale,
				Levels: []prism.Level{
					{Key: "calm", Label: "Calm", Value: new(1.0)}, {Key: "tense", Label: "Tense", Value: new(2.0)}, {Key: "angry", Label: "Angry", Value: new(3.0)},
				},
			},
		},
	}
}

func ticketAnswers() prism.Answers {
	return prism.Answers{
		{
			Question: "intent", Type: prism.Choice, Chosen: "refund", Confidence: 0.625,
			Probabilities: []prism.KeyProbability{
				{Key: "refund", Probability: 0.75}, {Key: "other", Probability: 0.2499999}, {Key: "insufficient_information", Probability: 1e-7},
			},
		},
		{Question: "urgent", Type: prism.YesNo, Probability: 0.5},
		{
			Question: "mood", Type: prism.Scale, Chosen: "angry",
			Probabilities: []prism.KeyProbability{
				{Key: "calm", Probability: 0.25}, {Key: "tense", Probability: 0.25}, {Key: "angry", Probability: 0.5},
			},
		},
	}
}

func ticketTable() Table {
	return Table{Slug: "ticket", Lens: lens.Derive(ticket()), Latest: ticket()}
}

// answeredRow is a row and the definition of its version.
type answeredRow struct {
	Row
	Answered prism.Definition
	Pinned   lens.Pinned
}

// under is the row with the table's Lens prepared for its version.
func (r answeredRow) under(table Table) Row {
	r.Plan = NewPlan(table.Lens, r.Answered, r.Pinned)
	return r.Row
}

func okRow(t testing.TB) answeredRow {
	t.Helper()
	ref := "order 66"
	return answeredRow{
		Row: Row{Result: prism.Result{
			ID:        prism.ResultID{UUID: uuid(t, "0190b5a8-7c00-7000-8000-00000000002a")},
			Version:   3,
			Ref:       &ref,
			Fields:    []prism.FieldValue{{Key: "subject", Value: "Money <b>back</b> & now"}, {Key: "body", Value: "It broke."}},
			Status:    prism.OK,
			TookMS:    1234,
			CreatedAt: time.Date(2026, 11, 21, 9, 13, 5, 70*int(time.Millisecond), time.UTC),
			Answers:   answerjson.Append(nil, ticketAnswers()),
		}},
		Answered: ticket(),
	}
}

func failedRow(t testing.TB) answeredRow {
	t.Helper()
	r := okRow(t)
	r.Result.Ref, r.Result.Status, r.Result.Answers = nil, prism.Failed, nil
	r.Result.TookMS, r.Result.Error = 15_000, "The model did not answer within 15 seconds."
	return r
}

// editedLens has a column for everything that can be shown, with other names and another order than the questions.
func editedLens() prism.Lens {
	yesAt, noAt := 0.5, 0.25
	return prism.Lens{Columns: []prism.Column{
		{Name: "Mood 1-3", Question: "mood", Show: prism.ShowAverage},
		{Name: "Mood", Question: "mood", Show: prism.ShowAnswer},
		{Name: "P.angry", Question: "mood", Show: prism.ShowProbability, Option: "angry"},
		{Name: "P.mood", Question: "mood", Show: prism.ShowProbability},
		{Name: "Urgent", Question: "urgent", Show: prism.ShowAnswer, YesAt: &yesAt, NoAt: &noAt},
		{Name: "P.none", Question: "intent", Show: prism.ShowProbability, Option: "insufficient_information"},
		{Name: "Sure", Question: "intent", Show: prism.ShowConfidence},
		{Name: "added later", Question: "language", Show: prism.ShowAnswer},
		{Name: "option added later", Question: "intent", Show: prism.ShowProbability, Option: "complaint"},
	}}
}

// awkward is texts that some format must escape or replace, by their difficulty.
var awkward = []struct{ name, text string }{
	{"comma", "a,b"},
	{"quote", `say "hi"`},
	{"CR", "a\rb"},
	{"LF", "a\nb"},
	{"CRLF", "a\r\nb"},
	{"tab", "a\tb"},
	{"leading space", " a"},
	{"equals", "=1+1"},
	{"plus", "+1"},
	{"minus", "-1"},
	{"at", "@SUM(A1)"},
	{"emoji", "👩‍🚀 ok"},
	{"line separators", "a\u2028b\u2029c"},
	{"markup", "<a href='x'>&amp;</a>\\"},
	{"empty", ""},
}

// awkwardRows has each awkward text as ref, as field value and as label of the answer. Each row has a version of its own,
// because labels never change within a version.
func awkwardRows(t testing.TB) []answeredRow {
	t.Helper()
	rows := make([]answeredRow, len(awkward))
	for i, a := range awkward {
		r := okRow(t)
		r.Result.Version = int32(i + 1)
		r.Result.Ref = &a.text
		r.Result.Fields = []prism.FieldValue{{Key: "subject", Value: a.text}, {Key: "body", Value: a.name}}
		r.Answered.Questions[0].Options[0].Label = a.text
		r.Answered.Questions[2].Levels[2].Label = a.text
		rows[i] = r
	}
	return rows
}
