package models

import (
	"slices"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// mostFailures is how many of its last failures a model remembers.
const mostFailures = 10

// failures are the last failures of a model, newest first. It is safe for concurrent use.
type failures struct {
	mu   sync.Mutex
	last []api.ModelFailure
}

func (f *failures) add(class failure.Class, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = slices.Insert(f.last, 0, api.ModelFailure{Reason: api.FailureClass(class), At: api.Time{Time: at.UTC().Truncate(time.Millisecond)}})
	f.last = f.last[:min(len(f.last), mostFailures)]
}

func (f *failures) list() []api.ModelFailure {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]api.ModelFailure{}, f.last...)
}

// NoteFailure remembers the end of a call, unless its class says nothing of the model: what texts of other accounts are like is
// theirs (spec: model-states).
func (m *Model) NoteFailure(class failure.Class) {
	if class != failure.OK && !class.OfRequest() {
		m.failures.add(class, time.Now())
	}
}

// States says how the models do.
func (s *Set) States() []api.ModelState {
	list := make([]api.ModelState, len(s.models))
	for i, m := range s.models {
		list[i] = m.state()
	}
	return list
}

func (m *Model) state() api.ModelState {
	s := api.ModelState{Name: m.Name, State: api.ModelAsked, Running: m.places.running(), Failures: m.failures.list()}
	if m.MaxInFlight > 0 {
		s.MaxInFlight = &m.MaxInFlight
	}
	switch {
	case m.breaker.open():
		s.State = api.ModelSkipped
	case !m.Available():
		s.State = api.ModelNoBalance
	case m.breaker.circuit.State() == gobreaker.StateHalfOpen:
		s.State = api.ModelOnTrial
	}
	return s
}
