// Package contracttest is the suite that every implementation of the contract's interfaces passes: arguments, results and
// the types of errors arrive unchanged. It runs in process and over the wire.
package contracttest

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// heard is a call as the service got it.
type heard struct {
	method string
	args   []any
}

// results returns what the test sets, and keeps the last call.
type results struct {
	heard heard
	doc   contract.Response
	facts contract.CreateFacts
	retry contract.RetryFacts
	try   contract.TryFacts
	body  string
	err   error

	account prism.AccountID
	limits  []contract.AccountLimits

	plan   contract.RunPlan
	rows   []contract.ChunkRow
	chunk  *contract.Chunk
	states []contract.LeaseState
}

var _ contract.Results = (*results)(nil)

func (r *results) hear(method string, args ...any) (contract.Response, error) {
	r.heard = heard{method, args}
	return r.doc, r.err
}

func (r *results) Do(_ context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Response, error) {
	return r.hear("Do", key, op, request)
}

func (r *results) Open(_ context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Stream, error) {
	doc, err := r.hear("Open", key, op, request)
	return contract.Stream{ContentType: doc.ContentType, Body: io.NopCloser(strings.NewReader(r.body))}, err
}

func (r *results) Account(_ context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	_, err := r.hear("Account", key)
	return r.account, err
}

func (r *results) Authorize(_ context.Context, key contract.KeyDigest, op contract.Operation) error {
	_, err := r.hear("Authorize", key, op)
	return err
}

func (r *results) Limits(context.Context) ([]contract.AccountLimits, error) {
	_, err := r.hear("Limits")
	return r.limits, err
}

func (r *results) CreateFacts(_ context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	_, err := r.hear("CreateFacts", q)
	return r.facts, err
}

func (r *results) RetryFacts(_ context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	_, err := r.hear("RetryFacts", key, id)
	return r.retry, err
}

func (r *results) Save(_ context.Context, s contract.Save) (contract.Response, error) {
	return r.hear("Save", s)
}

func (r *results) TryFacts(_ context.Context, key contract.KeyDigest) (contract.TryFacts, error) {
	_, err := r.hear("TryFacts", key)
	return r.try, err
}

func (r *results) FinishTry(_ context.Context, t contract.Try) (contract.Response, error) {
	return r.hear("FinishTry", t)
}

// The arguments of the calls. The texts hold characters that are easily changed on the way.
var (
	digest   = contract.KeyDigest{1, 2, 3, 31: 9}
	resultID = prism.ResultID{UUID: prism.UUID{0xaa, 15: 1}}
	otherID  = prism.ResultID{UUID: prism.UUID{0xbb, 15: 2}}
	prismID  = prism.PrismID{UUID: prism.UUID{0xcc, 15: 3}}
	account  = prism.AccountID{UUID: prism.UUID{0xdd, 15: 4}}
	keyID    = prism.KeyID{UUID: prism.UUID{0xee, 15: 5}}
	bySlug   = prism.Ref{Slug: "tickets"}
	byID     = prism.Ref{ID: prismID}
	odd      = "a<b>&\"\\ \r\n\t\u2028 😀 é"
	at       = time.Date(2026, 11, 21, 9, 0, 0, 123_000_000, time.UTC)
	half     = 0.5
	fields   = []prism.FieldValue{{Key: "z", Value: odd}, {Key: "a", Value: ""}}
)

var definition = prism.Definition{
	Instructions: odd,
	Model:        "fast",
	Fields:       []prism.Field{{Key: "z", Label: odd}, {Key: "a"}},
	Questions: []prism.Question{
		{
			Key: "topic", Type: prism.Choice, Text: odd, InsufficientInformation: true,
			Options: []prism.Option{{Key: "x", Label: odd, Description: "d"}, {Key: "y", Label: "Y"}},
		},
		{Key: "is", Type: prism.YesNo, Text: "Is it?"},
		{Key: "much", Type: prism.Scale, Text: "How much?", Levels: []prism.Level{{Key: "l", Label: "L", Value: new(-1.5)}, {Key: "m", Label: "M", Value: new(2.0)}}},
		{Key: "about", Type: prism.Tags, Text: "About?", Options: []prism.Option{{Key: "x", Label: odd}}},
	},
}

