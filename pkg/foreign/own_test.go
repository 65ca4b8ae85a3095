package foreign_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/foreign"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: own-questions
func TestQuestionsAreOwnInTheWordsOfAFormat(t *testing.T) {
	t.Parallel()
	d := prism.Definition{Instructions: "Be strict.", Questions: []prism.Question{
		{Key: "about", Type: prism.Choice, Text: "What?", Options: []prism.Option{{Key: "a", Label: "A", Description: "Aa"}, {Key: "b", Label: "B"}}},
		{Key: "spam", Type: prism.YesNo, Text: "Is it?"},
		{Key: "mood", Type: prism.Scale, Text: "How?", Levels: []prism.Level{{Key: "x", Label: "X"}, {Key: "y", Label: "Y"}}},
	}}
	const (
		choice = `{"type":"choice","name":"about","instructions":"What?","choices":[{"value":"a","description":"A: Aa"},{"value":"b"}]}`
		spam   = `{"type":"predicate","instructions":"Be strict.\n\nIs it?"}`
		mood   = `{"type":"score","name":"mood","instructions":"How?","levels":[{"label":"X","description":"X"},{"label":"Y"}]}`
	)
	for _, c := range []struct {
		name   string
		format api.Format
		sent   string
		want   bool
	}{
		{"the same", api.Decisions, `[` + choice + `,` + spam + `,` + mood + `]`, true},
		{"another order", api.Decisions, `[` + spam + `,` + choice + `,` + mood + `]`, false},
		{"one less", api.Decisions, `[` + choice + `,` + spam + `]`, false},
		{"another name", api.Decisions, `[` + choice + `,{"type":"predicate","name":"ham","instructions":"Is it?"},` + mood + `]`, false},
		{"another type", api.Decisions, `[` + choice + `,{"type":"score","instructions":"Is it?"},` + mood + `]`, false},
		{"another text", api.Decisions, `[` + choice + `,{"type":"predicate","instructions":"Is it not?"},` + mood + `]`, false},
		{"a boolean", api.Decisions, `[{"type":"choice","name":"about","instructions":"What?","choices":[{"value":true},{"value":"b"}]},` + spam + `,` + mood + `]`, false},
		{"another description", api.Decisions, `[{"type":"choice","name":"about","instructions":"What?","choices":[{"value":"a","description":"C"},{"value":"b"}]},` + spam + `,` + mood + `]`, false},
		{"another label", api.Decisions, `[` + choice + `,` + spam + `,{"type":"score","name":"mood","instructions":"How?","levels":[{"label":"Y"},{"label":"X"}]}]`, false},
		{"no questions", api.Decisions, `[1]`, false},
		{
			"System One in any order", api.SystemOne,
			`{"spam":{"type":"noul","instructions":"Is it?"},"mood":{"type":"score","instructions":"How?","criteria":["X","Y"]},` +
				`"about":{"type":"choice","instructions":"What?","criteria":{"b":null,"a":"Aa"}}}`, true,
		},
		{
			"System One with criteria of a noul", api.SystemOne,
			`{"spam":{"type":"noul","instructions":"Is it?","criteria":{"true":"yes"}},"mood":{"type":"score","instructions":"How?","criteria":["X","Y"]},` +
				`"about":{"type":"choice","instructions":"What?","criteria":{"b":null,"a":"Aa"}}}`, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := foreign.AreOwn(c.format, []byte(c.sent), d); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
