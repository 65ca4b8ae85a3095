package service_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// triage creates a prism with a question of each type.
func (w *world) triage(t *testing.T) prism.PrismID {
	t.Helper()
	var many []prism.Option
	for i := range 25 {
		many = append(many, prism.Option{Key: fmt.Sprintf("o%02d", i), Label: "Option"})
	}
	doc, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: "triage", NewVersion: api.NewVersion{Definition: prism.Definition{
		Fields: []prism.Field{{Key: "text"}},
		Questions: []prism.Question{
			{Key: "urgent", Type: prism.YesNo, Text: "Is it?"},
			{
				Key: "topic", Type: prism.Choice, Text: "Which?", InsufficientInformation: true,
				Options: []prism.Option{{Key: "bug", Label: " A bug\u00a0"}, {Key: "bill", Label: "bug"}, {Key: "true", Label: "Same"}, {Key: "no", Label: "Same"}},
			},
			{Key: "mood", Type: prism.Scale, Text: "How?", Levels: []prism.Level{{Key: "low", Label: "1", Value: new(1.0)}, {Key: "up", Label: "2", Value: new(2.0)}}},
			{Key: "many", Type: prism.Choice, Text: "Which?", Options: many},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		ID prism.PrismID `json:"id"`
	}
	decode(t, doc, &body)
	return body.ID
}

// result saves a result of a prism, and returns its id. A failed one has no answers.
func (w *world) result(t *testing.T, of prism.PrismID, ref, answers string) prism.ResultID {
	t.Helper()
	s := w.save(of)
	s.IdempotencyKey, s.Ref, s.Outcome.Answers = "", &ref, []byte(answers)
	if answers == "" {
		s.Outcome.Answers, s.Outcome.Error = nil, "The model did not answer within 15 seconds."
	}
	w.saved(t, s)
	return s.ID
}

func yes(probability float64) string {
	return fmt.Sprintf(`{"urgent":{"type":"yes_no","probability":%v}}`, probability)
}

// labelOf puts a label and returns the value that is shown, or the problem.
func (w *world) labelOf(t *testing.T, id prism.ResultID, question, value string) string {
	t.Helper()
	response, err := w.PutLabels(t.Context(), w.key, id, api.NewLabels{Labels: api.LabelsOfQuestions{{Question: question, Value: value}}})
	var refused *apierr.Error
	if errors.As(err, &refused) {
		return refused.Message
	}
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Labels map[string]struct {
			Value any `json:"value"`
		} `json:"labels"`
	}
	decode(t, response, &body)
	return fmt.Sprintf("%T %v", body.Labels[question].Value, body.Labels[question].Value)
}

// spec: label-value
func TestAValueIsFoundByItsKeyOrItsLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.result(t, w.triage(t), "r", yes(0.9))
	const topic = "Invalid request: labels.topic: Expected 'bug' | 'bill' | 'true' | 'no' | 'insufficient_information'"
	many := "Invalid request: labels.many: Expected '"
	for i := range 20 {
		many += fmt.Sprintf("o%02d' | '", i)
	}
	many = strings.TrimSuffix(many, "'") + "…"
	for _, c := range []struct{ question, value, want string }{
		{"urgent", "true", "bool true"},
		{"urgent", " Yes\n", "bool true"},
		{"urgent", "1", "bool true"},
		{"urgent", "FALSE", "bool false"},
		{"urgent", "no", "bool false"},
		{"urgent", "0", "bool false"},
		{"urgent", "2", "Invalid request: labels.urgent: Expected 'true' | 'false'"},
		{"urgent", " ", "Invalid request: labels.urgent: Expected 'true' | 'false'"},
		{"topic", "bug", "string bug"}, // a key, although it is also a label
		{"topic", " A bug ", "string bug"},
		{"topic", "true", "string true"},
		{"topic", "no", "string no"},
		{"topic", "insufficient_information", "string insufficient_information"},
		{"topic", "Insufficient information", "string insufficient_information"},
		{"topic", "Bug", topic},
		{"topic", "Same", topic}, // which of the two?
		{"topic", "false", topic},
		{"mood", "up", "string up"},
		{"mood", "1", "string low"},
		{"mood", "3", "Invalid request: labels.mood: Expected 'low' | 'up'"},
		{"many", "x", many},
		{"many", "o24", "string o24"},
		{"none", "x", "Invalid request: labels.none: Unknown question"},
		{"none", "", "Invalid request: labels.none: Unknown question"},
	} {
		if got := w.labelOf(t, id, c.question, c.value); got != c.want {
			t.Errorf("%s %q: got %s, want %s", c.question, c.value, got, c.want)
		}
	}
}

