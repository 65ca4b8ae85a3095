// Package execute is how a create call and a retry come to their answer: look up, check, lock where calls can race, ask
// the model, save.
//
//	look up ─▶ check ─┬─▶ stored document ──────────────────────────────▶ answer
//	   ▲              └─▶ attempt ─▶ lock ─▶ look up, check ─▶ ask ─▶ save ─▶ answer
//	   │                                                               │
//	   └──────────── another call saved first (no lock was to be had) ◀┘
//
// The lock makes repeats wait instead of asking twice; the store's constraints make them right when there is no lock
// (decisions 5).
package execute

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// The bounds of one call. Together they stay below a minute.
const (
	// waitLimit is how long a call waits for others of its race (decisions 5).
	waitLimit = 35 * time.Second
	// askLimit is the model wait and the hop to model-proxy, which keeps the bound itself.
	askLimit = contract.ModelWait + 500*time.Millisecond
	// saveLimit is how long saving is tried after the model was called: as long as a caller can still be answered.
	saveLimit = 10 * time.Second
	// saveTry is one of those tries.
	saveTry = 2500 * time.Millisecond
	// maxRounds bounds the look-ups of a call that loses every race. Each lost race is another call's saved result.
	maxRounds = 64
)

// Deps are what an Executor works with; all are required.
type Deps struct {
	Results contract.Results
	Models  contract.Models
	Locks   lock.Locker
	Sizer   checks.Sizer
	Log     *slog.Logger
	NewID   func() (prism.ResultID, error)
}

// Executor answers create calls and retries.
type Executor struct{ Deps }

// New makes an Executor.
func New(d Deps) *Executor { return &Executor{d} }

// Create answers a parsed create call: the new result, or the stored one that holds its idempotency key.
// Stopping ends waiting for others, never a call that went to the model.
func (a *Executor) Create(ctx, stopping context.Context, key contract.KeyDigest, sent request.Create) (contract.Response, error) {
	query := contract.CreateQuery{
		Key: key, Prism: sent.Prism, Version: sent.Version, IdempotencyKey: sent.IdempotencyKey, Format: sent.Format,
	}
	return a.run(ctx, stopping, sent.Format, func(ctx context.Context) (checks.Decision, error) {
		facts, err := LookUp(ctx, func(ctx context.Context) (contract.CreateFacts, error) { return a.Results.CreateFacts(ctx, query) })
		if err != nil {
			return checks.Decision{}, err
		}
		return checks.Create(sent, facts, a.Sizer)
	})
}

// Retry answers a retry with the new result.
func (a *Executor) Retry(ctx, stopping context.Context, key contract.KeyDigest, id prism.ResultID, format contract.Format) (contract.Response, error) {
	return a.run(ctx, stopping, format, func(ctx context.Context) (checks.Decision, error) {
		facts, err := LookUp(ctx, func(ctx context.Context) (contract.RetryFacts, error) { return a.Results.RetryFacts(ctx, key, id) })
		if err != nil {
			return checks.Decision{}, err
		}
		return checks.Retry(facts, a.Sizer)
	})
}

// LookUp asks for what changes nothing. Results that take longer than ResultsWait are as good as away: nothing was taken.
func LookUp[A any](ctx context.Context, ask func(context.Context) (A, error)) (A, error) {
	ctx, cancel := context.WithTimeout(ctx, contract.ResultsWait)
	defer cancel()
	found, err := ask(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(contract.ErrUnavailable, err)
	}
	return found, err
}

// decide looks up and checks.
type decide func(context.Context) (checks.Decision, error)

func (a *Executor) run(ctx, stopping context.Context, format contract.Format, decide decide) (contract.Response, error) {
	// The caller may leave; its answer is still saved (decisions 5). Every step below has a bound of its own.
	ctx = context.WithoutCancel(ctx)
	wait, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	defer context.AfterFunc(stopping, cancel)()

	for range maxRounds {
		decision, err := decide(ctx)
		if err != nil {
			return contract.Response{}, err
		}
		if decision.Response != nil {
			return *decision.Response, nil
		}
		doc, err := a.attempt(ctx, wait, decision.Attempt, format, decide)
		if !lostRace(err) {
			return doc, err
		}
	}
	return contract.Response{}, apierr.Unavailable()
}

