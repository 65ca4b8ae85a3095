package request_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

const tryQuestions = `"fields":[{"key":"f"}],"questions":[{"key":"q","type":"yes_no","text":"?"}]`

// spec: try-request
func TestATryIsADefinitionAndACall(t *testing.T) {
	t.Parallel()
	questions := prism.Definition{
		Fields: []prism.Field{{Key: "f"}}, Questions: []prism.Question{{Key: "q", Type: prism.YesNo, Text: "?"}},
	}
	named := questions
	named.Instructions, named.Model, named.Escalate = "i", "fast", &prism.Escalate{To: "strong", Below: 0.6}
	columns := []prism.Column{{Name: "a", Question: "q", Show: prism.ShowAnswer}}
	for _, c := range []struct {
		body string
		want api.NewTry
	}{
		{`{"definition":{` + tryQuestions + `},"text":"t"}`, api.NewTry{Definition: questions, Text: new("t")}},
		{
			`{"definition":{"instructions":"i","model":"fast","escalate":{"to":"strong","below":0.6},` + tryQuestions + `},"lens":{"columns":[{"name":"a","question":"q","show":"answer"}]},` +
				`"fields":{"f":"v","g":""},"context":"c","ref":7,"version":"x"}`,
			api.NewTry{
				Definition: named, Lens: &prism.Lens{Columns: columns},
				Fields: []prism.FieldValue{{Key: "f", Value: "v"}, {Key: "g"}}, Context: "c",
			},
		},
		{`{"definition":{` + tryQuestions + `,"lens":7},"lens":null,"text":""}`, api.NewTry{Definition: questions, Text: new("")}},
	} {
		got, err := parsedBody(api.TryDefinition, c.body)
		if err != nil || !reflect.DeepEqual(got.NewTry, c.want) {
			t.Errorf("%s: %+v, %v", c.body, got, err)
		}
	}
}

// spec: try-request, validation-message
func TestATryListsEveryProblemOfItsMembersInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{`{}`, "definition: Required; fields: send either fields or text"},
		{`[]`, "body: Expected object, received array"},
		{
			`{"definition":7,"lens":{"columns":[]},"text":1,"context":null}`,
			"definition: Expected object, received number; lens.columns: Array must contain at least 1 element(s); " +
				"text: Expected string, received number; context: Expected string, received null",
		},
		{`{"definition":{},"text":""}`, "definition.fields: Required; definition.questions: Required"},
		{
			`{"context":"\u0000","fields":{"a":1},"lens":{"columns":[{"name":"ref","question":"none","show":"answer"}]},` +
				`"definition":{"model":"A","fields":[{"key":"F"}],"questions":[{"key":"q","type":"yes_no","text":"?"}]}}`,
			"definition.model: must match ^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$; definition.fields.0.key: must match ^[a-z][a-z0-9_]{0,63}$; " +
				"lens.columns.0.name: must be unique in a row; lens.columns.0.question: Unknown question; " +
				"fields.a: Expected string, received number; context: " + unclean,
		},
		{
			`{"definition":{"fields":[{"key":"q"}],"questions":[{"key":"q","type":"yes_no","text":""}]},"text":"a","fields":{}}`,
			"definition.questions.0.text: String must contain at least 1 character(s); lens: must be unique in a row; " +
				"fields: send either fields or text",
		},
		{
			`{"definition":{"escalate":{"to":"strong"},` + tryQuestions + `},"text":1}`,
			"definition.escalate.below: Required; text: Expected string, received number",
		},
		{`{"definition"`, malformed},
	} {
		_, err := parsedBody(api.TryDefinition, c.body)
		wantProblems(t, err, c.want)
	}
	_, err := parsed(api.TryDefinition, request.Source{Body: textBody("x")})
	wantProblems(t, err, "body: Expected object, received string")
}

// spec: lens-preview, lens-preview-problems
func TestAPreviewIsColumnsAndUpToFiftyResults(t *testing.T) {
	t.Parallel()
	const columns = `"columns":[{"name":"","question":"none","show":"median"}]` // results checks the values
	ids := func(n int) string {
		b, _ := json.Marshal(list(n, func(int) any { return anID }))
		return `{` + columns + `,"result_ids":` + string(b) + `}`
	}
	for _, n := range []int{0, 1, 50} {
		p, err := parsedBody(api.PreviewLens, ids(n), "prism", "tickets")
		if err != nil || p.Prism != (prism.Ref{Slug: "tickets"}) || p.Results == nil || len(p.Results) != n || len(p.Columns) != 1 {
			t.Errorf("%d ids: %+v, %v", n, p, err)
		}
	}
	for _, c := range []struct{ prism, body, want string }{
		{"p", `{}`, "columns: Required; result_ids: Required"},
		{"p", ids(51), "result_ids: Array must contain at most 50 element(s)"},
		{"\x00", `{"columns":{},"result_ids":["x",7]}`, "prism: " + unclean + "; columns: Expected array, received object; " +
			"result_ids.0: Invalid uuid; result_ids.1: Expected string, received number"},
		{"p", `7`, "body: Expected object, received number"},
		{"p", `{`, malformed},
	} {
		_, err := parsedBody(api.PreviewLens, c.body, "prism", c.prism)
		wantProblems(t, err, c.want)
	}
}