var (
	aLens    = prism.Lens{Columns: []prism.Column{{Name: "is", Question: "is", Show: prism.ShowAnswer, YesAt: &half, NoAt: &half, Calibrated: true}}}
	aHash, _ = contract.HashDefinition(definition)
	aVersion = prism.Version{Number: 3, Definition: definition, CreatedAt: at, Hash: aHash}
	aStored  = contract.Stored{
		ID: resultID, Prism: prismID, Archived: true, Status: prism.Failed, RetriedBy: &otherID, IdempotencyKey: odd,
		Input: contract.Input{
			Version: prism.Version{Number: 2, Definition: definition, CreatedAt: at}, Ref: &odd, Context: odd, Fields: fields,
		},
	}
	aResponse = contract.Response{ContentType: "text/csv; charset=utf-8", Body: []byte("a,b\r\n" + odd + "\r\n"), Failed: true}
)

// Results runs the suite. connect returns a client of what it is given.
func Results(t *testing.T, connect func(*testing.T, contract.Results) contract.Results) {
	t.Helper()
	t.Run("arguments and responses of every method arrive whole", func(t *testing.T) {
		t.Parallel()
		methods(t, connect)
	})
	t.Run("requests of declared operations arrive whole", func(t *testing.T) {
		t.Parallel()
		operations(t, connect)
	})
	t.Run("facts arrive whole", func(t *testing.T) {
		t.Parallel()
		facts(t, connect)
	})
	t.Run("plans, leases and rows arrive whole", func(t *testing.T) {
		t.Parallel()
		plansAndLeases(t, connect)
	})
	t.Run("errors keep their type", func(t *testing.T) {
		t.Parallel()
		failures(t, connect)
		failuresOfRuns(t, connect)
	})
}

// called is a call of a method that returns a finished response.
type called struct {
	method string
	args   []any
}

func methods(t *testing.T, connect func(*testing.T, contract.Results) contract.Results) {
	t.Helper()
	save := contract.Save{
		Account: account, ID: resultID, Prism: prismID, Version: 3, Ref: &odd, Context: odd, Fields: fields, IdempotencyKey: odd,
		RetryOf: &otherID, Outcome: contract.Outcome{Answers: []byte(`{"b":1,"a":2}`), Error: odd, TookMS: 15_000}, Format: contract.TSV,
	}
	calls := []called{
		{"Save", []any{save}},
		{"Save", []any{contract.Save{ID: resultID}}},
		{"FinishTry", []any{contract.Try{Account: account, Key: keyID, Definition: definition, Lens: &aLens, Outcome: save.Outcome}}},
		{"FinishTry", []any{contract.Try{Account: account, Definition: definition, Outcome: contract.Outcome{Error: odd}}}},
	}
	far := &results{doc: aResponse}
	near := connect(t, far)
	for _, call := range slices.Concat(calls, filesAndRuns()) {
		got, err := invoke(patience(t), near, call.method, call.args)
		if err != nil {
			t.Errorf("%s: %v", call.method, err)
		}
		if !reflect.DeepEqual(got, any(aResponse)) {
			t.Errorf("%s returned %+v, want %+v", call.method, got, aResponse)
		}
		if want := heard(call); !reflect.DeepEqual(far.heard, want) {
			t.Errorf("heard %+v\nwant  %+v", far.heard, want)
		}
	}
	far.body = strings.Repeat("row,"+odd+"\r\n", 100_000)
	export := api.ExportResultsRequest{Format: api.JSONL, ResultFilter: api.ResultFilter{Model: odd}, After: &otherID}
	stream, err := contract.Open(patience(t), near, digest, api.ExportResults, export)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(stream.Body)
	if err := errors.Join(err, stream.Body.Close()); err != nil {
		t.Error(err)
	}
	if string(body) != far.body || stream.ContentType != aResponse.ContentType {
		t.Errorf("the export arrived as %d bytes of %q, want %d", len(body), stream.ContentType, len(far.body))
	}
	if want := (heard{"Open", []any{digest, api.Operation(api.ExportResults), &export}}); !reflect.DeepEqual(far.heard, want) {
		t.Errorf("heard %+v\nwant  %+v", far.heard, want)
	}
}

// invoke calls a method by its name and returns its first result.
func invoke(ctx context.Context, r contract.Results, method string, args []any) (any, error) {
	in := []reflect.Value{reflect.ValueOf(ctx)}
	for _, a := range args {
		in = append(in, reflect.ValueOf(a))
	}
	out := reflect.ValueOf(r).MethodByName(method).Call(in)
	err, _ := out[1].Interface().(error)
	return out[0].Interface(), err
}
