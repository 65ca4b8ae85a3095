package request_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

const ofExamples = `"slug":"s","fields":[{"key":"a"},{"key":"b"}],"questions":[{"key":"q","type":"yes_no","text":"?"},` +
	`{"key":"c","type":"choice","text":"?","options":[{"key":"x","label":"The X"},{"key":"y","label":"Y"}]},` +
	`{"key":"l","type":"scale","text":"?","levels":[{"key":"low","label":"Low"},{"key":"up","label":"Up"}]}]}`

// spec: version-examples
func TestExamplesAreRead(t *testing.T) {
	t.Parallel()
	const full = `{"fields":{"b":"2","a":"1"},"answers":{"c":"x"}}`
	for name, c := range map[string]struct{ examples, want, problem string }{
		"none":                   {`[]`, ``, ``},
		"null":                   {`null`, ``, ``},
		"in the version's order": {`[` + full + `]`, `[{"fields":{"a":"1","b":"2"},"answers":{"c":"x"}}]`, ``},
		"labels of each type": {
			`[{"answers":{"l":2,"l":"up","c":"The X","q":true},"fields":{"a":"","b":"\u0041"},"more":[{}]}]`,
			`[{"fields":{"a":"","b":"A"},"answers":{"q":true,"c":"x","l":"up"}}]`, ``,
		},
		"labels as texts": {`[{"fields":{"a":"1","b":"2"},"answers":{"q":"no","l":"LOW"}}]`, `[{"fields":{"a":"1","b":"2"},"answers":{"q":false,"l":"low"}}]`, ``},
		"a result": {
			`[{"fields":{"a":"1","b":"2"},"answers":{"q":true},"result_id":"` + anID + `"}]`,
			`[{"fields":{"a":"1","b":"2"},"answers":{"q":true},"result_id":"` + anID + `"}]`, ``,
		},
		"no list":           {`{}`, ``, `examples: Expected array, received object`},
		"no object":         {`[1]`, ``, `examples.0: Expected object, received number`},
		"nothing in it":     {`[{}]`, ``, `examples.0.fields: Required; examples.0.answers: Required`},
		"too many":          {`[` + strings.Repeat(full+`,`, 40) + full + `]`, ``, `examples: Array must contain at most 40 element(s)`},
		"a missing field":   {`[` + full + `,{"fields":{"a":"1"},"answers":{"q":true}}]`, ``, `examples.1.fields.b: Required`},
		"an unknown field":  {`[{"fields":{"a":"1","b":"2","z":"3"},"answers":{"q":true}}]`, ``, `examples.0.fields.z: Unknown field`},
		"no text":           {`[{"fields":{"a":1,"b":["x"]},"answers":{"q":true}}]`, ``, `examples.0.fields.a: Expected string, received number; examples.0.fields.b: Expected string, received array`},
		"an unclean text":   {`[{"fields":{"a":"\u0000","b":""},"answers":{"q":true}}]`, ``, `examples.0.fields.a: ` + unclean},
		"an unclean name":   {`[{"fields":{"a":"","b":"","c\u0000":""},"answers":{"q":true,"\ud800":true}}]`, ``, `examples.0.fields: ` + unclean + `; examples.0.answers: ` + unclean},
		"no answers":        {`[{"fields":{"a":"1","b":"2"},"answers":{}}]`, ``, `examples.0.answers: send at least one answer`},
		"an unknown one":    {`[{"fields":{"a":"1","b":"2"},"answers":{"z":true}}]`, ``, `examples.0.answers.z: Unknown question`},
		"no label":          {`[{"fields":{"a":"1","b":"2"},"answers":{"c":"z","q":1,"l":null}}]`, ``, `examples.0.answers.c: Expected 'x' | 'y'; examples.0.answers.q: Expected a label, received number; examples.0.answers.l: Expected a label, received null`},
		"a list of no tags": {`[{"fields":{"a":"1","b":"2"},"answers":{"c":[ "x" ]}}]`, ``, `examples.0.answers.c: Expected 'x' | 'y'`},
		"no id":             {`[{"fields":{"a":"1","b":"2"},"answers":{"q":true},"result_id":"x"}]`, ``, `examples.0.result_id: Invalid uuid`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parsedBody(api.CreatePrism, `{"examples":`+c.examples+`,`+ofExamples)
			if c.problem != "" {
				wantProblems(t, err, c.problem)
				return
			}
			text, _ := json.Marshal(got.Examples)
			if err != nil || string(text) != c.want && (c.want != "" || got.Examples != nil) {
				t.Errorf("got %s, %v", text, err)
			}
		})
	}
}

