// Package ask executes an ask, which is all questions about one input: one deadline over everything, the models that are asked
// one after the other, and the only retry loop (spec: one-owner-of-retries). The ask of a model ends with one of these classes:
//
//	                    ┌─ every question has a usable answer ────▶ ok
//	calls ─▶ attempts ──┼─ a question has no usable answer ───────▶ no_answer
//	   ▲         │      ├─ a fault that is not tried again ───────▶ its class
//	   └─ pause ─┘      ├─ the next pause is longer than the rest ▶ unavailable, limited, unreadable
//	                    └─ the wait has ended ────────────────────▶ unavailable
//
// When the answers of the first route are doubtful, the route of the second model follows (spec: escalation):
//
//	route ──▶ OK ──┬─ no answer is doubtful ────────────────────────▶ the first answers
//	               └─ otherwise ──▶ route of the second ──┬─ OK ────▶ the second answers
//	                                                      └─ other ─▶ the first answers, and why in the record
package ask

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/stack"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// callsCome is how long after a foreground call, one that somebody waits for, further ones are expected (spec: run-yields).
const callsCome = 500 * time.Millisecond

// Config configures an Asker.
type Config struct {
	// MaxInFlight limits concurrent asks; one more is rejected. 256 by default. Accounts share it, and may take up to twice
	// as many (spec: fair-shares).
	MaxInFlight int
	// Jitter returns a number in [0, 1) for each pause. It is rand.Float64 by default.
	Jitter func() float64
	// Goroutines run the asks; nil: a new one each.
	Goroutines *stack.Goroutines
	// Log gets panics of the provider, without their values. Required.
	Log *slog.Logger
	// Attempted, if not nil, gets the end of each attempt.
	Attempted func(Attempt)
	// Ended, if not nil, gets the end of the ask of each model.
	Ended func(context.Context, End)
	// Escalated, if not nil, gets the end of each escalation to a configured model: no code if the second answers are the result.
	Escalated func(to *models.Model, code prism.ErrorCode)
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
	seed   maphash.Seed
	called atomic.Pointer[time.Time] // when the last foreground call came
}

// New makes an Asker that asks the models of from.
func New(from *models.Current, cfg Config) *Asker {
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	places := cmp.Or(cfg.MaxInFlight, 256) // a quarter of them is not for calls in the background (spec: run-leaves-places)
	return &Asker{models: from, cfg: cfg, places: fair.New(places, places/4), seed: maphash.MakeSeed()}
}

// InFlight is the number of running asks.
func (s *Asker) InFlight() int { return s.places.Taken() }

// MaxInFlight is the limit of InFlight.
func (s *Asker) MaxInFlight() int { return s.places.Places() }

// Ask returns when all questions are answered, when one has failed, or when the wait ends, whatever the provider does. It
// returns contract.ErrUnavailable at once when there is no place for the account, and when a background call found no place at a
// model within placeWait; any other error is a bug in the provider.
//
// An ask keeps the models that were configured when it began (spec: models-reload).
func (s *Asker) Ask(ctx context.Context, a contract.Ask) (Report, error) {
	set := s.models.Acquire()
	route := set.Route(a.Definition.Model)
	if route == nil {
		set.Release()
		return notConfigured(a.Definition.Model), nil
	}
	account := fair.Account(ctx)
	class := fair.Preferred
	if a.Background {
		class = fair.Yielding // leaves the reserve
	} else {
		now := time.Now()
		s.called.Store(&now)
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
	var second []*models.Model
	if e := a.Definition.Escalate; e != nil {
		second = set.Route(e.To)
	}
	done := make(chan result, 1)
	s.cfg.Goroutines.Go(func() {
		// This goroutine frees the place, not Ask: a provider that ignores its context keeps the place, so that there are never
		// more of these goroutines than places.
		defer s.places.Give(account)
		defer set.Release()
		done <- s.answer(ctx, a, route, second, t)
	})
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		r.Report = timedOut()
	}
	took := time.Since(start).Milliseconds()
	if r.err != nil {
		return Report{}, r.err
	}
	v := t.end(r)
	v.TookMS = took
	if called := s.called.Load(); a.Background && called != nil {
		v.CallsCome = time.Since(*called) < callsCome
	}
	if e := v.Call.Escalation; e != nil && len(second) > 0 && s.cfg.Escalated != nil {
		s.cfg.Escalated(second[0], r.Code)
	}
	return v, nil
}

