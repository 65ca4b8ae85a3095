// Package ask executes an ask, which is all questions about one input, with a provider: one deadline over everything, and
// the only retry loop (spec: one-owner-of-retries). An ask ends with one of these reasons:
//
//	                    ┌─ every question has a usable answer ────▶ OK
//	calls ─▶ attempts ──┼─ a question has no usable answer ───────▶ Unusable
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
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Reason is how an ask ended. It is a label of metrics and a member of log lines.
type Reason string

// The reasons.
const (
	OK          Reason = "ok"
	Unusable    Reason = "unusable"
	Refused     Reason = "refused"
	Unreachable Reason = "unreachable"
	Timeout     Reason = "timeout"
)

// Reasons are all reasons.
func Reasons() []Reason { return []Reason{OK, Unusable, Refused, Unreachable, Timeout} }

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
	Attempted func(provider.Reply, *upstream.Fault)
}

// Report is an outcome with its reason and the fault of the last attempt, for metrics and logs.
type Report struct {
	contract.Outcome
	upstream.Fault
	Reason Reason
}

// Asker executes asks with one provider. It is safe for concurrent use.
type Asker struct {
	provider provider.Provider
	cfg      Config
	places   *fair.Bound
}

// New makes an asker.
func New(p provider.Provider, cfg Config) *Asker {
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	return &Asker{provider: p, cfg: cfg, places: fair.New(cmp.Or(cfg.MaxInFlight, 256), 0)}
}

// InFlight is the number of running asks.
func (s *Asker) InFlight() int { return s.places.Taken() }

// MaxInFlight is the limit of InFlight.
func (s *Asker) MaxInFlight() int { return s.places.Places() }

// Ask returns when all questions are answered, when one has failed, or when the wait ends, whatever the provider does. It
// returns contract.ErrUnavailable at once when there is no place for the account; any other error is a bug in the provider.
func (s *Asker) Ask(ctx context.Context, a contract.Ask) (Report, error) {
	account := fair.Account(ctx)
	if !s.places.Take(account, fair.Read) {
		return Report{}, contract.ErrUnavailable
	}
	start := time.Now()
	// A client disconnect does not cancel the call; its answers are still saved (spec: client-disconnect).
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), contract.ModelWait)
	defer cancel()

	done := make(chan result, 1)
	go func() {
		// This goroutine frees the place, not Ask: a provider that ignores its context keeps the place, so that there are never
		// more of these goroutines.
		defer s.places.Give(account)
		done <- s.run(ctx, a)
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		r.Report = timedOut()
	}
	r.TookMS = time.Since(start).Milliseconds()
	return r.Report, r.err
}

// run executes the provider's calls and joins their answers in question order.
func (s *Asker) run(ctx context.Context, a contract.Ask) result {
	var calls []provider.Call
	if err := s.guard(func() { calls = s.provider.Calls(a) }); err != nil {
		return result{err: err}
	}
	answers := make(prism.Answers, 0, len(a.Definition.Questions))
	for _, r := range s.all(ctx, calls) {
		if r.Reason != OK {
			return r
		}
		for _, answer := range r.answers {
			answers = append(answers, *answer)
		}
	}
	encoded := answerjson.Append(make([]byte, 0, 512*len(answers)), answers)
	return result{Report: Report{Reason: OK, Outcome: contract.Outcome{Answers: encoded}}}
}

// guard returns a panic of fn as an error: an unrecovered panic would end the process. The panic's value is not logged,
// since it may contain an input.
func (s *Asker) guard(fn func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.cfg.Log.Error("provider panicked", "provider", s.provider.Name, "type", fmt.Sprintf("%T", r),
				"stack", string(debug.Stack()))
			err = fmt.Errorf("ask: provider %s panicked", s.provider.Name)
		}
	}()
	fn()
	return nil
}

func failed(r Reason, text string) Report {
	return Report{Reason: r, Outcome: contract.Outcome{Error: text}}
}

func timedOut() Report { return failed(Timeout, contract.TimeoutText) }

// report is how a call ended whose last attempt ended so (spec: error-texts).
func report(c provider.Call, r provider.Reply, f *upstream.Fault) Report {
	if f == nil {
		for i, q := range c.Questions {
			if i >= len(r.Answers) || r.Answers[i] == nil {
				return failed(Unusable, "The model gave no usable answer to question "+q.Key+".")
			}
		}
		return Report{Reason: OK}
	}
	if f.Cause == upstream.Cancelled { // the report of a call that another call cancelled is not read, so the wait has ended
		return timedOut()
	}
	v := failed(Unreachable, contract.UnreachableText)
	if f.Status != 0 {
		v = failed(Refused, "The model service refused the call (status "+strconv.Itoa(f.Status)+").")
	}
	v.Fault = *f
	return v
}
