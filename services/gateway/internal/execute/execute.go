// Package execute runs create calls and retries: look up, check, lock where calls can race, call the model, save.
//
// A retry, and a create call with an idempotency key of an API key not seen before:
//
//	look up, check ─┬─▶ error, or stored response ─────────────────────────────▶ respond
//	   ▲            └─▶ attempt ─▶ lock ─▶ look up, check ─▶ model ─▶ save ─┬───▶ respond
//	   └────────────────── lost race: another call saved first ◀────────────┘
//
// A create call with an idempotency key of an API key whose account is remembered: the name of the lock needs only the
// account and the idempotency key, so the lock is tried before the look-up.
//
//	try lock ─┬─▶ held: as above. A call that is refused or repeated never waits for the attempt of another call.
//	          └─▶ free ─▶ look up, check ─┬─▶ error, or stored response ───────▶ respond
//	                                      └─▶ model ─▶ save ───────────────────▶ respond
//
// A create call without an idempotency key cannot race: look up, check, model, save.
//
// The lock lets repeats wait instead of calling the model twice. If there is no lock, the constraints of the database
// decide (spec: linearizable, redis-is-optional).
package execute

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/foreign"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
	"github.com/prism-results/prism/services/gateway/internal/lock"
)

// The bounds of one call. Together they stay below a minute.
const (
	// waitLimit is how long a call waits for a lock (spec: wait-limit).
	waitLimit = 35 * time.Second
	// saveLimit is how long a save is tried after the model was called (spec: saving-after-the-model).
	saveLimit = 10 * time.Second
	// saveTry bounds one of those tries.
	saveTry = 2500 * time.Millisecond
	// maxRounds bounds the rounds of a call that loses every race. Each lost race is another call's saved result.
	maxRounds = 64
)

// Deps are what an Executor works with; all are required.
type Deps struct {
	Asking
	Results contract.Results
	Locks   lock.Locker
	// NewID makes the id of a result, which begins with at; at is zero if results sent no time.
	NewID func(at time.Time) (prism.ResultID, error)

	Accounts *Accounts
}

// Executor executes create calls and retries.
type Executor struct{ deps Deps }

// New makes an Executor.
func New(d Deps) *Executor { return &Executor{d} }

// Create returns the result of a parsed create call: a new one, or the stored one that holds the idempotency key. When stopping
// ends, waits for locks end; a call that went to the model goes on.
func (e *Executor) Create(ctx, stopping context.Context, key contract.KeyDigest, sent api.CreateResultRequest) (contract.Response, error) {
	return e.create(ctx, stopping, key, sent, asking{query: contract.CreateQuery{Prism: sent.Prism}})
}

// CreateForeign is Create for a call in a format of others (spec: formats-of-others). mayMake is the check of a caller who makes an ad-hoc
// prism of a definition (spec: adhoc-order).
func (e *Executor) CreateForeign(
	ctx, stopping context.Context, key contract.KeyDigest, sent api.ForeignCall, mayMake func(context.Context, prism.Definition) error,
) (contract.Response, error) {
	a := asking{query: contract.CreateQuery{Prism: sent.Prism}}
	switch {
	case sent.AdHoc != nil:
		v := prism.Version{Number: 1, Definition: sent.AdHoc.Definition}
		v.Hash, _ = contract.HashDefinition(v.Definition)
		a.query = contract.CreateQuery{Prism: prism.Ref{Slug: prism.AdHocSlug(v.Hash)}, AdHoc: true, Names: sent.AdHoc.Names}
		a.asked = func(ctx context.Context) checks.Asked {
			return checks.Asked{AdHoc: &v, MayMake: func() error { return mayMake(ctx, v.Definition) }}
		}
	case sent.Questions != nil:
		a.asked = func(context.Context) checks.Asked {
			return checks.Asked{Own: func(d prism.Definition) bool { return foreign.AreOwn(sent.Format, sent.Questions, d) }}
		}
	}
	return e.create(ctx, stopping, key, sent.CreateResultRequest, a)
}

// asking is what a call asks, and whom; with a nil asked, the questions of the prism.
type asking struct {
	query contract.CreateQuery // the members that name the prism
	asked func(context.Context) checks.Asked
}

// create is Create of a call that says what to ask.
func (e *Executor) create(
	ctx, stopping context.Context, key contract.KeyDigest, sent api.CreateResultRequest, a asking,
) (contract.Response, error) {
	query := a.query
	query.Key, query.Version, query.IdempotencyKey, query.Format = key, sent.Version, sent.IdempotencyKey, sent.Format
	early := ""
	if account, known := e.deps.Accounts.Get(key); known {
		early = checks.KeyLock(account, sent.IdempotencyKey)
	}
	return e.run(ctx, stopping, sent.Format, early, func(ctx context.Context) (checks.Decision, error) {
		facts, err := LookUp(ctx, func(ctx context.Context) (contract.CreateFacts, error) { return e.deps.Results.CreateFacts(ctx, query) })
		if err != nil {
			return checks.Decision{}, err
		}
		e.deps.Accounts.Remember(ctx, key, facts.Account)
		asked := checks.Asked{}
		if a.asked != nil {
			asked = a.asked(ctx)
		}
		decision, err := checks.CreateAsking(asked, sent.NewResult, facts, e.deps.Estimator.SizerForCall(ctx))
		if decision.Attempt != nil {
			decision.Attempt.Names = query.Names
		}
		return decision, err
	})
}

