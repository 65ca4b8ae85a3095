package contracttest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

type models struct {
	heard   contract.Ask
	outcome contract.Outcome
	listed  []api.Model
	err     error
}

func (m *models) Ask(_ context.Context, a contract.Ask) (contract.Outcome, error) {
	m.heard = a
	return m.outcome, m.err
}

func (m *models) List(context.Context) ([]api.Model, error) { return m.listed, m.err }

// Models runs the suite. connect returns a client of what it is given.
func Models(t *testing.T, connect func(*testing.T, contract.Models) contract.Models) {
	t.Helper()
	far := &models{}
	near := connect(t, far)
	ask := contract.Ask{Definition: definition, Hash: aHash, Fields: fields, Context: odd, Background: true}
	for _, want := range []contract.Outcome{
		{Answers: []byte(`{"b":{"type":"yes_no","probability":0.1},"a":2}`), TookMS: 12},
		{Error: contract.TimeoutText, TookMS: 15_000, Overloaded: true, CallsCome: true},
		{Answers: []byte(`{"a":2}`), Call: &prism.ModelCall{
			Name: "strong", Tries: 3, Disagreement: []prism.Disagreement{{Question: "a", Distance: 0.25}},
			Absent: []prism.Absent{{Question: "a", Keys: []string{"yes", odd}}},
			Escalation: &prism.Escalation{
				Questions: []string{"b", odd}, Name: odd, Provider: "p", Model: "m", FellBack: true, Answers: []byte(`{"a":1}`),
			},
		}},
		{Answers: []byte(`{"a":2}`), Call: &prism.ModelCall{
			Name: "fast", Escalation: &prism.Escalation{Questions: []string{"a"}, Name: "strong", ErrorCode: prism.CodeSkipped},
		}},
	} {
		far.outcome = want
		got, err := near.Ask(patience(t), ask)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		if !reflect.DeepEqual(far.heard, ask) {
			t.Errorf("heard %+v, want %+v", far.heard, ask)
		}
	}
	far.listed = []api.Model{
		{
			Name: "fast", Provider: "openai-chat", Model: odd, Default: true, Probabilities: api.Logprobs,
			Price: &api.Price{Currency: "USD", Input: 0.4, Output: 1.600001, CachedInput: new(0.1), PerCall: new(1e-12)}, Fallback: []string{"b", "a"}, Order: new("cyclic"), PriceReported: true,
		},
		{Name: "a", Provider: "offline", Model: "offline", Probabilities: api.Simulated, Fallback: []string{}},
	}
	if got, err := near.List(patience(t)); err != nil || !reflect.DeepEqual(got, far.listed) {
		t.Errorf("listed %+v, %v, want %+v", got, err, far.listed)
	}
	calls := map[string]func() error{
		"Ask":  func() error { _, err := near.Ask(patience(t), ask); return err },
		"List": func() error { _, err := near.List(patience(t)); return err },
	}
	for name, call := range calls {
		far.err = contract.ErrUnavailable
		if err := call(); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		}
		far.err = errors.New("a bug")
		if err := call(); err == nil || errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("%s: a fault arrived as %v", name, err)
		}
	}
}
