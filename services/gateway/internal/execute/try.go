package execute

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
)

// Try asks the model the questions of a definition, and saves nothing but what that used. Tries cannot race: look up, check,
// model, count.
func (e *Executor) Try(ctx context.Context, key contract.KeyDigest, sent api.NewTry) (contract.Response, error) {
	// A client disconnect does not cancel the call: what it used is counted.
	ctx = context.WithoutCancel(ctx)
	facts, err := LookUp(ctx, func(ctx context.Context) (contract.TryFacts, error) { return e.deps.Results.TryFacts(ctx, key) })
	if err != nil {
		return contract.Response{}, err
	}
	e.deps.Accounts.Remember(ctx, key, facts.Account)
	at, err := checks.Try(sent, facts, e.deps.Estimator.SizerForCall(ctx))
	if err != nil {
		return contract.Response{}, err
	}
	save, _, err := e.deps.answer(ctx, at, prism.ResultID{}, false)
	if err != nil {
		return contract.Response{}, err
	}
	return e.finishTry(ctx, contract.Try{Account: at.Account, Key: at.Key, Definition: sent.Definition, Lens: sent.Lens, Outcome: save.Outcome})
}

// finishTry has results count a try. Only what was certainly not counted is sent again (spec: try-counts).
func (e *Executor) finishTry(ctx context.Context, try contract.Try) (contract.Response, error) {
	notTaken := func(err error) bool { return errors.Is(err, contract.ErrUnavailable) }
	return e.sendUntilStored(ctx, "counting a try failed", notTaken, func(ctx context.Context) (contract.Response, error) {
		return e.deps.Results.FinishTry(ctx, try)
	})
}
