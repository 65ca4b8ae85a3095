package models

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Model is a configured model that can be asked. It is safe for concurrent use.
type Model struct {
	Spec
	API provider.Provider // how it is asked

	client  *upstream.Client    // nil for offline
	places  *semaphore.Weighted // nil without a bound
	breaker *breaker
	running atomic.Int64
	sets    atomic.Int64 // that have the model
}

// New makes a model. The client is nil if there is no upstream.
func New(spec Spec, api provider.Provider, client *upstream.Client) *Model {
	m := &Model{Spec: spec, API: api, client: client, breaker: newBreaker()}
	if spec.MaxInFlight > 0 {
		m.places = semaphore.NewWeighted(int64(spec.MaxInFlight))
	}
	return m
}

// Remote tells whether calls of the model are calls of an upstream.
func (m *Model) Remote() bool { return m.API.Probabilities != contract.Simulated }

// Available tells whether the model is not skipped.
func (m *Model) Available() bool { return !m.breaker.open() }

// Running is the number of calls that have a place.
func (m *Model) Running() int64 { return m.running.Load() }

// State is that of the circuit breaker: 0 closed, 1 one call on trial, 2 open.
func (m *Model) State() int { return int(m.breaker.circuit.State()) }

// Enter takes a place for a call unless the model is skipped or full. With wait, it waits for a place until ctx ends. The call
// ends with leave, which is told whether the model failed so that its fallback is asked.
func (m *Model) Enter(ctx context.Context, wait bool) (leave func(failed bool), ok bool) {
	if m.breaker.open() || !m.take(ctx, wait) {
		return nil, false
	}
	done, ok := m.breaker.allow()
	if !ok {
		m.give()
		return nil, false
	}
	return func(failed bool) {
		m.give()
		done(failed)
	}, true
}

// Force is Enter with wait of a model that is asked although it may be skipped: nothing else can be asked. The end of such a call
// does not count.
func (m *Model) Force(ctx context.Context) (leave func(failed bool), ok bool) {
	if !m.take(ctx, true) {
		return nil, false
	}
	return func(bool) { m.give() }, true
}

func (m *Model) take(ctx context.Context, wait bool) bool {
	switch {
	case m.places == nil:
	case !wait && !m.places.TryAcquire(1):
		return false
	case wait && m.places.Acquire(ctx, 1) != nil:
		return false
	}
	m.running.Add(1)
	return true
}

func (m *Model) give() {
	m.running.Add(-1)
	if m.places != nil {
		m.places.Release(1)
	}
}

func (m *Model) describe(isDefault bool) contract.Model {
	return contract.Model{
		Name: m.Name, Provider: m.Provider, Model: m.Model, Default: isDefault,
		Probabilities: m.API.Probabilities, Price: m.Price.contract(), Fallback: append([]string{}, m.Fallback...),
	}
}

// Close closes idle connections. Calls under way go on.
func (m *Model) Close() {
	if m.client != nil {
		m.client.Close()
	}
}
