package service_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// called is a first call whose model call is known.
func (w *world) called(of prism.PrismID, model string, cost int64, currency string) contract.Save {
	s := w.save(of)
	s.Key = prism.KeyID{UUID: prism.UUID{0xab}}
	s.Outcome.Call = &prism.ModelCall{
		Name: model, Provider: "openai-chat", Model: "qwen3-8b", Probabilities: "logprobs", Tries: 3, FellBack: true,
		Usage: prism.Usage{
			InputTokens: new(int64(612)), OutputTokens: new(int64(3)), CachedInputTokens: new(int64(0)), Currency: currency,
		},
		LabelMass: []prism.LabelMass{{Question: "z", Mass: 0.998}, {Question: "q", Mass: 1}},
		Absent:    []prism.Absent{{Question: "z", Keys: []string{"one", "two"}}, {Question: "q", Keys: []string{"no"}}},
	}
	if currency != "" {
		s.Outcome.Call.Usage.Cost = &cost
	}
	return s
}

func (w *world) saved(t *testing.T, saves ...contract.Save) {
	t.Helper()
	for _, s := range saves {
		if _, err := w.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// membersOf are the names of the members of an object, in their order.
func membersOf(t *testing.T, body []byte) (names []string) {
	t.Helper()
	type member struct {
		name  string
		value any
	}
	all, err := api.ReadMembers(body, func(m *member) (*string, any) { return &m.name, &m.value })
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		names = append(names, m.name)
	}
	return names
}

// declaredOf are the names of the members of a declared response.
func declaredOf[T any]() (names []string) {
	for _, m := range api.Properties(reflect.TypeFor[T]()) {
		names = append(names, m.Name)
	}
	return names
}

// spec: record-read, record-members, labels-read, error-codes, cost-is-exact
func TestARecordHasEveryMemberInItsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.prism(t, "tickets")
	full := w.called(p, "fast", 249_600_000, "USD")
	full.Ref, full.Context, full.IdempotencyKey = new("a ref"), "said \"before\"", "a key"
	full.Fields = []prism.FieldValue{{Key: "text", Value: "hello <b>"}, {Key: "also", Value: ""}}
	full.Outcome.Answers, full.Outcome.Error = nil, "The model did not answer within 15 seconds."
	full.Outcome.Call.ErrorCode = prism.CodeTimeout
	retry := w.save(p)
	retry.RetryOf = &full.ID
	w.saved(t, full, retry)
	_, err := w.PutLabels(t.Context(), w.key, retry.ID, api.NewLabels{
		Labels:  api.LabelsOfQuestions{{Question: "q", Value: "true"}},
		LabelBy: api.LabelBy{Sample: prism.RandomSample, Annotator: "Zoë"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   prism.ResultID
		want string
	}{
		{full.ID, `{"id":"FULL","prism":"tickets","version":1,"status":"failed","error":"The model did not answer within 15 seconds.",` +
			`"error_code":"timeout","created_at":"AT","took_ms":5,"ref":"a ref","context":"said \"before\"",` +
			`"fields":{"text":"hello <b>","also":""},"idempotency_key":null,"retry_of":null,"retried_by":"RETRY",` +
			`"key_id":"ab000000-0000-0000-0000-000000000000","run_id":null,"run_row":null,` +
			`"model":{"name":"fast","provider":"openai-chat","model":"qwen3-8b","probabilities":"logprobs","tries":3,"fell_back":true},` +
			`"usage":{"input_tokens":612,"output_tokens":3,"cached_input_tokens":0,"cost":0.0002496,"currency":"USD"},` +
			`"label_mass":{"z":0.998,"q":1},"absent":{"z":["one","two"],"q":["no"]},"order_disagreement":null,"rounds":null,"escalation":null,"labels":{}}`},
		{retry.ID, `{"id":"RETRY","prism":"tickets","version":1,"status":"ok","error":null,` +
			`"error_code":null,"created_at":"AT","took_ms":5,"ref":null,"context":null,` +
			`"fields":{"text":"hello"},"idempotency_key":"a key","retry_of":"FULL","retried_by":null,` +
			`"key_id":null,"run_id":null,"run_row":null,"model":null,"usage":null,"label_mass":null,"absent":null,"order_disagreement":null,"rounds":null,"escalation":null,"labels":{"q":{"value":true,"sample":"random","annotator":"Zoë","origin":"call",` +
			`"key_id":"KEY","labelled_at":"LABELLED"}}}`},
	} {
		response, err := w.Record(t.Context(), w.key, c.id)
		if err != nil {
			t.Fatal(err)
		}
		var at struct {
			CreatedAt string `json:"created_at"`
			Labels    map[string]struct {
				KeyID      string `json:"key_id"`
				LabelledAt string `json:"labelled_at"`
			} `json:"labels"`
		}
		decode(t, response, &at)
		want := strings.NewReplacer("FULL", full.ID.String(), "RETRY", retry.ID.String(), "AT", at.CreatedAt,
			"KEY", at.Labels["q"].KeyID, "LABELLED", at.Labels["q"].LabelledAt).Replace(c.want)
		if string(response.Body) != want || response.ContentType != "application/json; charset=utf-8" {
			t.Errorf("got  %s\nwant %s", response.Body, want)
		}
		if got, want := membersOf(t, response.Body), declaredOf[api.Record](); !slices.Equal(got, want) {
			t.Errorf("got the members %v, declared are %v", got, want)
		}
	}
	if _, err := w.Record(t.Context(), w.key, prism.ResultID{}); !errors.Is(err, apierr.ResultNotFound()) {
		t.Errorf("a result that is not there: %v", err)
	}
}

// spec: record-members
func TestARecordWithoutAPriceHasNoCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.called(w.prism(t, "tickets"), "fast", 0, "")
	s.Outcome.Call.Usage.OutputTokens, s.Outcome.Call.LabelMass, s.Outcome.Call.Absent = nil, nil, nil
	s.Outcome.Call.Provider, s.Outcome.Call.Probabilities = "", ""
	w.saved(t, s)
	response, err := w.Record(t.Context(), w.key, s.ID)
	const want = `"model":{"name":"fast","provider":null,"model":"qwen3-8b","probabilities":null,"tries":3,"fell_back":true},` +
		`"usage":{"input_tokens":612,"output_tokens":null,"cached_input_tokens":0,"cost":null,"currency":null},"label_mass":null,"absent":null,"order_disagreement":null,"rounds":null,"escalation":null,"labels":{}}`
	if err != nil || !strings.HasSuffix(string(response.Body), want) {
		t.Errorf("got %s, %v", response.Body, err)
	}
}

// spec: record-of-an-escalation, order-disagreement
func TestARecordHasBothModelsOfAnEscalation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.prism(t, "tickets")
	const answers = `{"q":{"type":"yes_no","probability":0.75}}`
	for _, c := range []struct {
		is   prism.Escalation
		want string
	}{
		{
			prism.Escalation{
				Questions: []string{"q"}, Name: "small", Provider: "openai-chat", Model: "m", Answers: []byte(`{"q":{"type":"yes_no","probability":0.5}}`),
			},
			`{"questions":["q"],"error_code":null,` +
				`"first":{"name":"small","provider":"openai-chat","model":"m","fell_back":false,"answers":{"q":{"type":"yes_no","probability":0.5}}},` +
				`"second":{"name":"fast","provider":"openai-chat","model":"qwen3-8b","fell_back":true,"answers":` + answers + `}}`,
		},
		{
			prism.Escalation{Questions: []string{"q"}, ErrorCode: prism.CodeRefused, Name: "strong", Provider: "systemone", Model: "m", FellBack: true},
			`{"questions":["q"],"error_code":"refused",` +
				`"first":{"name":"fast","provider":"openai-chat","model":"qwen3-8b","fell_back":true,"answers":` + answers + `},` +
				`"second":{"name":"strong","provider":"systemone","model":"m","fell_back":true,"answers":null}}`,
		},
		{
			prism.Escalation{Questions: []string{"q"}, ErrorCode: prism.CodeModelNotConfigured, Name: "gone"},
			`{"questions":["q"],"error_code":"model_not_configured",` +
				`"first":{"name":"fast","provider":"openai-chat","model":"qwen3-8b","fell_back":true,"answers":` + answers + `},` +
				`"second":{"name":"gone","provider":null,"model":null,"fell_back":false,"answers":null}}`,
		},
	} {
		s := w.called(p, "fast", 0, "")
		s.Outcome.Call.Escalation, s.Outcome.Call.Disagreement = &c.is, []prism.Disagreement{{Question: "q", Distance: 0.125}}
		s.Outcome.Call.Rounds = []prism.Rounds{{Question: "q", Rounds: []prism.Round{{Groups: 5, Options: 77}, {Groups: 1, Options: 16}}}}
		w.saved(t, s)
		response, err := w.Record(t.Context(), w.key, s.ID)
		want := `"order_disagreement":{"q":0.125},"rounds":{"q":[{"groups":5,"options":77},{"groups":1,"options":16}]},"escalation":` + c.want
		if err != nil || !strings.HasSuffix(string(response.Body), want+`,"labels":{}}`) {
			t.Errorf("got  %s, %v\nwant %s", response.Body, err, want)
		}
		try, err := w.FinishTry(t.Context(), contract.Try{Account: w.account, Key: s.Key, Definition: definition("text"), Outcome: s.Outcome})
		if err != nil || !strings.HasSuffix(string(try.Body), want+`}`) {
			t.Errorf("got  %s, %v\nwant %s", try.Body, err, want)
		}
	}
}
