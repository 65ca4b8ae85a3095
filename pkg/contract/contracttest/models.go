package contracttest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

type models struct {
	heard   contract.Ask
	outcome contract.Outcome
	listed  []api.Model
	states  []api.ModelState
	checked string
	check   contract.ModelCheck
	err     error
}

func (m *models) Ask(_ context.Context, a contract.Ask) (contract.Outcome, error) {
	m.heard = a
	return m.outcome, m.err
}

func (m *models) Check(_ context.Context, name string) (contract.ModelCheck, error) {
	m.checked = name
	return m.check, m.err
}

func (m *models) States(context.Context) ([]api.ModelState, error) { return m.states, m.err }

func (m *models) List(context.Context) ([]api.Model, error) { return m.listed, m.err }

// Models runs the suite. connect returns a client of what it is given.
func Models(t *testing.T, connect func(*testing.T, contract.Models) contract.Models) {
	t.Helper()
	far := &models{}
	near := connect(t, far)
	ask := contract.Ask{Definition: definition, Hash: aHash, Fields: fields, Context: odd, Background: true}
	for _, want := range []contract.Outcome{
		{Answers: []byte(`{"b":{"type":"yes_no","probability":0.1},"a":2,"c":{"type":"tags","values":[],"probabilities":{"x":0.1}}}`), TookMS: 12},
		{Error: contract.TimeoutText, TookMS: 15_000, Overloaded: true, CallsCome: true},
		{Answers: []byte(`{"a":2}`), Call: &prism.ModelCall{
			Name: "strong", Tries: 3, Disagreement: []prism.Disagreement{{Question: "a", Distance: 0.25}},
			Rounds: []prism.Rounds{{Question: "a", Rounds: []prism.Round{{Groups: 2, Options: 21}, {Groups: 1, Options: 16}}}},
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
	far.states = []api.ModelState{{
		Name: "fast", State: api.ModelSkipped, Running: 3, MaxInFlight: new(7),
		Failures: []api.ModelFailure{{Reason: api.FailedKey, At: api.Time{Time: time.UnixMilli(1_800_000_000_123).UTC()}}},
	}}
	if got, err := near.States(patience(t)); err != nil || !reflect.DeepEqual(got, far.states) {
		t.Errorf("states %+v, %v, want %+v", got, err, far.states)
	}
	far.check = contract.ModelCheck{
		Found: api.ModelCheck{Name: "fast", OK: true, TookMS: 7, Checks: []api.CheckedPart{
			{Part: api.PartReached, Status: api.PartOK, Text: odd}, {Part: api.PartRequest, Status: api.PartFailed, Write: new(odd)},
		}},
		Definition: definition, Outcome: contract.Outcome{Answers: []byte(`{"a":2}`), Call: &prism.ModelCall{Name: "fast"}},
	}
	if got, err := near.Check(patience(t), "fast"); err != nil || !reflect.DeepEqual(got, far.check) || far.checked != "fast" {
		t.Errorf("checked %+v, %v, want %+v", got, err, far.check)
	}
	calls := map[string]func() error{
		"States": func() error { _, err := near.States(patience(t)); return err },
		"Check":  func() error { _, err := near.Check(patience(t), "fast"); return err },
		"Ask":    func() error { _, err := near.Ask(patience(t), ask); return err },
		"List":   func() error { _, err := near.List(patience(t)); return err },
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
