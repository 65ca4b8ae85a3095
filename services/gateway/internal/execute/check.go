package execute

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/strictjson"
)

// CheckModel checks a model for an owner, and counts what that used as a try is counted (spec: model-check, try-counts).
func (e *Executor) CheckModel(ctx context.Context, key contract.KeyDigest, name string) (contract.Response, error) {
	ctx = context.WithoutCancel(ctx)
	facts, err := LookUp(ctx, func(ctx context.Context) (contract.TryFacts, error) {
		if err := e.deps.Results.Authorize(ctx, key, contract.Operation(api.CheckModel.Name)); err != nil {
			return contract.TryFacts{}, err
		}
		return e.deps.Results.TryFacts(ctx, key)
	})
	if err != nil {
		return contract.Response{}, err
	}
	e.deps.Accounts.Remember(ctx, key, facts.Account)
	if facts.Unwritable {
		return contract.Response{}, apierr.Unavailable()
	}
	giveBack, err := e.deps.Quota.TakeResult(ctx, facts.Account)
	if err != nil {
		return contract.Response{}, err
	}
	asking, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	checked, err := e.deps.Models.Check(asking, name)
	if err != nil {
		giveBack()
		return contract.Response{}, err
	}
	used := contract.Try{Account: facts.Account, Key: facts.Key, Definition: checked.Definition, Outcome: checked.Outcome}
	if _, err := e.finishTry(ctx, used); err != nil {
		return contract.Response{}, err
	}
	body, err := strictjson.Marshal(checked.Found)
	return contract.Response{ContentType: httpkit.JSONType, Body: body}, err
}
