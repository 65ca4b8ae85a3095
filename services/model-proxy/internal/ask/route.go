package ask

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

const (
	// placeWait is how long a background call waits for places. Then its row is tried again later, as nobody waits for the answer.
	placeWait = 5 * time.Second
	// longWait: a wait for a place that is longer than this, and longer than the call itself, shows that too many calls run at
	// once: half as many would still take all places.
	longWait = 100 * time.Millisecond
	// leastForSecond is the time that must be left to ask a second model. It is what the third of three models gets.
	leastForSecond = contract.ModelWait / 4
)

// route asks the models of a route, one after the other, until one does not fall back (spec: fallback).
//
// A model with an available fallback behind it gets half of the remaining time, so that the other half remains for the fallback:
// of 15 s, two models have 7.5 s each, and three have 7.5 s, 3.75 s and 3.75 s. A model that fails sooner leaves more.
//
// A model that its circuit breaker skips, or that is full, is passed over while a later one is available. If no model was asked,
// the first one that was passed over is asked after all, even if its breaker skips it.
//
// When the route of a second model fails, the first answers remain. So it asks no model that is skipped, and a background call
// waits for a place as long as any other call (spec: escalation-time).
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
		if r.err != nil || !m.FallsBack(r.Class) {
			leave(false, 0)
			return r
		}
		if r.Class == failure.Exhausted {
			m.PassOver()
		}
		leave(!r.Class.OfRequest(), s.requestOf(a))
	}
	if second && !asked && ctx.Err() == nil {
		return result{Report: Report{Code: prism.CodeSkipped}}
	}
	// After a timeout there is time left only if it was cut short for later models, and these were then passed over.
	if passed != nil && !second && ctx.Err() == nil && (!asked || r.Code == prism.CodeTimeout) {
		if leave, ok := passed.Force(waits, a.Background); ok {
			defer leave(false, 0)
			return s.visit(ctx, End{Ask: a, Model: passed, FellBack: passed != route[0]}, false, t)
		}
	}
	if !asked && a.Background && !second {
		return result{err: contract.ErrUnavailable} // no model was called, so the row can wait
	}
	if !asked { // no place until the wait ended
		r.Cause = noPlace
		s.ended(ctx, End{Ask: a, Model: route[0], Report: r.Report, Took: time.Since(began)})
	}
	return r
}

// visit asks a model. If more models follow, it has half of the time that is left.
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
		t.ended(took, r.Code == prism.CodeTimeout)
		e.Report, e.Took = r.Report, took
		s.ended(ctx, e)
	}
	return r
}

// requestOf tells one request from another: what is asked, about what. It is not 0.
func (s *Asker) requestOf(a contract.Ask) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.Write(a.Hash[:]) // it never fails, as the next ones
	_, _ = h.WriteString(a.Context)
	for _, f := range a.Fields {
		_, _ = h.WriteString("\x00" + f.Key + "\x00" + f.Value)
	}
	return max(h.Sum64(), 1)
}

func (s *Asker) ended(ctx context.Context, e End) {
	if s.cfg.Ended != nil {
		s.cfg.Ended(ctx, e)
	}
}
