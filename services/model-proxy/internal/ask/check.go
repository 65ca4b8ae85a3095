package ask

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

// Checked is what a model did with an ask of a check.
type Checked struct {
	Report
	// Thinks: the model thought, or began to, before it answered.
	Thinks bool
}

// Together is the outcome of the first ask, with all that the check used.
func Together(did []Checked) contract.Outcome {
	first, last := did[0].Outcome, did[len(did)-1].Call
	call := *first.Call
	call.Usage, call.Tries = last.Usage, last.Tries // of one tally
	first.Call = &call
	return first
}

// Check asks a model alone, one ask after the other until one fails. No call is tried again, nothing falls back, and the model is asked
// also when its circuit breaker skips it, which does not count how the call ended (spec: model-check). It returns
// contract.ErrUnavailable if the model is being checked already, or has no place.
func (s *Asker) Check(ctx context.Context, m *models.Model, asks []contract.Ask) ([]Checked, error) {
	if !m.BeginCheck() {
		return nil, contract.ErrUnavailable
	}
	defer m.EndCheck()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), contract.ModelWait)
	defer cancel()
	leave, ok := m.Force(ctx, false)
	if !ok {
		return nil, contract.ErrUnavailable
	}
	defer leave(false, 0)
	var all []Checked
	t := &tally{model: m, once: true} // of all asks
	for _, a := range asks {
		start := time.Now()
		done := make(chan result, 1)
		go func() { done <- s.run(ctx, a, m, t) }()
		r := result{Report: timedOut()}
		select {
		case r = <-done:
		case <-ctx.Done():
		}
		if r.err != nil {
			return nil, r.err
		}
		c := Checked{t.end(r), r.thinks}
		c.TookMS = time.Since(start).Milliseconds()
		if all = append(all, c); !c.OK() {
			break
		}
	}
	return all, nil
}
