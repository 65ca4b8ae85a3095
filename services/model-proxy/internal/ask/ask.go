// Package ask executes an ask, which is all questions about one input: one deadline over everything, the models that are asked
// one after the other, and the only retry loop (spec: one-owner-of-retries). The ask of a model ends with one of these reasons:
//
//	                    ┌─ every question has a usable answer ────▶ OK
//	calls ─▶ attempts ──┼─ a question has no usable answer ───────▶ Unusable, NoLogProbs
//	   ▲         │      ├─ a status that is not retried ──────────▶ Refused
//	   └─ pause ─┘      ├─ the next pause is longer than the rest ▶ Refused, Unreachable
//	                    └─ the wait has ended ────────────────────▶ Timeout
package ask

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Config configures an Asker.
type Config struct {
	// MaxInFlight limits concurrent asks; one more is rejected. 256 by default. Accounts share it, and may take up to twice
	// as many (spec: fair-shares).
	MaxInFlight int
	// Jitter returns a number in [0, 1) for each pause. Random by default.
	Jitter func() float64
	// Log gets panics of the provider, without their values. Required.
	Log *slog.Logger
	// Attempted, if not nil, gets the end of each attempt.
	Attempted func(Attempt)
	// Ended, if not nil, gets the end of the ask of each model.
	Ended func(context.Context, End)
}

// Attempt is the end of one upstream call.
type Attempt struct {
	Model *models.Model
	Reply provider.Reply
	Fault *upstream.Fault // nil: there is a reply
	Cost  int64           // of the reply's tokens, in 10⁻¹² of the currency of the model's price; 0 when it is not known
}

// End is the end of the ask of one model.
type End struct {
	Ask      contract.Ask
	Model    *models.Model
	FellBack bool
	Report   Report
	Took     time.Duration
}

// Asker executes asks. It is safe for concurrent use.
type Asker struct {
	models *models.Current
	cfg    Config
	places *fair.Bound
}

// New makes an asker of the models of now.
func New(from *models.Current, cfg Config) *Asker {
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	places := cmp.Or(cfg.MaxInFlight, 256) // a quarter of them is not for calls in the background (spec: run-leaves-places)
	return &Asker{models: from, cfg: cfg, places: fair.New(places, places/4)}
}

// InFlight is the number of running asks.
func (s *Asker) InFlight() int { return s.places.Taken() }

// MaxInFlight is the limit of InFlight.
func (s *Asker) MaxInFlight() int { return s.places.Places() }

// Ask returns when all questions are answered, when one has failed, or when the wait ends, whatever the provider does. It
// returns contract.ErrUnavailable at once when there is no place for the account, and when a call in the background found no place
// at a model for placeWait; any other error is a bug in the provider.
//
// The models are those of the beginning, although others may be configured meanwhile (spec: models-reload).
func (s *Asker) Ask(ctx context.Context, a contract.Ask) (Report, error) {
	set := s.models.Acquire()
	route := set.Route(a.Definition.Model)
	if route == nil {
		set.Release()
		return notConfigured(a.Definition.Model), nil
	}
	account := fair.Account(ctx)
	class := fair.Read
	if a.Background {
		class = fair.Create // leaves the reserve
	}
	if !s.places.Take(account, class) {
		set.Release()
		return Report{}, contract.ErrUnavailable
	}
	start := time.Now()
	// A client disconnect does not cancel the call; its answers are still saved (spec: client-disconnect).
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), contract.ModelWait)
	defer cancel()

	t := &tally{model: route[0]}
	done := make(chan result, 1)
	go func() {
		// This goroutine frees the place, not Ask: a provider that ignores its context keeps the place, so that there are never
		// more of these goroutines.
		defer s.places.Give(account)
		defer set.Release()
		done <- s.route(ctx, a, route, t)
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		r.Report = timedOut()
	}
	r.TookMS = time.Since(start).Milliseconds()
	if r.err == nil {
		r.Call, r.Overloaded = t.call(r.Report, r.labelMass)
	}
	return r.Report, r.err
}

// run asks a model: it executes the provider's calls and joins their answers in question order.
func (s *Asker) run(ctx context.Context, a contract.Ask, m *models.Model, t *tally) result {
	var calls []provider.Call
	if err := s.guard(m, func() { calls = m.API.Calls(a) }); err != nil {
		return result{err: err}
	}
	all := result{Report: Report{Reason: OK}}
	answers := make(prism.Answers, 0, len(a.Definition.Questions))
	for _, r := range s.all(ctx, m, calls, t) {
		if m.API.Probabilities == contract.Logprobs { // of others it may be known, but is not recorded (spec: call-of-a-model)
			all.labelMass = append(all.labelMass, r.labelMass...)
		}
		if r.Reason != OK {
			r.labelMass = all.labelMass
			return r
		}
		for _, answer := range r.answers {
			answers = append(answers, *answer)
		}
	}
	all.Answers = answerjson.Append(make([]byte, 0, 512*len(answers)), answers)
	return all
}

// guard returns a panic of fn as an error: an unrecovered panic would end the process. The panic's value is not logged,
// since it may contain an input.
func (s *Asker) guard(m *models.Model, fn func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.cfg.Log.Error("provider panicked", "model", m.Name, "provider", m.API.Name, "type", fmt.Sprintf("%T", r),
				"stack", string(debug.Stack()))
			err = fmt.Errorf("ask: provider %s panicked", m.API.Name)
		}
	}()
	fn()
	return nil
}
