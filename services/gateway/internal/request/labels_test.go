package request_test

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// manyMembers is an object of n members with one value.
func manyMembers(n int, value string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"q%d":%s`, i, value)
	}
	return "{" + b.String()[1:] + "}"
}

// spec: labels-put
func TestLabelsOfAResultAreRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]api.NewLabels{
		`{"labels":{"topic":"bug","urgent":true,"late":false,"mood":null}}`: {Labels: api.LabelsOfQuestions{
			{Question: "topic", Value: "bug"}, {Question: "urgent", Value: "true"}, {Question: "late", Value: "false"}, {Question: "mood"},
		}},
		`{"labels":{"a":"x","a":"y"},"sample":"random","annotator":"Zoë","id":1}`: {
			Labels:  api.LabelsOfQuestions{{Question: "a", Value: "y"}},
			LabelBy: api.LabelBy{Sample: prism.RandomSample, Annotator: "Zoë"},
		},
		`{"labels":{"about": [ "a" , "\u0062" ],"none":[],"d":["x"],"d":true,"e":false,"e":["y"]}}`: {Labels: api.LabelsOfQuestions{
			{Question: "about", Value: `["a","b"]`}, {Question: "none", Value: `[]`}, {Question: "d", Value: "true"}, {Question: "e", Value: `["y"]`},
		}},
		`{"labels":{"\u0061":"\u0062"},"sample":null,"annotator":null}`: {Labels: api.LabelsOfQuestions{{Question: "a", Value: "b"}}},
	} {
		got, err := parsedBody(api.PutLabels, body, "result_id", anID)
		if err != nil || got.Result.String() != anID || !reflect.DeepEqual(got.NewLabels, want) {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	if got, err := parsedBody(api.PutLabels, `{"labels":`+manyMembers(64, "true")+`}`, "result_id", anID); err != nil || len(got.Labels) != 64 {
		t.Errorf("got %d labels, %v", len(got.Labels), err)
	}
	const kinds = "Expected string, boolean or null, received "
	for _, c := range []struct{ id, body, want string }{
		{anID, `{}`, "labels: Required"},
		{anID, `[]`, "body: Expected object, received array"},
		{anID, `{"labels":[]}`, "labels: Expected object, received array"},
		{"1", `{"labels":{}}`, "result_id: Invalid uuid; labels: send at least one label"},
		{anID, `{"labels":{"a":1,"b":{},"c":[1],"d":"","e":"\u0000"}}`, "labels.a: " + kinds + "number; labels.b: " + kinds +
			"object; labels.c.0: Expected string, received number; labels.d: String must contain at least 1 character(s); labels.e: " + unclean},
		{anID, `{"labels":{"\u0000":"a"}}`, "labels: " + unclean},
		{anID, `{"labels":{"a":["",["b"],null,"\u0000"]}}`, "labels.a.0: String must contain at least 1 character(s); labels.a.1: Expected string, received array; " +
			"labels.a.2: Expected string, received null; labels.a.3: " + unclean},
		{anID, `{"labels":{"a":[` + strings.Repeat(`"x",`, 255) + `"x"]}}`, "labels.a: Array must contain at most 255 element(s)"},
		{anID, `{"labels":` + manyMembers(65, "true") + `,"sample":7}`, "labels: Object must contain at most 64 member(s); sample: Expected string, received number"},
		{anID, `{"labels":{"a":"` + strings.Repeat("é", 1001) + `"}}`, "labels.a: String must contain at most 1000 character(s)"},
		{anID, `{"labels":{"a":"b"},"sample":"all","annotator":""}`, "sample: Expected 'random' | 'uncertain'; " +
			"annotator: String must contain at least 1 character(s)"},
		{
			anID, `{"labels":{"a":"b"},"sample":7,"annotator":"` + strings.Repeat("é", 201) + `"}`,
			"sample: Expected string, received number; annotator: String must contain at most 200 character(s)",
		},
		{anID, `{`, malformed},
	} {
		_, err := parsedBody(api.PutLabels, c.body, "result_id", c.id)
		wantProblems(t, err, c.want)
	}
}

// spec: labels-add
func TestManyLabelsAreRead(t *testing.T) {
	t.Parallel()
	ref, empty := "r", ""
	id, _ := prism.ParseUUID(anID)
	many := `{"ref":"r","question":"q","value":"v"}` + strings.Repeat(`,{"ref":"r","question":"q","value":"v"}`, 999)
	got, err := parsedBody(api.AddLabels, `{"labels":[`+many+`]}`, "prism", "tickets")
	if err != nil || got.Prism.Slug != "tickets" || len(got.Labels) != api.MaxLabels {
		t.Errorf("got %d labels, %v", len(got.Labels), err)
	}
	got, err = parsedBody(api.AddLabels, `{"labels":[{"result_id":"`+anID+`","ref":null,"question":"a","value":true},`+
		`{"ref":"r","question":"b","value":"x"},{"ref":"","question":"b","value":false},{"ref":"r","question":"c","value":["x","y"]}],"sample":"uncertain","annotator":"A","version":3}`, "prism", "tickets")
	want := api.ManyLabels{
		Labels: []api.NewLabel{
			{Result: prism.ResultID{UUID: id}, Question: "a", Value: "true"},
			{Ref: &ref, Question: "b", Value: "x"},
			{Ref: &empty, Question: "b", Value: "false"},
			{Ref: &ref, Question: "c", Value: `["x","y"]`},
		},
		LabelBy: api.LabelBy{Sample: prism.UncertainSample, Annotator: "A"}, Version: 3,
	}
	if err != nil || !reflect.DeepEqual(got.ManyLabels, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, c := range []struct{ body, want string }{
		{`{}`, "labels: Required"},
		{`{"labels":{}}`, "labels: Expected array, received object"},
		{`{"labels":[],"version":0}`, "labels: Array must contain at least 1 element(s); version: Number must be greater than or equal to 1"},
		{`{"labels":[` + many + `,7],"sample":"x"}`, "labels: Array must contain at most 1000 element(s); sample: Expected 'random' | 'uncertain'"},
		{`{"labels":[7,{}]}`, "labels.0: Expected object, received number; labels.1.result_id: send either result_id or ref; " +
			"labels.1.question: Required; labels.1.value: Required"},
		{`{"labels":[{"result_id":"` + anID + `","ref":"r","question":"","value":null}]}`, "labels.0.result_id: send either result_id or ref; " +
			"labels.0.question: String must contain at least 1 character(s); labels.0.value: Expected string or boolean, received null"},
		{`{"labels":[{"result_id":"1","question":"q","value":1.5}]}`, "labels.0.result_id: Invalid uuid; " +
			"labels.0.value: Expected string or boolean, received number"},
		{
			`{"labels":[{"ref":"` + strings.Repeat("é", 201) + `","question":"q","value":""}]}`,
			"labels.0.ref: String must contain at most 200 character(s); labels.0.value: String must contain at least 1 character(s)",
		},
		{`{`, malformed},
	} {
		_, err := parsedBody(api.AddLabels, c.body, "prism", "tickets")
		wantProblems(t, err, c.want)
	}
}

// spec: labels-list, label-queue
func TestListsOfLabelsAreRead(t *testing.T) {
	t.Parallel()
	cursor := contract.ListOfLabels.Cursor(prism.UUID{7})
	of := func(pairs ...string) request.Source { return request.Source{Query: query(pairs...)} }
	list, err := parsed(api.ListLabels, of("version", "3", "question", "q", "limit", "7", "cursor", cursor), "prism", "p")
	if err != nil || list.Prism.Slug != "p" || list.Version != 3 || list.Question != "q" || list.Limit != 7 || list.Cursor != cursor {
		t.Errorf("got %+v, %v", list, err)
	}
	for order, its := range map[prism.LabelSample]contract.List{
		"": contract.ListOfRandom, prism.RandomSample: contract.ListOfRandom, prism.UncertainSample: contract.ListOfUncertain,
	} {
		cursor := its.Cursor(prism.UUID{7})
		q, err := parsed(api.ListLabelQueue, of("question", "q", "order", string(order), "cursor", cursor), "prism", "p")
		if err != nil || q.Question != "q" || q.Order != cmp.Or(order, prism.RandomSample) || q.Limit != 50 || q.Cursor != cursor {
			t.Errorf("got %+v, %v", q, err)
		}
	}
	_, err = parsed(api.ListLabels, of("version", "0", "cursor", contract.ListOfRandom.Cursor(prism.UUID{7})), "prism", "p")
	wantProblems(t, err, "version: Number must be greater than or equal to 1; cursor: Invalid cursor")
	_, err = parsed(api.ListLabelQueue, of("order", "any", "limit", "0", "cursor", contract.ListOfUncertain.Cursor(prism.UUID{7})), "prism", "p")
	wantProblems(t, err, "question: Required; order: Expected 'random' | 'uncertain'; limit: Number must be greater than or equal to 1; "+
		"cursor: Invalid cursor")
	_, err = parsed(api.ListLabelQueue, of("question", "a", "question", "b"), "prism", "p")
	wantProblems(t, err, "question: Expected string, received array")
	_, err = parsed(api.ReadLabels, request.Source{}, "result_id", "1")
	wantProblems(t, err, "result_id: Invalid uuid")
}

// spec: run-labels
func TestARunTakesLabelsOfColumns(t *testing.T) {
	t.Parallel()
	run := func(labels string) (api.CreateRunRequest, error) {
		return parsedBody(api.CreateRun, `{"file_id":"`+anID+`","fields":{"a":"b"},"labels":`+labels+`}`, "prism", "p")
	}
	for labels, want := range map[string]api.ColumnsOfLabels{
		`null`: nil, `{}`: nil, `{"topic":"Topic","urgent":""}`: {{Field: "topic", Column: "Topic"}, {Field: "urgent"}},
	} {
		n, err := run(labels)
		if err != nil || !reflect.DeepEqual(n.Labels, want) {
			t.Errorf("%s: %+v, %v", labels, n.Labels, err)
		}
	}
	_, err := run(`{"a":true,"b":null}`)
	wantProblems(t, err, "labels.a: Expected string, received boolean; labels.b: Expected string, received null")
	_, err = run(`[]`)
	wantProblems(t, err, "labels: Expected object, received array")
}
