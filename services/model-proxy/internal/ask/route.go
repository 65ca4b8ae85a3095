package ask

import (
	"context"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

const (
	// placeWait is how long a call in the background waits for places. Nobody waits for its answer, so it need not fail.
	placeWait = 5 * time.Second
	// longWait for a place, and longer than the call itself, is a sign of too many calls at once. With half of as many calls
	// all places are still taken.
	longWait = 100 * time.Millisecond
	// leastForSecond is the time that must be left for a second model to be asked: what the third of three models has.
	leastForSecond = contract.ModelWait / 4
)

// route asks the models of a route, one after the other, until one does not fall back (spec: fallback).
//
// A model with a fallback that is left has half of the time that is left, so that the other half remains for those behind it:
// of 15 s, two models have 7.5 s each, and three have 7.5 s, 3.75 s and 3.75 s. A model that fails sooner leaves more.
//
// A model that is skipped by its circuit breaker or full is passed over while another one is left; the last one is waited for.
// When that leaves no model, the first of them is asked nevertheless, as without a fallback.
//
// The route of a second model has answers behind it, those of the first. So it asks no model that is skipped, and a call in the
// background waits for a place as long as others (spec: escalation-time).
func (s *Asker) route(ctx context.Context, a contract.Ask, route []*models.Model, second bool, t *tally) result {
	r := result{Report: timedOut()}
	waits := ctx // for places
	if a.Background && !second {
		var cancel context.CancelFunc
		waits, cancel = context.WithTimeout(ctx, placeWait)
		defer cancel()
	}
	asked, passed := false, (*models.Model)(nil)
	for i, m := range route {
		more := slices.ContainsFunc(route[i+1:], (*models.Model).Available)
		start := time.Now()
		leave, ok := m.Enter(waits, !more, a.Background)
		t.waited(time.Since(start))
		if !ok {
			if passed == nil {
				passed = m
			}
			continue
		}
		asked, r = true, s.visit(ctx, End{Ask: a, Model: m, FellBack: i > 0}, more, t)
		leave(r.err == nil && r.fallsBack())
		if r.err != nil || !r.fallsBack() {
			return r
		}
	}
	if second && !asked && ctx.Err() == nil {
		return result{Report: Report{Reason: Skipped}}
	}
	// After a timeout there is time left only when the models behind were passed over after all.
	if passed != nil && !second && ctx.Err() == nil && (!asked || r.Reason == Timeout) {
		if leave, ok := passed.Force(waits, a.Background); ok {
			defer leave(false)
			return s.visit(ctx, End{Ask: a, Model: passed, FellBack: passed != route[0]}, false, t)
		}
	}
	if !asked && a.Background && !second {
		return result{err: contract.ErrUnavailable} // nothing was called, so the row waits
	}
	if !asked { // no place until the wait ended
		r.Cause = noPlace
		s.ended(ctx, End{Ask: a, Model: route[0], Report: r.Report, Took: contract.ModelWait})
	}
	return r
}

// visit asks a model, within half of the time that is left when more models follow.
func (s *Asker) visit(ctx context.Context, e End, more bool, t *tally) result {
	t.begin(e.Model, e.FellBack)
	start := time.Now()
	if end, ok := ctx.Deadline(); ok && more {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, end.Sub(start)/2)
		defer cancel()
	}
	r := s.run(ctx, e.Ask, e.Model, t)
	took := time.Since(start)
	if r.err == nil {
		t.ended(took, r.Reason == Timeout)
		e.Report, e.Took = r.Report, took
		s.ended(ctx, e)
	}
	return r
}

func (s *Asker) ended(ctx context.Context, e End) {
	if s.cfg.Ended != nil {
		s.cfg.Ended(ctx, e)
	}
}
