package contracttest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
)

type models struct {
	heard   contract.Ask
	outcome contract.Outcome
	err     error
}

func (m *models) Ask(_ context.Context, a contract.Ask) (contract.Outcome, error) {
	m.heard = a
	return m.outcome, m.err
}

// Models runs the suite. connect returns a client of what it is given.
func Models(t *testing.T, connect func(*testing.T, contract.Models) contract.Models) {
	t.Helper()
	far := &models{}
	near := connect(t, far)
	ask := contract.Ask{Definition: definition, Hash: aHash, Fields: fields, Context: odd}
	for _, want := range []contract.Outcome{
		{Answers: []byte(`{"b":{"type":"yes_no","probability":0.1},"a":2}`), TookMS: 12},
		{Error: contract.TimeoutText, TookMS: 15_000},
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
	far.err = contract.ErrUnavailable
	if _, err := near.Ask(patience(t), ask); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	far.err = errors.New("a bug")
	if _, err := near.Ask(patience(t), ask); err == nil || errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("a fault arrived as %v", err)
	}
}