// answer asks the models of a route, and then those of the second route when the answers are doubtful. It returns how the last
// route ended; the tally keeps the first answers.
func (s *Asker) answer(ctx context.Context, a contract.Ask, route, second []*models.Model, t *tally) result {
	first := s.route(ctx, a, route, false, t)
	e := a.Definition.Escalate
	if len(first.doubtful) == 0 || !t.escalate(first, e.To, second) {
		return first
	}
	if second == nil {
		return result{Report: notConfigured(e.To)}
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < leastForSecond {
		return result{Report: timedOut()}
	}
	return s.route(ctx, a, second, true, t)
}

// run asks a model: it executes the provider's calls and joins their answers in question order. If some of them asked groups of options, a
// last round of calls asks the most probable of these (spec: option-groups).
func (s *Asker) run(ctx context.Context, a contract.Ask, m *models.Model, t *tally) result {
	asked, byKey := inParts(a, m)
	all := joined{
		logProbs: m.API.Probabilities == api.Logprobs, questions: make([]joinedQuestion, 0, len(asked.Definition.Questions)), parts: byKey,
	}
	var calls []provider.Call
	if err := s.guard(m, func() { calls = m.API.Calls(asked) }); err != nil {
		return result{err: err}
	}
	byKey.name(calls)
	if n := countCalls(calls); n > contract.MaxCalls {
		return result{Report: tooManyCalls(n)}
	}
	if failed := all.add(calls, s.all(ctx, m, calls, t)); failed != nil {
		return *failed
	}
	questions, failed := all.lastRound(m.LeastLabelMass(), m.API.FlatOptions)
	if failed != nil {
		return *failed
	}
	if len(questions) > 0 {
		if err := s.guard(m, func() { calls = m.API.LastRound(asked, questions) }); err != nil {
			return result{err: err}
		}
		if failed := all.add(calls, s.all(ctx, m, calls, t)); failed != nil {
			return *failed
		}
	}
	return all.result(a)
}

// pool joins the results of the orders of a question, of which call asks the first one (spec: label-orders). The first one that failed
// decides: later ones were cancelled.
func pool(call provider.Call, orders []result) result {
	first := orders[0]
	for _, r := range orders {
		if r.err != nil || !r.OK() {
			return r
		}
	}
	if call.Samples > 0 {
		return sampled(call, orders)
	}
	if len(orders) == 1 {
		return first
	}
	var answers []*prism.Answer
	var mass float64
	absent := map[string]bool{}
	for _, r := range orders {
		answers = append(answers, r.answers[0])
		for _, a := range r.absent {
			for _, key := range a.Keys {
				absent[key] = true
			}
		}
		for _, m := range r.labelMass {
			mass += m.Mass / float64(len(orders))
		}
	}
	answer, distance := score.Pool(answers)
	first.answers = []*prism.Answer{answer}
	first.labelMass = []prism.LabelMass{{Question: answer.Question, Mass: mass}}
	first.disagreement = []prism.Disagreement{{Question: answer.Question, Distance: distance}}
	first.absent = nil
	if keys := slices.DeleteFunc(call.Questions[0].ReplyKeys(), func(key string) bool { return !absent[key] }); len(keys) > 0 {
		first.absent = []prism.Absent{{Question: answer.Question, Keys: keys}}
	}
	return first
}

// sampled makes answers of the samples that the calls have drawn (spec: sampled-answers).
func sampled(call provider.Call, calls []result) result {
	r := calls[0]
	r.answers = nil
	for i, q := range call.Questions {
		counts, asked := make([]int, len(q.ReplyKeys())), 0
		for _, c := range calls {
			asked += c.samples
			for at, k := range c.counts[i] {
				counts[at] += k
			}
		}
		answer := score.Sampled(q, counts, asked)
		if answer == nil {
			r.Report = noUsableAnswer(call.Name(q))
			return r
		}
		r.answers = append(r.answers, answer)
	}
	return r
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