// Retry returns the new result of a retry.
func (e *Executor) Retry(ctx, stopping context.Context, key contract.KeyDigest, id prism.ResultID, format contract.Format) (contract.Response, error) {
	return e.run(ctx, stopping, format, "", func(ctx context.Context) (checks.Decision, error) {
		facts, err := LookUp(ctx, func(ctx context.Context) (contract.RetryFacts, error) { return e.deps.Results.RetryFacts(ctx, key, id) })
		if err != nil {
			return checks.Decision{}, err
		}
		e.deps.Accounts.Remember(ctx, key, facts.Account)
		return checks.Retry(facts, e.deps.Estimator.SizerForCall(ctx))
	})
}

// LookUp calls ask, which changes nothing, for at most ResultsWait. If the time is over, the error is contract.ErrUnavailable.
func LookUp[A any](ctx context.Context, ask func(context.Context) (A, error)) (A, error) {
	return LookUpFor(ctx, contract.ResultsWait, ask)
}

// LookUpFor is LookUp for a call that may take longer.
func LookUpFor[A any](ctx context.Context, wait time.Duration, ask func(context.Context) (A, error)) (A, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	found, err := ask(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(contract.ErrUnavailable, err)
	}
	return found, err
}

// decide looks up and checks.
type decide func(context.Context) (checks.Decision, error)

// run makes rounds until one ends without a lost race. early is the name of the lock to try before the look-up, or empty.
func (e *Executor) run(
	ctx, stopping context.Context, format contract.Format, early string, decide decide,
) (contract.Response, error) {
	// A client disconnect does not cancel the call (spec: client-disconnect). Every step below has a bound of its own.
	ctx = context.WithoutCancel(ctx)
	waitEnds := time.Now().Add(waitLimit)
	acquire := func(name string) (lock.Lease, error) {
		wait, cancel := context.WithDeadline(ctx, waitEnds)
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		return e.deps.Locks.Acquire(wait, name)
	}
	for range maxRounds {
		response, err := e.round(ctx, acquire, format, early, decide)
		if !lostRace(err) {
			return response, err
		}
	}
	return contract.Response{}, apierr.Unavailable()
}

// lostRace tells whether another call of the race saved first.
func lostRace(err error) bool {
	_, retried := errors.AsType[*contract.RetriedError](err)
	return retried || errors.Is(err, contract.ErrKeyTaken)
}

// round looks up and checks, and makes the attempt that the decision allows: under its lock, after a look-up under that
// lock.
func (e *Executor) round(
	ctx context.Context, acquire func(name string) (lock.Lease, error), format contract.Format, early string, decide decide,
) (contract.Response, error) {
	locked := ""
	if early != "" {
		crash.At(crash.BeforeLock)
		if lease, err := e.deps.Locks.TryAcquire(ctx, early); err == nil {
			defer lease.Release(ctx)
			crash.At(crash.AfterLock)
			locked = early
		}
	}
	decision, err := decide(ctx)
	if err != nil {
		return contract.Response{}, err
	}
	if decision.Response == nil && decision.Attempt.Lock != locked {
		crash.At(crash.BeforeLock)
		lease, err := acquire(decision.Attempt.Lock)
		switch {
		case err == nil:
			defer lease.Release(ctx)
		case !errors.Is(err, lock.ErrUnavailable):
			// The wait took too long, too many wait, or the service is stopping: this call took nothing.
			return contract.Response{}, apierr.Unavailable()
		}
		crash.At(crash.AfterLock)
		if decision, err = decide(ctx); err != nil {
			return contract.Response{}, err
		}
	}
	if decision.Response != nil {
		return *decision.Response, nil
	}
	return e.askAndSave(ctx, decision.Attempt, format)
}

// askAndSave sends the attempt to the model and saves the outcome. The id is chosen before the model is called, so that
// saving twice is one save (spec: one-save-per-result).
func (e *Executor) askAndSave(ctx context.Context, at *checks.Attempt, format contract.Format) (contract.Response, error) {
	if err := e.deps.Quota.MaySave(at.Account); err != nil {
		return contract.Response{}, err
	}
	id, err := e.deps.NewID(at.At)
	if err != nil {
		return contract.Response{}, err
	}
	save, giveBack, err := e.deps.answer(ctx, at, id, false)
	if err != nil {
		return contract.Response{}, err
	}
	save.Format = format
	response, err := e.save(ctx, save)
	if lostRace(err) || deleted(err) {
		giveBack()
	}
	response.Result, response.Version = id, save.Version
	return response, err
}

// deleted tells whether the result to retry was deleted meanwhile (spec: retry-of-a-deleted-result).
func deleted(err error) bool { return errors.Is(err, apierr.ResultNotFound()) }

// save tries until results respond. A save with a lost response is sent again; both are one save.
func (e *Executor) save(ctx context.Context, s contract.Save) (contract.Response, error) {
	return e.sendUntilStored(ctx, "saving a result failed", func(err error) bool { return !lostRace(err) && !deleted(err) },
		func(ctx context.Context) (contract.Response, error) { return e.deps.Results.Save(ctx, s) })
}

// sendUntilStored calls send until results respond, or an error comes for which again returns false, for at most saveLimit.
func (e *Executor) sendUntilStored(
	ctx context.Context, failed string, again func(error) bool, send func(context.Context) (contract.Response, error),
) (contract.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	once := func() (contract.Response, error) {
		ctx, cancel := context.WithTimeout(ctx, saveTry)
		defer cancel()
		return send(ctx)
	}
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		response, err := once()
		if err == nil || !again(err) {
			return response, err
		}
		e.deps.Log.WarnContext(ctx, failed, "error", err)
		select {
		case <-time.After(pause + rand.N(pause)): //nolint:gosec // jitter needs no secrecy
		case <-ctx.Done():
			return contract.Response{}, apierr.Internal()
		}
	}
}
