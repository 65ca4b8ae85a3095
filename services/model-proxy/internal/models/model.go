package models

import (
	"context"
	"sync/atomic"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Model is a configured model. It is safe for concurrent use.
type Model struct {
	Spec
	API provider.Provider // how it is asked

	client  *upstream.Client // nil for offline
	places  places
	breaker *breaker
	sets    atomic.Int64 // how many sets have the model
}

// New makes a model. The client is nil if there is no upstream.
func New(spec Spec, api provider.Provider, client *upstream.Client) *Model {
	return &Model{Spec: spec, API: api, client: client, breaker: newBreaker(), places: places{most: spec.MaxInFlight}}
}

// Remote tells whether asking the model calls an upstream.
func (m *Model) Remote() bool { return m.API.Probabilities != contract.Simulated }

// Available tells whether the model is not skipped.
func (m *Model) Available() bool { return !m.breaker.open() }

// Running is the number of calls that have a place.
func (m *Model) Running() int64 { return int64(m.places.running()) }

// State is that of the circuit breaker: 0 closed, 2 open, 1 until a call on trial has ended.
func (m *Model) State() int { return int(m.breaker.circuit.State()) }

// Enter takes a place for a call unless the model is skipped or full. With wait, it waits for a place until ctx ends. The caller
// ends the call with leave, and says whether the model failed in a way for which its fallback is asked. Background calls get
// their places after the others (spec: run-leaves-places).
func (m *Model) Enter(ctx context.Context, wait, background bool) (leave func(failed bool), ok bool) {
	if m.breaker.open() || !m.take(ctx, wait, background) {
		return nil, false
	}
	done, ok := m.breaker.allow()
	if !ok {
		m.places.give(background)
		return nil, false
	}
	return func(failed bool) {
		m.places.give(background)
		done(failed)
	}, true
}

// Force is Enter with wait for a model that may be skipped: it is asked because no other model can be. The breaker does not count
// how the call ended.
func (m *Model) Force(ctx context.Context, background bool) (leave func(failed bool), ok bool) {
	if !m.take(ctx, true, background) {
		return nil, false
	}
	return func(bool) { m.places.give(background) }, true
}

func (m *Model) take(ctx context.Context, wait, background bool) bool {
	if wait {
		return m.places.wait(ctx, background)
	}
	return m.places.tryTake(background)
}

func (m *Model) describe(isDefault bool) contract.Model {
	var order *string
	if m.Order != "" {
		order = &m.Order
	}
	return contract.Model{
		Name: m.Name, Provider: m.Provider, Model: m.Model, Default: isDefault,
		Probabilities: m.API.Probabilities, Price: m.Price.contract(), Fallback: append([]string{}, m.Fallback...), Order: order,
	}
}

// Close closes idle connections. Calls under way go on.
func (m *Model) Close() {
	if m.client != nil {
		m.client.Close()
	}
}
