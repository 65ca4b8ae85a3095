package foreign_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/foreign"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: adhoc-names
func TestAnswersHaveTheNamesOfTheCall(t *testing.T) {
	t.Parallel()
	questions := foreign.Questions(prism.Definition{Questions: []prism.Question{
		{Key: "q1", Type: prism.Choice, Text: "What?", Options: []prism.Option{{Key: "o1", Label: "true"}, {Key: "o2", Label: "true"}}},
		{Key: "q2", Type: prism.YesNo, Text: "Is it?"},
		{Key: "q3", Type: prism.Scale, Text: "How?", Levels: []prism.Level{{Key: "o1", Label: "Low: d"}, {Key: "o2", Label: "Up"}}},
	}})
	answers := prism.Answers{
		{Question: "q1", Type: prism.Choice, Chosen: "o2", Probabilities: []prism.KeyProbability{{Key: "o1", Probability: 0.25}, {Key: "o2", Probability: 0.75}}},
		{Question: "q2", Type: prism.YesNo, Probability: 0.5},
		{Question: "q3", Type: prism.Scale, Chosen: "o2", Probabilities: []prism.KeyProbability{{Key: "o1", Probability: 0}, {Key: "o2", Probability: 1}}},
	}
	for _, c := range []struct {
		name   string
		format api.Format
		names  foreign.Names
		want   string
	}{
		{
			"a decision", api.Decisions,
			foreign.Names{{Name: new("a \"b\""), Values: []string{`"true"`, `true`}}, {}, {Name: new("s"), Values: []string{`"Low"`, `"Up"`}}},
			`{"answers":[{"type":"choice","name":"a \"b\"","choice":true,"confidence":0.5,"probabilities":[{"value":"true","probability":0.25},{"value":true,"probability":0.75}]},` +
				`{"type":"predicate","name":null,"probability":0.5},` +
				`{"type":"score","name":"s","score":1,"confidence":1,"probabilities":[{"label":"Low","value":0,"probability":0},{"label":"Up","value":1,"probability":1}]}],`,
		},
		{
			"System One", api.SystemOne,
			foreign.Names{{Name: new("a"), Values: []string{`"A b"`, `"\u00c4"`}}, {Name: new("")}, {Name: new("s"), Values: []string{`"Low"`, `{"x": 1}`}}},
			`{"model":"m","answers":{"a":{"type":"choice","choice":"Ä","confidence":0.5,"probabilities":{"A b":0.25,"Ä":0.75}},"":{"type":"noul","noul":0.5},` +
				`"s":{"type":"score","score":1,"confidence":1,"legend":{"0":"Low","1":{"x": 1}},"probabilities":{"0":0,"1":1}}},`,
		},
		{
			"without names", api.SystemOne, nil,
			`{"model":"m","answers":{"q1":{"type":"choice","choice":"o2","confidence":0.5,"probabilities":{"o1":0.25,"o2":0.75}},"q2":{"type":"noul","noul":0.5},` +
				`"q3":{"type":"score","score":1,"confidence":1,"legend":{"0":"Low: d","1":"Up"},"probabilities":{"0":0,"1":1}}},`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := string(foreign.Append(nil, c.format, questions, foreign.Answered{Model: "m", Answers: answers, Names: c.names}))
			if len(got) < len(c.want) || got[:len(c.want)] != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
