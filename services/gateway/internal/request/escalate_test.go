package request_test

import (
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

const slugForm = "must match ^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$"

// spec: escalate-of-a-version, validation-of-definitions
func TestAnEscalationIsRead(t *testing.T) {
	t.Parallel()
	const rest = `"slug":"s","fields":[{"key":"f"}],"questions":[{"key":"q","type":"yes_no","text":"?"},{"key":"r","type":"yes_no","text":"?"}]`
	for name, c := range map[string]struct {
		members string
		want    *prism.Escalate
		problem string
	}{
		"none":                     {`{` + rest, nil, ""},
		"null":                     {`{"escalate":null,` + rest, nil, ""},
		"a bound":                  {`{"escalate":{"to":"strong","below":0.6},` + rest, &prism.Escalate{To: "strong", Below: 0.6}, ""},
		"the largest bound":        {`{"escalate":{"to":"strong","below":1,"questions":null},` + rest, &prism.Escalate{To: "strong", Below: 1}, ""},
		"questions":                {`{"escalate":{"to":"strong","below":0.6,"questions":["r","q"]},"model":"fast",` + rest, &prism.Escalate{To: "strong", Below: 0.6, Questions: []string{"r", "q"}}, ""},
		"members that are unknown": {`{"escalate":{"to":"strong","below":0.6,"above":7},` + rest, &prism.Escalate{To: "strong", Below: 0.6}, ""},
		"no object":                {`{"escalate":"strong",` + rest, nil, "escalate: Expected object, received string"},
		"nothing in it":            {`{"escalate":{},` + rest, nil, "escalate.to: Required; escalate.below: Required"},
		"no name of a model":       {`{"escalate":{"to":"A","below":0.6},` + rest, nil, "escalate.to: " + slugForm},
		"the version's own model":  {`{"escalate":{"to":"fast","below":0.6},"model":"fast",` + rest, nil, "escalate.to: must be another model than the version's"},
		"no number":                {`{"escalate":{"to":"strong","below":"0.6"},` + rest, nil, "escalate.below: Expected number, received string"},
		"zero":                     {`{"escalate":{"to":"strong","below":0},` + rest, nil, "escalate.below: Number must be greater than 0"},
		"less than zero":           {`{"escalate":{"to":"strong","below":-0.1},` + rest, nil, "escalate.below: Number must be greater than 0"},
		"above one":                {`{"escalate":{"to":"strong","below":1.001},` + rest, nil, "escalate.below: Number must be less than or equal to 1"},
		"no questions":             {`{"escalate":{"to":"strong","below":0.6,"questions":[]},` + rest, nil, "escalate.questions: Array must contain at least 1 element(s)"},
		"an unknown question":      {`{"escalate":{"to":"strong","below":0.6,"questions":["q","f"]},` + rest, nil, "escalate.questions.1: Unknown question"},
		"a question twice":         {`{"escalate":{"to":"strong","below":0.6,"questions":["q","r","q"]},` + rest, nil, "escalate.questions.2: must be unique"},
		"a question that is no text": {
			`{"escalate":{"to":"strong","below":0.6,"questions":[1]},` + rest, nil, "escalate.questions.0: Expected string, received number",
		},
		"behind the questions, before the Lens": {
			`{"escalate":{"to":"strong","below":2},"lens":{"columns":[{"name":"a","question":"x","show":"answer"}]},` + rest, nil,
			"escalate.below: Number must be less than or equal to 1; lens.columns.0.question: Unknown question",
		},
		"questions with a problem are not compared": {
			`{"escalate":{"to":"strong","below":0.6,"questions":["x"]},"slug":"s","fields":[{"key":"f"}],"questions":[{"key":"q","type":"yes_no","text":""}]`,
			nil, "questions.0.text: String must contain at least 1 character(s)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parsedBody(api.CreatePrism, c.members+`}`)
			if c.problem != "" {
				wantProblems(t, err, c.problem)
				return
			}
			if err != nil || !reflect.DeepEqual(got.Escalate, c.want) {
				t.Errorf("got %+v, %v", got.Escalate, err)
			}
		})
	}
}
