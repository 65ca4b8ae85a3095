package model

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Script is the behaviour under one tag, and a record of the calls with this tag.
type Script struct {
	// Tag goes into a field of the call.
	Tag string

	mu       sync.Mutex
	steps    []Step
	requests []Request
	changed  chan struct{} // closed and replaced at each call
}

// Script registers steps under a new tag. Each call takes the next step; the last step repeats. Without steps every call
// gets likely answers.
func (m *Model) Script(steps ...Step) *Script {
	s := &Script{Tag: Mark + "-" + rand.Text(), steps: steps, changed: make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts[s.Tag] = s
	return s
}

// Then replaces the steps of the next calls.
func (s *Script) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = steps
}

// Calls counts the calls that have arrived.
func (s *Script) Calls() int { return len(s.Requests()) }

// Requests are the calls that have arrived, in order.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// awaitBudget bounds the wait for a call, on a machine of any load.
const awaitBudget = 3 * time.Minute

// Await waits until n calls have arrived. It fails after a minute, since a call that Prism refused never arrives.
func (s *Script) Await(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, awaitBudget)
	defer cancel()
	for {
		s.mu.Lock()
		got, changed := len(s.requests), s.changed
		s.mu.Unlock()
		if got >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("model: %d of %d calls arrived: %w", got, n, ctx.Err())
		}
	}
}

func (s *Script) next(r Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.changed)
	s.changed = make(chan struct{})
	if len(s.steps) == 0 {
		return Likely()
	}
	step := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	return step
}
