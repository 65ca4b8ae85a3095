package results

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// withoutAdHoc completes the facts of a call whose ad-hoc prism is not there. A result that holds its idempotency key is of another prism.
func (h *Handlers) withoutAdHoc(ctx context.Context, facts contract.CreateFacts, storedFacts store.CreateFacts) (contract.CreateFacts, error) {
	full, err := h.deps.Store.AdHocFull(ctx, facts.Account, prism.MaxAdHoc)
	if err != nil {
		return contract.CreateFacts{}, access.Translate(err, nil)
	}
	facts.AdHoc = contract.NewAdHoc
	if full {
		facts.AdHoc = contract.FullAdHoc
	}
	if r := storedFacts.Stored; r != nil {
		facts.Stored = &contract.Stored{ID: r.ID, Prism: r.Prism, Status: r.Status, Answered: r.Version}
	}
	return facts, nil
}

// saveFirst saves the result of a first call.
func (h *Handlers) saveFirst(ctx context.Context, in contract.Save, r prism.Result) (store.Saved, error) {
	if in.AdHoc == nil {
		return h.deps.Store.SaveResult(ctx, in.Account, r)
	}
	by, err := h.deps.Access.By(store.Actor{Kind: store.KeyActor, Key: in.Key})
	if err != nil {
		return store.Saved{}, err
	}
	id, err := h.deps.NewID()
	if err != nil {
		return store.Saved{}, err
	}
	hash, _ := contract.HashDefinition(*in.AdHoc)
	p := prism.Prism{
		ID: prism.PrismID{UUID: id}, Slug: prism.AdHocSlug(hash), CreatedAt: by.At, Lens: lens.Derive(*in.AdHoc), RetentionDays: prism.AdHocDays,
		AdHoc: true, Latest: prism.Version{Number: 1, Definition: *in.AdHoc, CreatedAt: by.At},
	}
	p.VersionsHash = prisms.HashVersions(0, p.Latest)
	return h.deps.Store.SaveAdHoc(ctx, in.Account, p, prism.MaxAdHoc, r, by)
}
