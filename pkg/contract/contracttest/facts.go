package contracttest

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func facts(t *testing.T, connect func(*testing.T, contract.Results) contract.Results) {
	t.Helper()
	query := contract.CreateQuery{Key: digest, Prism: byID, Version: 2, IdempotencyKey: odd, Format: contract.CSV}
	far := &results{}
	near := connect(t, far)
	for _, want := range []contract.CreateFacts{
		{},
		{Account: account, Prism: prismID, Archived: true},
		{Account: account, Prism: prismID, Version: &aVersion, At: at},
		{Account: account, Prism: prismID, Stored: &aStored, Response: &aResponse},
	} {
		far.facts = want
		got, err := near.CreateFacts(patience(t), query)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
		if !reflect.DeepEqual(far.heard.args, []any{query}) {
			t.Errorf("heard %+v, want %+v", far.heard.args, query)
		}
	}
	for _, want := range []contract.RetryFacts{{}, {Account: account}, {Account: account, Stored: &aStored, At: at}} {
		far.retry = want
		got, err := near.RetryFacts(patience(t), digest, resultID)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	for _, want := range []contract.TryFacts{{}, {Account: account, Key: keyID}, {Account: account, Unwritable: true}} {
		far.try = want
		got, err := near.TryFacts(patience(t), digest)
		if err != nil || got != want {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	far.account = account
	if got, err := near.Account(patience(t), digest); err != nil || got != account {
		t.Errorf("got %v, %v", got, err)
	}
	if want := (heard{"Account", []any{digest}}); !reflect.DeepEqual(far.heard, want) {
		t.Errorf("heard %+v\nwant  %+v", far.heard, want)
	}
	if err := near.Authorize(patience(t), digest, contract.Operation(api.CreatePrism.Name)); err != nil {
		t.Error(err)
	}
	if want := (heard{"Authorize", []any{digest, contract.Operation(api.CreatePrism.Name)}}); !reflect.DeepEqual(far.heard, want) {
		t.Errorf("heard %+v\nwant  %+v", far.heard, want)
	}
	for _, want := range [][]contract.AccountLimits{
		nil,
		{{Account: account, Limits: prism.Limits{RequestsPerSecond: 1}}},
		{
			{Account: account, Limits: prism.Limits{Concurrency: 2, ResultsPerDay: 3}},
			{Account: prism.AccountID{UUID: prism.UUID{1}}, Limits: prism.Limits{RequestsPerSecond: 4}},
		},
		{{Account: account, Limits: prism.Limits{StoredBytes: math.MaxInt64}, Full: true}, {Account: account, Full: true}},
	} {
		far.limits = want
		got, err := near.Limits(patience(t))
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func failures(t *testing.T, connect func(*testing.T, contract.Results) contract.Results) {
	t.Helper()
	far := &results{}
	near := connect(t, far)
	for _, want := range []error{
		contract.ErrUnavailable, contract.ErrKeyTaken, apierr.InvalidAPIKey(), apierr.ResultNotFound(),
		apierr.AlreadyRetried(otherID), apierr.Invalid(apierr.Problem{Path: "p", Text: odd}),
	} {
		far.err = want
		if _, err := near.Save(patience(t), contract.Save{}); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if _, err := near.Account(patience(t), digest); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if err := near.Authorize(patience(t), digest, contract.Operation(api.CreatePrism.Name)); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if _, err := near.Limits(patience(t)); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if _, err := near.RetryFacts(patience(t), digest, resultID); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if _, err := near.TryFacts(patience(t), digest); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if _, err := near.FinishTry(patience(t), contract.Try{}); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if _, err := contract.Open(patience(t), near, digest, api.ExportResults, api.ExportResultsRequest{}); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	far.err = &contract.RetriedError{By: otherID}
	var retried *contract.RetriedError
	if _, err := near.Save(patience(t), contract.Save{}); !errors.As(err, &retried) || retried.By != otherID {
		t.Errorf("got %v, want a RetriedError", err)
	}
	far.err = errors.New("a bug with a secret")
	_, err := near.Save(patience(t), contract.Save{})
	var public *apierr.Error
	if err == nil || errors.Is(err, contract.ErrUnavailable) || errors.As(err, &public) {
		t.Errorf("a fault arrived as %v", err)
	}
}
