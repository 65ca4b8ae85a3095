package models

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Model is a configured model. It is safe for concurrent use.
type Model struct {
	Spec
	API provider.Provider // how it is asked

	client   *upstream.Client // nil for offline
	places   places
	breaker  *breaker
	failures failures
	passed   atomic.Pointer[time.Time] // until when the model is passed over; nil: it never was
	sets     atomic.Int64              // how many sets have the model
	checked  atomic.Bool               // a check is under way
}

// New makes a model. The client is nil if there is no upstream.
func New(spec Spec, p provider.Provider, client *upstream.Client) *Model {
	return &Model{Spec: spec, API: p, client: client, breaker: newBreaker(), places: places{limit: spec.MaxInFlight}}
}

// Remote tells whether asking the model calls an upstream.
func (m *Model) Remote() bool { return m.API.Probabilities != api.Simulated }

// passTime is how long a model without a balance is passed over.
const passTime = time.Minute

// PassOver has the model be skipped for a minute, since its balance is used up (spec: exhausted-model).
func (m *Model) PassOver() { m.passed.Store(new(time.Now().Add(passTime))) }

// Available tells whether the model is not skipped.
func (m *Model) Available() bool {
	until := m.passed.Load()
	return !m.breaker.open() && (until == nil || time.Now().After(*until))
}

// FallsBack tells whether the next model is asked after a failure of the class (spec: fallback).
func (m *Model) FallsBack(c failure.Class) bool {
	if falls, ok := m.FallbackOn[c]; ok {
		return falls
	}
	return c.FallsBack()
}

// LeastLabelMass is the least part of the probability that the labels of a question must have (spec: label-mass-low).
func (m *Model) LeastLabelMass() float64 {
	if m.MinLabelMass == nil {
		return defaultLabelMass
	}
	return *m.MinLabelMass
}

const defaultLabelMass = 0.05

// Running is the number of calls that have a place.
func (m *Model) Running() int64 { return int64(m.places.running()) }

// State is that of the circuit breaker: 0 closed, 2 open, 1 until a call on trial has ended.
func (m *Model) State() int { return int(m.breaker.circuit.State()) }

// Enter takes a place for a call unless the model is skipped or full. With wait, it waits for a place until ctx ends. The caller
// ends the call with leave, and says whether the model failed in a way that the breaker counts, and with which request. Background calls get
// their places after the others (spec: run-leaves-places).
func (m *Model) Enter(ctx context.Context, wait, background bool) (leave func(failed bool, request uint64), ok bool) {
	if !m.Available() || !m.take(ctx, wait, background) {
		return nil, false
	}
	done, ok := m.breaker.allow()
	if !ok {
		m.places.give(background)
		return nil, false
	}
	return func(failed bool, request uint64) {
		m.places.give(background)
		done(failed, request)
	}, true
}

// Force is Enter with wait for a model that may be skipped: it is asked because no other model can be. The breaker does not count
// how the call ended.
func (m *Model) Force(ctx context.Context, background bool) (leave func(failed bool, request uint64), ok bool) {
	if !m.take(ctx, true, background) {
		return nil, false
	}
	return func(bool, uint64) { m.places.give(background) }, true
}

func (m *Model) take(ctx context.Context, wait, background bool) bool {
	if wait {
		return m.places.wait(ctx, background)
	}
	return m.places.tryTake(background)
}

// BeginCheck reports whether no other check of the model is under way. Then EndCheck ends this one.
func (m *Model) BeginCheck() bool { return m.checked.CompareAndSwap(false, true) }

// EndCheck ends a check.
func (m *Model) EndCheck() { m.checked.Store(false) }

func (m *Model) describe(isDefault bool) api.Model {
	var order *string
	if m.Order != "" {
		order = &m.Order
	}
	var samples *int
	if m.API.Probabilities == api.Sampled {
		samples = &m.Profile.Samples
	}
	return api.Model{
		Name: m.Name, Provider: m.Provider, Model: m.Model, Default: isDefault,
		Probabilities: m.API.Probabilities, Price: m.Price.contract(), Fallback: append([]string{}, m.Fallback...), Order: order,
		Samples: samples, PriceReported: m.Price != nil && m.Price.Reported,
	}
}

// Close closes idle connections. Calls under way go on.
func (m *Model) Close() {
	if m.client != nil {
		m.client.Close()
	}
}
