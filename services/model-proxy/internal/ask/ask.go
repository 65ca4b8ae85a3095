// Package ask executes an ask, which is all questions about one input, with a provider: one deadline over everything, and
// the only retry loop (spec: one-owner-of-retries). An ask ends with one of these reasons:
//
//	                    ┌─ every question has a usable answer ────▶ OK
//	calls ─▶ attempts ──┼─ a question has no usable answer ───────▶ Unusable
//	   ▲         │      ├─ a status that is not retried ──────────▶ Refused
//	   └─ pause ─┘      ├─ last attempt, or the pause is too long ▶ Refused, Unreachable
//	                    └─ the wait has ended ────────────────────▶ Timeout
package ask

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
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

// Config is optional.
type Config struct {
	// MaxInFlight limits concurrent asks; one more is rejected. 256 by default.
	MaxInFlight int
	// Jitter returns a number in [0, 1) for each pause. Random by default.
	Jitter func() float64
	// Log gets panics of the provider, without their values. slog.Default by default.
	Log *slog.Logger
	// Attempted, if not nil, gets the end of each attempt.
	Attempted func(provider.Reply, *upstream.Fault)
}

// Report is an outcome with its reason, for metrics and logs.
type Report struct {
	contract.Outcome
	Reason Reason
	Status int    // upstream.Fault.Status when Reason is Refused
	Cause  string // upstream.Fault.Cause when Reason is Unreachable
}

// Asker executes asks with one provider. It is safe for concurrent use.
type Asker struct {
	provider provider.Provider
	cfg      Config
	slots    chan struct{}
}

// New makes an asker.
func New(p provider.Provider, cfg Config) *Asker {
	if cfg.MaxInFlight <= 0 {
		cfg.MaxInFlight = 256
	}
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Asker{provider: p, cfg: cfg, slots: make(chan struct{}, cfg.MaxInFlight)}
}

// InFlight is the number of running asks.
func (s *Asker) InFlight() int { return len(s.slots) }

// MaxInFlight is the limit of InFlight.
func (s *Asker) MaxInFlight() int { return cap(s.slots) }

// Ask returns when all questions are answered, when one has failed, or when the wait ends, whatever the provider does. It
// returns contract.ErrUnavailable at once when MaxInFlight asks are running; any other error is a bug in the provider.
func (s *Asker) Ask(ctx context.Context, a contract.Ask) (Report, error) {
	select {
	case s.slots <- struct{}{}:
	default:
		return Report{}, contract.ErrUnavailable
	}
	start := time.Now()
	// A client disconnect does not cancel the call; its answers are still saved (spec: client-disconnect).
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), contract.ModelWait)
	defer cancel()

	type ended struct {
		Report
		err error
	}
	done := make(chan ended, 1)
	go func() {
		// This goroutine frees the slot, not Ask: a provider that ignores its context keeps the slot, so that there are never
		// more than MaxInFlight of these goroutines.
		defer func() { <-s.slots }()
		v, err := s.run(ctx, a)
		done <- ended{v, err}
	}()

	var e ended
	select {
	case e = <-done:
	case <-ctx.Done():
		e.Report = timedOut()
	}
	e.TookMS = time.Since(start).Milliseconds()
	return e.Report, e.err
}

// run executes the provider's calls and joins their answers in question order.
func (s *Asker) run(ctx context.Context, a contract.Ask) (Report, error) {
	var calls []provider.Call
	if err := s.guard(func() { calls = s.provider.Calls(a) }); err != nil {
		return Report{}, err
	}
	answers := make(prism.Answers, 0, len(a.Definition.Questions))
	for _, r := range s.all(ctx, calls) {
		if r.err != nil || r.Reason != OK {
			return r.Report, r.err
		}
		for _, answer := range r.answers {
			answers = append(answers, *answer)
		}
	}
	return Report{Reason: OK, Outcome: contract.Outcome{Answers: answerjson.Append(nil, answers)}}, nil
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
	switch f.Kind {
	case upstream.Refused:
		v := failed(Refused, "The model service refused the call (status "+strconv.Itoa(f.Status)+").")
		v.Status = f.Status
		return v
	case upstream.Cancelled: // the report of a call that another call cancelled is not read, so the wait has ended
		return timedOut()
	case upstream.Unreachable:
	}
	v := failed(Unreachable, contract.UnreachableText)
	v.Cause = f.Cause
	return v
}
