package ask

import (
	"context"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// The pauses between the attempts of one call: doubled up to maxPause, each shortened by up to half. Retry-After makes pauses
// longer. The attempts end when the next pause does not fit in the wait: a permanent fault gets 11 to 20 attempts.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
)

// result is how a call ended, or the ask of a model, or a route.
type result struct {
	Report                       // of a call without Answers
	answers      []*prism.Answer // one for each question of the call when it is OK
	samples      int
	counts       [][]int // of the samples
	labelMass    []prism.LabelMass
	absent       []prism.Absent
	disagreement []prism.Disagreement
	rounds       []prism.Rounds
	thinks       bool
	doubtful     []string // not of a call: the questions whose answers are to be escalated
	err          error    // a panic of the provider
}

// maxCalls is how many calls of one ask run at the same time. It is the most questions of a version, so that only the orders, groups and parts
// of many questions wait for each other.
const maxCalls = 64

// all executes the calls, maxCalls at a time, and returns their results.
//
// The first call in question order that fails decides the ask, so that the same faults always give the same error text.
// Calls after a failed one are cancelled, and their results must not be read. Calls before a failed one continue, since one
// of them may still fail.
func (s *Asker) all(ctx context.Context, m *models.Model, calls []provider.Call, t *tally) []result {
	results := make([]result, len(calls))
	if len(calls) == 1 {
		results[0] = s.call(ctx, m, calls[0], t)
		return results
	}
	contexts, cancels := make([]context.Context, len(calls)), make([]context.CancelFunc, len(calls))
	for i := range calls {
		contexts[i], cancels[i] = context.WithCancel(ctx)
		defer cancels[i]()
	}
	var running sync.WaitGroup
	free := make(chan struct{}, maxCalls)
	for i, c := range calls {
		free <- struct{}{}
		running.Add(1)
		s.cfg.Goroutines.Go(func() {
			defer running.Done()
			defer func() { <-free }()
			results[i] = s.call(contexts[i], m, c, t)
			if !results[i].OK() {
				for _, cancel := range cancels[i+1:] {
					cancel()
				}
			}
		})
	}
	running.Wait()
	return results
}

// call repeats a call until there is a reply, a fault that is not retryable, or no time left (spec: upstream-retries).
func (s *Asker) call(ctx context.Context, m *models.Model, c provider.Call, t *tally) result {
	unreadable := false
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return result{Report: timedOut()}
		}
		t.attempt(m)
		var reply provider.Reply
		var fault *upstream.Fault
		if err := s.guard(m, func() { reply, fault = c.Do(ctx) }); err != nil {
			return result{err: err}
		}
		cost := int64(0)
		if fault == nil || reply.Tokens.Known() {
			cost = t.used(m, reply.Tokens)
		}
		if s.cfg.Attempted != nil {
			s.cfg.Attempted(Attempt{m, reply, fault, cost})
		}
		ended := result{
			Report: report(m, c, reply, fault), answers: reply.Answers, labelMass: reply.LabelMass, absent: reply.Absent, thinks: reply.Thinks,
			samples: c.Samples, counts: reply.Counts,
		}
		if fault == nil || t.once || !fault.Retryable() || unreadable && fault.Class == failure.Unreadable {
			return ended
		}
		unreadable = unreadable || fault.Class == failure.Unreadable // it is tried again once
		t.fault(fault)
		// A pause that is longer than the rest of the wait ends the attempts (spec: retry-after).
		pause := max(s.backoff(attempt), fault.RetryAfter)
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause {
			return ended
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// backoff is the pause after an attempt, counted from 1. The jitter keeps calls that failed together from being repeated together.
func (s *Asker) backoff(attempt int) time.Duration {
	full := min(firstPause<<min(attempt-1, 10), maxPause)
	return full - time.Duration(s.cfg.Jitter()*float64(full)/2)
}