// lost tells that another call of the race saved first.
func lostRace(err error) bool {
	var retried *contract.RetriedError
	return errors.Is(err, contract.ErrKeyTaken) || errors.As(err, &retried)
}

// attempt goes on alone: under the lock, after another look at what the calls before have saved.
func (a *Executor) attempt(ctx, wait context.Context, at *checks.Attempt, format contract.Format, decide decide) (contract.Response, error) {
	if at.Lock == "" {
		return a.askAndSave(ctx, at, format)
	}
	crash.At(crash.BeforeLock)
	lease, err := a.Locks.Acquire(wait, at.Lock)
	switch {
	case err == nil:
		defer lease.Release(ctx)
	case !errors.Is(err, lock.ErrUnavailable):
		// It waited too long, too many wait, or the service is stopping: this call took nothing.
		return contract.Response{}, apierr.Unavailable()
	}
	crash.At(crash.AfterLock)
	decision, err := decide(ctx)
	if err != nil {
		return contract.Response{}, err
	}
	if decision.Response != nil {
		return *decision.Response, nil
	}
	return a.askAndSave(ctx, decision.Attempt, format)
}

// askAndSave sends the attempt to the model and saves what comes back. The id exists before the model is called, so
// that saving twice is one save.
func (a *Executor) askAndSave(ctx context.Context, at *checks.Attempt, format contract.Format) (contract.Response, error) {
	id, err := a.NewID()
	if err != nil {
		return contract.Response{}, err
	}
	crash.At(crash.BeforeModel)
	outcome, err := a.ask(ctx, at.Input)
	if err != nil {
		return contract.Response{}, err
	}
	crash.At(crash.AfterModel)
	return a.save(ctx, contract.Save{
		Account:        at.Account,
		ID:             id,
		Prism:          at.Prism,
		Version:        at.Input.Version.Number,
		Ref:            at.Input.Ref,
		Context:        at.Input.Context,
		Fields:         at.Input.Fields,
		IdempotencyKey: at.IdempotencyKey,
		RetryOf:        at.RetryOf,
		Outcome:        outcome,
		Format:         format,
	})
}

// ask returns an error only when the model was not called. A model-proxy that was lost on the way has perhaps called the
// model, so that is a failed result.
func (a *Executor) ask(ctx context.Context, in contract.Input) (contract.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	started := time.Now()
	outcome, err := a.Models.Ask(ctx, contract.Ask{
		Definition: in.Version.Definition, Fields: in.Fields, Context: in.Context,
	})
	switch {
	case err == nil:
		return outcome, nil
	case errors.Is(err, contract.ErrUnavailable):
		return contract.Outcome{}, apierr.Unavailable()
	}
	took := time.Since(started)
	a.Log.WarnContext(ctx, "model-proxy gave no answer", "error", err, "took", took)
	failed := contract.Outcome{Error: contract.UnreachableText, TookMS: took.Milliseconds()}
	if took >= contract.ModelWait {
		failed.Error = contract.TimeoutText
	}
	return failed, nil
}

// save tries until the store has answered. A save whose answer was lost is sent again; it is one save.
func (a *Executor) save(ctx context.Context, s contract.Save) (contract.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		doc, err := a.saveOnce(ctx, s)
		if err == nil || lostRace(err) {
			return doc, err
		}
		a.Log.WarnContext(ctx, "saving a result failed", "error", err)
		select {
		case <-time.After(pause + rand.N(pause)): //nolint:gosec // jitter needs no secrecy
		case <-ctx.Done():
			return contract.Response{}, apierr.Internal()
		}
	}
}

func (a *Executor) saveOnce(ctx context.Context, s contract.Save) (contract.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, saveTry)
	defer cancel()
	return a.Results.Save(ctx, s)
}