// spec: labels-put, labels-read, label-one, label-of-ok-results, error-only-ok-is-labelled, label-not-audited, label-sample
func TestLabelsOfAResultArePutAndRead(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	p := w.triage(t)
	id, failed := w.result(t, p, "r", yes(0.9)), w.result(t, p, "r", "")
	const label = `"annotator":null,"origin":"call","key_id":"[0-9a-f-]{36}","labelled_at":"2027-01-15T08:00:00\.\d{3}Z"}`
	read := func(want string) {
		t.Helper()
		got, err := w.ResultLabels(ctx, w.key, id)
		matches(t, got, err, `{"result_id":"`+id.String()+`","ref":"r","version":1,"labels":`+want+`}`)
	}
	read(`{}`)
	put, err := w.PutLabels(ctx, w.key, id, api.NewLabels{
		Labels: api.LabelsOfQuestions{{Question: "urgent", Value: "false"}, {Question: "topic", Value: "bug"}, {Question: "mood"}},
	})
	two := `{"topic":{"value":"bug","sample":null,` + label + `,"urgent":{"value":false,"sample":null,` + label + `}`
	matches(t, put, err, `{"result_id":"`+id.String()+`","ref":"r","version":1,"labels":`+two+`}`)
	read(two)
	_, err = w.PutLabels(ctx, w.key, id, api.NewLabels{Labels: api.LabelsOfQuestions{
		{Question: "urgent"}, {Question: "topic", Value: "x"}, {Question: "mood", Value: "y"},
	}})
	if err == nil || !strings.HasSuffix(err.Error(), "; labels.mood: Expected 'low' | 'up'") {
		t.Errorf("got %v", err)
	}
	read(two)
	if got := w.labelOf(t, id, "topic", ""); got != "<nil> <nil>" {
		t.Errorf("a label that was removed is %s", got)
	}
	read(`{"urgent":{"value":false,"sample":null,` + label + `}`)
	for want, err := range map[*apierr.Error]error{
		apierr.OnlyOKLabelled(): failure(w.PutLabels(ctx, w.key, failed, api.NewLabels{Labels: api.LabelsOfQuestions{{Question: "urgent"}}})),
		apierr.ResultNotFound(): failure(w.PutLabels(ctx, w.key, prism.ResultID{}, api.NewLabels{})),
	} {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if _, err := w.ResultLabels(ctx, w.key, prism.ResultID{}); !errors.Is(err, apierr.ResultNotFound()) {
		t.Errorf("got %v", err)
	}
	if entries, err := w.ListAudit(ctx, w.key, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 100}}); err != nil ||
		strings.Contains(string(entries.Body), "label") {
		t.Errorf("the audit is %s, %v", entries.Body, err)
	}
}

// spec: labels-add, label-by-ref
func TestManyLabelsAreStoredAsFarAsTheyCanBe(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	p := w.triage(t)
	first, failed := w.result(t, p, "a", yes(0.9)), w.result(t, p, "failed", "")
	second := w.result(t, p, "a", yes(0.9))
	other := w.result(t, w.prism(t, "other"), "a", `{"q":{"type":"yes_no","probability":0.5}}`)
	a, none, ref := "a", "none", "failed"
	n := api.ManyLabels{
		Labels: []api.NewLabel{
			{Result: first, Question: "urgent", Value: "yes"},
			{Ref: &a, Question: "urgent", Value: "true"},
			{Result: failed, Question: "urgent", Value: "true"},
			{Ref: &none, Question: "urgent", Value: "true"},
			{Ref: &ref, Question: "urgent", Value: "true"},
			{Result: other, Question: "urgent", Value: "true"},
			{Result: first, Question: "other", Value: "true"},
			{Result: first, Question: "mood", Value: "x"},
			{Ref: &a, Question: "urgent", Value: "false"},
		},
		LabelBy: api.LabelBy{Sample: prism.UncertainSample, Annotator: "Zoë"},
	}
	const want = `{"labelled":3,"not_found":[3,4,5],"invalid":[{"index":2,"message":"Only an ok result can be labelled."},` +
		`{"index":6,"message":"question: Unknown question"},{"index":7,"message":"value: Expected 'low' | 'up'"}]}`
	for range 2 { // a call can be repeated
		got, err := w.AddLabels(ctx, w.key, prism.Ref{Slug: "triage"}, n)
		if err != nil || string(got.Body) != want {
			t.Errorf("got %s, %v", got.Body, err)
		}
	}
	const label = `"sample":"uncertain","annotator":"Zoë","origin":"call","key_id":"[0-9a-f-]{36}","labelled_at":"[^"]+"}`
	got, err := w.ListLabels(ctx, w.key, prism.Ref{ID: p}, api.ListLabelsRequest{PageRequest: api.PageRequest{Limit: 9}})
	matches(t, got, err, `{"data":\[{"result_id":"`+second.String()+`","ref":"a","version":1,"labels":{"urgent":{"value":false,`+label+`}},`+
		`{"result_id":"`+first.String()+`","ref":"a","version":1,"labels":{"urgent":{"value":true,`+label+`}}\],"next_cursor":null}`)
	n.Labels, n.Version = []api.NewLabel{{Result: first, Question: "urgent", Value: "true"}, {Ref: &a, Question: "urgent", Value: "true"}}, 2
	if got, err := w.AddLabels(ctx, w.key, prism.Ref{ID: p}, n); err != nil || string(got.Body) != `{"labelled":0,"not_found":[0,1],"invalid":[]}` {
		t.Errorf("got %s, %v", got.Body, err)
	}
	if _, err := w.AddLabels(ctx, w.key, prism.Ref{Slug: "none"}, n); !errors.Is(err, apierr.PrismNotFound()) {
		t.Errorf("got %v", err)
	}
}

