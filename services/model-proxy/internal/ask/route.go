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
	// longWait: a wait for a place that is longer than this, and longer than the call itself, shows that too many calls run at
	// once. With half as many calls all places would still be taken.
	longWait = 100 * time.Millisecond
	// leastForSecond is the time that must be left for a second model to be asked: what the third of three models has.
	leastForSecond = contract.ModelWait / 4
)

// route asks the models of a route, one after the other, until one does not fall back (spec: fallback).
//
// A model with an available fallback behind it gets half of the remaining time, so that the other half remains for the fallback:
// of 15 s, two models have 7.5 s each, and three have 7.5 s, 3.75 s and 3.75 s. A model that fails sooner leaves more.
//
// A model that its circuit breaker skips, or that is full, is passed over while another one behind it is available. If that
// leaves no model to ask, the first one that was passed over is asked after all, also if it is skipped.
//
// The route of a second model has the answers of the first to fall back on. So it asks no model that is skipped, and a call in
// the background waits for a place as long as any other call (spec: escalation-time).
func (s *Asker) route(ctx context.Context, a contract.Ask, route []*models.Model, second bool, t *tally) result {
	r := result{Report: timedOut()}
	waits := ctx // for places
	if a.Background && !second {
		var cancel context.CancelFunc
		waits, cancel = context.WithTimeout(ctx, placeWait)
		defer cancel()
	}
	began := time.Now()
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
		s.ended(ctx, End{Ask: a, Model: route[0], Report: r.Report, Took: time.Since(began)})
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
