package wire

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Results is contract.Results over HTTP.
type Results struct{ c *client }

var _ contract.Results = (*Results)(nil)

// NewResults makes the client; it connects when it is first used.
func NewResults(cfg ClientConfig, deps ClientDeps) (*Results, error) {
	c, err := newClient(cfg, deps)
	return &Results{c}, err
}

// Close closes the connections that nothing is waiting on.
func (r *Results) Close() { r.c.close() }

// CreateFacts implements contract.Results.
func (r *Results) CreateFacts(ctx context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	return reading(callJSON[contract.CreateFacts](ctx, r.c, pathCreateFacts, q))
}

// RetryFacts implements contract.Results.
func (r *Results) RetryFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	return reading(callJSON[contract.RetryFacts](ctx, r.c, pathRetryFacts, argsResult{Key: key, ID: id}))
}

// Save implements contract.Results.
func (r *Results) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	return callDocument(ctx, r.c, pathSave, s)
}

// Export implements contract.Results.
func (r *Results) Export(ctx context.Context, key contract.KeyDigest, q contract.Export) (contract.Stream, error) {
	return reading(callStream(ctx, r.c, pathExport, argsExport{key, q}))
}

// Read implements contract.Results.
func (r *Results) Read(ctx context.Context, key contract.KeyDigest, id prism.ResultID, f contract.Format) (contract.Response, error) {
	return reading(callDocument(ctx, r.c, pathRead, argsResult{key, id, f}))
}

// ListResults implements contract.Results.
func (r *Results) ListResults(ctx context.Context, key contract.KeyDigest, q contract.ResultList) (contract.Response, error) {
	return reading(callDocument(ctx, r.c, pathListResults, argsListResults{key, q}))
}

// CreatePrism implements contract.Results.
func (r *Results) CreatePrism(ctx context.Context, key contract.KeyDigest, p contract.NewPrism) (contract.Response, error) {
	return callDocument(ctx, r.c, pathCreatePrism, argsCreatePrism{key, p})
}

// ListPrisms implements contract.Results.
func (r *Results) ListPrisms(ctx context.Context, key contract.KeyDigest, q contract.PrismList) (contract.Response, error) {
	return reading(callDocument(ctx, r.c, pathListPrisms, argsListPrisms{key, q}))
}

// Prism implements contract.Results.
func (r *Results) Prism(ctx context.Context, key contract.KeyDigest, ref prism.Ref) (contract.Response, error) {
	return reading(callDocument(ctx, r.c, pathPrism, argsPrism{Key: key, Ref: ref}))
}

// AddVersion implements contract.Results.
func (r *Results) AddVersion(ctx context.Context, key contract.KeyDigest, ref prism.Ref, v contract.NewVersion) (contract.Response, error) {
	return callDocument(ctx, r.c, pathAddVersion, argsPrism{Key: key, Ref: ref, New: &v})
}

// Version implements contract.Results.
func (r *Results) Version(ctx context.Context, key contract.KeyDigest, ref prism.Ref, number int32) (contract.Response, error) {
	return reading(callDocument(ctx, r.c, pathVersion, argsPrism{Key: key, Ref: ref, Number: number}))
}

// PutLens implements contract.Results.
func (r *Results) PutLens(ctx context.Context, key contract.KeyDigest, ref prism.Ref, l contract.NewLens) (contract.Response, error) {
	return callDocument(ctx, r.c, pathPutLens, argsPrism{Key: key, Ref: ref, Lens: &l})
}

// SetArchived implements contract.Results.
func (r *Results) SetArchived(ctx context.Context, key contract.KeyDigest, ref prism.Ref, archived bool) (contract.Response, error) {
	return callDocument(ctx, r.c, pathSetArchived, argsPrism{Key: key, Ref: ref, Archived: archived})
}

// CreateKey implements contract.Results.
func (r *Results) CreateKey(ctx context.Context, key contract.KeyDigest, name string) (contract.Response, error) {
	return callDocument(ctx, r.c, pathCreateKey, argsKey{Key: key, Name: name})
}

// ListKeys implements contract.Results.
func (r *Results) ListKeys(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
	return reading(callDocument(ctx, r.c, pathListKeys, argsKey{Key: key}))
}

// RevokeKey implements contract.Results.
func (r *Results) RevokeKey(ctx context.Context, key contract.KeyDigest, id prism.KeyID) (contract.Response, error) {
	return callDocument(ctx, r.c, pathRevokeKey, argsKey{Key: key, ID: id})
}

// reading is an answer to a call that changes nothing: when it was lost on the way, nothing has happened.
func reading[A any](answer A, err error) (A, error) {
	if errors.Is(err, errLost) {
		err = errors.Join(contract.ErrUnavailable, err)
	}
	return answer, err
}