// spec: labels-list
func TestLabelsAreListedInPagesThatFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.triage(t)
	var want []string
	for i := range 5 {
		id := w.result(t, p, "r", yes(0.9))
		w.labelOf(t, id, "urgent", "true")
		if i%2 == 0 {
			w.labelOf(t, id, "mood", "up")
			want = append([]string{id.String()}, want...)
		}
	}
	var got []string
	q := api.ListLabelsRequest{Version: 1, Question: "mood", PageRequest: api.PageRequest{Limit: 2}}
	for {
		var page labelPage
		response, err := w.ListLabels(t.Context(), w.key, prism.Ref{ID: p}, q)
		if err != nil {
			t.Fatal(err)
		}
		decode(t, response, &page)
		for _, r := range page.Data {
			got = append(got, r.Result.String())
			if len(r.Labels) != 1 {
				t.Errorf("labels %v", r.Labels)
			}
		}
		if page.NextCursor == nil {
			break
		}
		q.Cursor = *page.NextCursor
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// spec: run-labels, run-labels-invalid, label-roles
func TestTheLabelsOfARunAreThoseOfItsColumns(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	w.prism(t, "a")
	file := w.ready(t, []byte("text,right,other\none,Yes,\ntwo, ,\nthree,maybe,x\nfour,0,\n")).ID
	n := api.NewRun{
		File: file, Fields: []api.FieldColumn{{Field: "text", Column: "text"}}, Labels: []api.FieldColumn{{Field: "q", Column: "right"}},
	}
	for want, labels := range map[*apierr.Error][]api.FieldColumn{
		apierr.Invalid(apierr.Problem{Path: "labels.x", Text: "Unknown question"}): {{Field: "x", Column: "right"}},
		apierr.Invalid(apierr.Problem{Path: "labels.q", Text: "No such column"}):   {{Field: "q", Column: "Right"}},
	} {
		refused := n
		refused.Labels = labels
		if _, err := w.PlanRun(ctx, w.key, prism.Ref{Slug: "a"}, refused); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	for role, allowed := range map[prism.Role]bool{prism.Editor: true, prism.Caller: false, prism.Labeller: false} {
		key := w.newKey(t, api.NewKey{Name: "n", Role: role})
		_, planned := w.PlanRun(ctx, key, prism.Ref{Slug: "a"}, n)
		_, made := w.CreateRun(ctx, key, prism.Ref{Slug: "none"}, n)
		if errors.Is(planned, apierr.RoleNotAllowed()) == allowed || errors.Is(made, apierr.RoleNotAllowed()) == allowed {
			t.Errorf("%s: %v, %v", role, planned, made)
		}
	}
	rows, err := w.PlanRows(ctx, w.key, contract.PlanRows{Prism: prism.Ref{Slug: "a"}, Run: n})
	want := []contract.RowLabels{
		{Labels: []contract.RowLabel{{Question: "q", Value: "true"}}},
		{},
		{InvalidLabels: []string{"labels.q: Expected 'true' | 'false'"}},
		{Labels: []contract.RowLabel{{Question: "q", Value: "false"}}},
	}
	var got []contract.RowLabels
	for _, r := range rows {
		got = append(got, r.RowLabels)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the rows have %+v, %v", got, err)
	}
	made, err := w.CreateRun(ctx, w.key, prism.Ref{Slug: "a"}, n)
	if err != nil || !strings.Contains(string(made.Body), `"labels":{"stored":0,"invalid":0}`) {
		t.Fatalf("got %s, %v", made.Body, err)
	}
	var run struct {
		ID prism.RunID `json:"id"`
	}
	decode(t, made, &run)
	w.answered(t, w.leased(t), used(1, 1, ""), used(1, 1, ""), used(1, 1, ""), used(1, 1, "It failed."))
	shows := func(want string) {
		t.Helper()
		if got, err := w.FileRun(ctx, w.key, run.ID); err != nil || !strings.Contains(string(got.Body), want) {
			t.Errorf("got %s, %v, want %s", got.Body, err, want)
		}
	}
	shows(`"labels":{"stored":1,"invalid":1}`)
	if _, err := w.ActOnRun(ctx, w.key, run.ID, api.RetryRun); err != nil {
		t.Fatal(err)
	}
	w.answered(t, w.leased(t), used(1, 1, ""))
	shows(`"labels":{"stored":2,"invalid":1}`)
	listed, err := w.ListLabels(ctx, w.key, prism.Ref{Slug: "a"}, api.ListLabelsRequest{PageRequest: api.PageRequest{Limit: 9}})
	if err != nil || strings.Count(string(listed.Body), `"sample":null,"annotator":null,"origin":"file"`) != 2 {
		t.Errorf("got %s, %v", listed.Body, err)
	}
}
