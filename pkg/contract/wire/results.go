package wire

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Results is contract.Results over HTTP.
type Results struct {
	c           *client
	definitions *definitions[lookUpKey]
}

var _ contract.Results = (*Results)(nil)

// NewResults makes the client. Its first call connects.
func NewResults(cfg ClientConfig, deps ClientDeps) (*Results, error) {
	c, err := newClient(cfg, deps)
	return &Results{c, newDefinitions[lookUpKey]()}, err
}

// Close closes the idle connections. Calls under way go on.
func (r *Results) Close() { r.c.close() }

// CreateFacts implements contract.Results.
func (r *Results) CreateFacts(ctx context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	at := lookUpKey{q.Key, q.Prism, q.Version}
	known, _ := r.definitions.get(at)
	facts, err := decode[createFacts](r.c.lookUp(ctx, pathCreateFacts, createQuery{q, known.hash}))
	if facts.Version != nil {
		restore(r.definitions, at, known, facts.Version, facts.VersionHash)
	}
	if facts.Stored != nil {
		restore(r.definitions, at, known, &facts.Stored.Input.Version, facts.StoredHash)
	}
	return facts.CreateFacts, err
}

// RetryFacts implements contract.Results.
func (r *Results) RetryFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	at := lookUpKey{key: key}
	known, _ := r.definitions.get(at)
	facts, err := decode[retryFacts](r.c.lookUp(ctx, pathRetryFacts, retryQuery{key, id, known.hash}))
	if facts.Stored != nil {
		restore(r.definitions, at, known, &facts.Stored.Input.Version, facts.StoredHash)
	}
	return facts.RetryFacts, err
}

// Save implements contract.Results.
func (r *Results) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	return passOn(r.c.call(ctx, pathSave, s))
}

// Export implements contract.Results.
func (r *Results) Export(ctx context.Context, key contract.KeyDigest, q contract.Export) (contract.Stream, error) {
	return r.c.open(ctx, pathExport, argsExport{key, q})
}

// Read implements contract.Results.
func (r *Results) Read(ctx context.Context, key contract.KeyDigest, id prism.ResultID, f contract.Format) (contract.Response, error) {
	return passOn(r.c.lookUp(ctx, pathRead, argsResult{key, id, f}))
}

// ListResults implements contract.Results.
func (r *Results) ListResults(ctx context.Context, key contract.KeyDigest, q contract.ResultList) (contract.Response, error) {
	return passOn(r.c.lookUp(ctx, pathListResults, argsListResults{key, q}))
}

// CreatePrism implements contract.Results.
func (r *Results) CreatePrism(ctx context.Context, key contract.KeyDigest, p contract.NewPrism) (contract.Response, error) {
	return passOn(r.c.call(ctx, changePath(pathCreatePrism, p.DryRun), argsCreatePrism{key, p}))
}

// ListPrisms implements contract.Results.
func (r *Results) ListPrisms(ctx context.Context, key contract.KeyDigest, q contract.PrismList) (contract.Response, error) {
	return passOn(r.c.lookUp(ctx, pathListPrisms, argsListPrisms{key, q}))
}

// Prism implements contract.Results.
func (r *Results) Prism(ctx context.Context, key contract.KeyDigest, ref prism.Ref) (contract.Response, error) {
	return passOn(r.c.lookUp(ctx, pathPrism, argsPrism{Key: key, Ref: ref}))
}

// AddVersion implements contract.Results.
func (r *Results) AddVersion(ctx context.Context, key contract.KeyDigest, ref prism.Ref, v contract.NewVersion) (contract.Response, error) {
	return passOn(r.c.call(ctx, changePath(pathAddVersion, v.DryRun), argsPrism{Key: key, Ref: ref, New: &v}))
}

// Version implements contract.Results.
func (r *Results) Version(ctx context.Context, key contract.KeyDigest, ref prism.Ref, number int32) (contract.Response, error) {
	return passOn(r.c.lookUp(ctx, pathVersion, argsPrism{Key: key, Ref: ref, Number: number}))
}

// PutLens implements contract.Results.
func (r *Results) PutLens(ctx context.Context, key contract.KeyDigest, ref prism.Ref, l contract.NewLens) (contract.Response, error) {
	return passOn(r.c.call(ctx, changePath(pathPutLens, l.DryRun), argsPrism{Key: key, Ref: ref, Lens: &l}))
}

// SetArchived implements contract.Results.
func (r *Results) SetArchived(ctx context.Context, key contract.KeyDigest, ref prism.Ref, archived bool) (contract.Response, error) {
	return passOn(r.c.call(ctx, pathSetArchived, argsPrism{Key: key, Ref: ref, Archived: archived}))
}

// CreateKey implements contract.Results.
func (r *Results) CreateKey(ctx context.Context, key contract.KeyDigest, name string) (contract.Response, error) {
	return passOn(r.c.call(ctx, pathCreateKey, argsKey{Key: key, Name: name}))
}

// ListKeys implements contract.Results.
func (r *Results) ListKeys(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
	return passOn(r.c.lookUp(ctx, pathListKeys, argsKey{Key: key}))
}

// RevokeKey implements contract.Results.
func (r *Results) RevokeKey(ctx context.Context, key contract.KeyDigest, id prism.KeyID) (contract.Response, error) {
	return passOn(r.c.call(ctx, pathRevokeKey, argsKey{Key: key, ID: id}))
}
