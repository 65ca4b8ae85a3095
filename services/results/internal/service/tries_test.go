package service_test

import (
	"context"
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/usage"
)

// try is a try whose model answered.
func (w *world) try() contract.Try {
	s := w.called(prism.PrismID{}, "fast", 249_600_000, "USD")
	return contract.Try{Account: w.account, Key: s.Key, Definition: definition("text"), Outcome: s.Outcome}
}

const known = `"model":{"name":"fast","provider":"openai-chat","model":"qwen3-8b","probabilities":"logprobs","tries":3,"fell_back":true},` +
	`"usage":{"input_tokens":612,"output_tokens":3,"cached_input_tokens":0,"cost":0.0002496,"currency":"USD"},` +
	`"label_mass":{"z":0.998,"q":1},"absent":{"z":["one","two"],"q":["no"]},"order_disagreement":null,"rounds":null,"escalation":null}`

// spec: try-members
func TestATryIsWhatRawAndJSONWouldShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failed, unknown, own := w.try(), w.try(), w.try()
	failed.Outcome.Answers, failed.Outcome.Error = nil, contract.TimeoutText
	failed.Outcome.Call.ErrorCode = prism.CodeTimeout
	unknown.Outcome.Call = nil
	own.Lens = &prism.Lens{Columns: []prism.Column{column("Is it?", "q", prism.ShowAnswer)}}
	const raw = `"raw":{"q":{"type":"yes_no","probability":0.75}},`
	for _, c := range []struct {
		try  contract.Try
		want string
	}{
		{w.try(), `{"status":"ok","error":null,"error_code":null,"took_ms":5,` + raw + `"json":{"q":"yes","q_probability":0.75},` + known},
		{own, `{"status":"ok","error":null,"error_code":null,"took_ms":5,` + raw + `"json":{"Is it?":"yes"},` + known},
		{failed, `{"status":"failed","error":"The model did not answer within 15 seconds.","error_code":"timeout","took_ms":5,` +
			`"raw":null,"json":null,` + known},
		{unknown, `{"status":"ok","error":null,"error_code":null,"took_ms":5,` + raw + `"json":{"q":"yes","q_probability":0.75},` +
			`"model":null,"usage":null,"label_mass":null,"absent":null,"order_disagreement":null,"rounds":null,"escalation":null}`},
	} {
		got, err := w.FinishTry(t.Context(), c.try)
		if err != nil || string(got.Body) != c.want || got.Failed != c.try.Outcome.Failed() ||
			got.ContentType != "application/json; charset=utf-8" {
			t.Errorf("got  %s, %v\nwant %s", got.Body, err, c.want)
		}
	}
}

// spec: try, try-counts, usage-members
func TestATryIsCountedAndNotSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.prism(t, "tickets")
	w.saved(t, w.called(p, "fast", 400_000, "USD"))
	failed := w.try()
	failed.Outcome.Answers, failed.Outcome.Error = nil, "It failed."
	for _, try := range []contract.Try{w.try(), failed} {
		if _, err := w.FinishTry(t.Context(), try); err != nil {
			t.Fatal(err)
		}
	}
	const period = `],"more":false,"from":"2026-12-17","to":"2027-01-16"}`
	w.used(t, api.ReadUsageRequest{By: api.ByPrism}, `{"data":[`+
		`{"prism":null,"results":2,"failed":1,"input_tokens":1224,"output_tokens":6,"cost":0.0004992,"currency":"USD"},`+
		`{"prism":"tickets","results":1,"failed":0,"input_tokens":612,"output_tokens":3,"cost":0.0000004,"currency":"USD"}`+period)
	w.used(t, api.ReadUsageRequest{By: api.ByKey}, `{"data":[`+
		`{"key_id":"ab000000-0000-0000-0000-000000000000","results":3,"failed":1,"input_tokens":1836,"output_tokens":9,`+
		`"cost":0.0004996,"currency":"USD"}`+period)
	list, err := w.ListResults(t.Context(), w.key, api.ListResultsRequest{PageRequest: api.PageRequest{Limit: 9}})
	var page struct {
		Data []struct{} `json:"data"`
	}
	decode(t, list, &page)
	if err != nil || len(page.Data) != 1 {
		t.Errorf("there are %d results, %v", len(page.Data), err)
	}
}

func TestATryThatHasNoBodyIsNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	damaged := w.try()
	damaged.Outcome.Answers = []byte(`{"q":`)
	if response, err := w.FinishTry(t.Context(), damaged); err == nil {
		t.Errorf("got %s", response.Body)
	}
	w.used(t, api.ReadUsageRequest{By: api.ByDay}, `{"data":[],"more":false,"from":"2026-12-17","to":"2027-01-16"}`)
}

// unwritten is a store that cannot be written.
type unwritten struct{ sqlstore.Store }

func (unwritten) CountUse(context.Context, prism.AccountID, usage.Use) error {
	return store.ErrUnwritable
}

// spec: unwritable-store
func TestTriesAreRefusedTooWhileTheStoreCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if facts, err := w.TryFacts(t.Context(), w.key); err != nil || facts.Unwritable || facts.Account != w.account || facts.Key.IsZero() {
		t.Errorf("before: %+v, %v", facts, err)
	}
	w.store.Store = unwritten{w.store.Store}
	for range 3 {
		if _, err := w.FinishTry(t.Context(), w.try()); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	if facts, err := w.TryFacts(t.Context(), w.key); err != nil || !facts.Unwritable {
		t.Errorf("after: %+v, %v", facts, err)
	}
}