// spec: version-examples
func TestExamplesOfABrokenDefinitionAreNotComparedWithIt(t *testing.T) {
	t.Parallel()
	_, err := parsedBody(api.CreatePrism, `{"slug":"s","fields":[{"key":"A"}],"questions":[{"key":"q","type":"yes_no","text":""}],`+
		`"examples":[{"fields":{"z":"1"},"answers":{"z":true}}]}`)
	wantProblems(t, err, "fields.0.key: must match ^[a-z][a-z0-9_]{0,63}$; questions.0.text: String must contain at least 1 character(s)")
}

// spec: version-examples
func TestTheBytesOfAllExamplesHaveABound(t *testing.T) {
	t.Parallel()
	const overhead = len(`[{"fields":{"a":"","b":"é\n"},"answers":{"q":true}},{"fields":{"a":"","b":""},"answers":{"q":true}},{"fields":{"a":"","b":""},"answers":{"q":true}}]`)
	body := func(more int) string {
		third := func(n int, b string) string {
			return `{"fields":{"b":"` + b + `", "a":"` + strings.Repeat("x", n) + `"},"answers":{"q":"yes"}}`
		}
		rest := prism.MaxExampleBytes - overhead + more - 2*100_000
		return `{"examples":[` + third(rest, `\u00e9\n`) + `,` + third(100_000, "") + `,` + third(100_000, "") + `],` + ofExamples
	}
	if _, err := parsedBody(api.CreatePrism, body(0)); err != nil {
		t.Error(err)
	}
	_, err := parsedBody(api.CreatePrism, body(1))
	wantProblems(t, err, "examples: must have at most 262144 bytes of JSON together")
}

// spec: examples-from-labels
func TestExamplesFromLabelsAreRead(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]api.ExamplesFromLabels{
		`{"question":"c","n":1}`:                      {Question: "c", N: 1},
		`{"question":"c","n":40,"seed":2147483647}`:   {Question: "c", N: 40, Seed: 2147483647},
		`{"question":"none of it","n":2,"seed":null}`: {Question: "none of it", N: 2}, // which results says
	} {
		got, err := parsedBody(api.CreateVersion, `{"examples":null,"examples_from_labels":`+sent+`,`+ofExamples, "prism", "p")
		if err != nil || got.ExamplesFromLabels == nil || *got.ExamplesFromLabels != want {
			t.Errorf("%s: %+v, %v", sent, got.ExamplesFromLabels, err)
		}
	}
	for members, want := range map[string]string{
		`"examples_from_labels":{}`:                                   "examples_from_labels.question: Required; examples_from_labels.n: Required",
		`"examples_from_labels":1`:                                    "examples_from_labels: Expected object, received number",
		`"examples_from_labels":{"question":1,"n":0,"seed":-1}`:       "examples_from_labels.question: Expected string, received number; examples_from_labels.n: Number must be greater than or equal to 1; examples_from_labels.seed: Number must be greater than or equal to 0",
		`"examples_from_labels":{"question":"c","n":41}`:              "examples_from_labels.n: Number must be less than or equal to 40",
		`"examples":[],"examples_from_labels":{"question":"c","n":1}`: "examples_from_labels: must not be sent with examples",
		`"examples_from_labels":null`:                                 "",
	} {
		got, err := parsedBody(api.CreateVersion, `{`+members+`,`+ofExamples, "prism", "p")
		if want != "" {
			wantProblems(t, err, want)
		} else if err != nil || got.ExamplesFromLabels != nil {
			t.Errorf("%s: %+v, %v", members, got.ExamplesFromLabels, err)
		}
	}
}
