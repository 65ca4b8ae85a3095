package wire

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Results is contract.Results over HTTP. Close closes the idle connections; calls under way go on.
type Results interface {
	contract.Results
	Close()
}

type results struct {
	*client
	definitions *lru.Cache[lookUpKey, cachedDefinition]
}

// NewResults makes the client. Its first call connects.
func NewResults(cfg ClientConfig, deps ClientDeps) (Results, error) {
	c, err := newClient(cfg, deps)
	return &results{c, newDefinitionCache[lookUpKey]()}, err
}

func (r *results) Account(ctx context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	return decode[prism.AccountID](r.lookUp(ctx, pathAccount, argsAccount{key}))
}

func (r *results) Authorize(ctx context.Context, key contract.KeyDigest, op contract.Operation) error {
	_, err := r.lookUp(ctx, pathAuthorize, argsAuthorize{key, op})
	return err
}

func (r *results) Limits(ctx context.Context) ([]contract.AccountLimits, error) {
	return decode[[]contract.AccountLimits](r.lookUp(ctx, pathLimits, argsLimits{}))
}

func (r *results) RetryFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	return decode[contract.RetryFacts](r.lookUp(ctx, pathRetryFacts, argsResult{Key: key, ID: id}))
}

func (r *results) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	return r.call(ctx, pathSave, &s)
}

func (r *results) TryFacts(ctx context.Context, key contract.KeyDigest) (contract.TryFacts, error) {
	return decode[contract.TryFacts](r.lookUp(ctx, pathTryFacts, argsAccount{key}))
}

func (r *results) FinishTry(ctx context.Context, t contract.Try) (contract.Response, error) {
	return r.call(ctx, pathFinishTry, &t)
}
