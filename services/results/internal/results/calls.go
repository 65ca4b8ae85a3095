package results

import (
	"cmp"
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// CreateFacts implements contract.Results.
func (h *Handlers) CreateFacts(ctx context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	storedFacts, err := h.deps.Store.CreateFacts(ctx, q)
	if err != nil {
		return contract.CreateFacts{}, access.Translate(err, nil)
	}
	if err := h.deps.Access.Admit(storedFacts.Caller, contract.Operation(api.CreateResult.Name)); err != nil {
		return contract.CreateFacts{}, err
	}
	facts := contract.CreateFacts{Account: storedFacts.Caller.Account, Key: storedFacts.Caller.Key, Unwritable: h.Refuses(), At: prism.Now(h.deps.Now)}
	if q.AdHoc && (storedFacts.Prism == nil || storedFacts.Prism.Archived) {
		return h.withoutAdHoc(ctx, facts, storedFacts)
	}
	if storedFacts.Prism == nil {
		return facts, nil
	}
	facts.Prism, facts.Archived = storedFacts.Prism.ID, storedFacts.Prism.Archived
	if prism.IsAdHocSlug(storedFacts.Prism.Slug) {
		facts.AdHoc = contract.KeptAdHoc
	}
	if storedFacts.Stored != nil {
		err = h.addStored(ctx, &facts, storedFacts, q)
	} else if storedFacts.Version != 0 && !facts.Archived {
		var v *prisms.Cached
		v, err = h.deps.Versions.Version(ctx, facts.Account, prisms.VersionOf(*storedFacts.Prism, storedFacts.Version))
		switch {
		case err == nil:
			facts.Version = &v.Version
		case errors.Is(err, store.ErrNotFound) && facts.AdHoc != contract.NotAdHoc: // it has ended since it was looked up
			if facts.Prism = (prism.PrismID{}); q.AdHoc {
				return h.withoutAdHoc(ctx, facts, storedFacts)
			}
			return facts, nil
		}
	}
	return facts, access.Translate(err, nil)
}

// addStored adds the result that holds the idempotency key: its response if it can be returned, its input if it failed.
func (h *Handlers) addStored(ctx context.Context, facts *contract.CreateFacts, storedFacts store.CreateFacts, q contract.CreateQuery) error {
	stored, err := h.stored(ctx, facts.Account, *storedFacts.Stored, *storedFacts.StoredPrism)
	if err != nil {
		return err
	}
	facts.Stored = &stored
	if stored.Prism != facts.Prism || stored.Status != prism.OK {
		return nil
	}
	response, err := h.formatNamed(ctx, facts.Account, *storedFacts.Stored, *storedFacts.StoredPrism, q.Format, q.Names)
	facts.Response = &response
	return err
}

// RetryFacts implements contract.Results.
func (h *Handlers) RetryFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	storedFacts, err := h.deps.Store.ResultFacts(ctx, key, id, store.WithInput)
	if err != nil {
		return contract.RetryFacts{}, access.Translate(err, nil)
	}
	if err := h.deps.Access.Admit(storedFacts.Caller, contract.Operation(api.RetryResult.Name)); err != nil {
		return contract.RetryFacts{}, err
	}
	facts := contract.RetryFacts{Account: storedFacts.Caller.Account, Key: storedFacts.Caller.Key, Unwritable: h.Refuses(), At: prism.Now(h.deps.Now)}
	if storedFacts.Result == nil {
		return facts, nil
	}
	stored, err := h.stored(ctx, facts.Account, *storedFacts.Result, *storedFacts.Prism)
	facts.Stored = &stored
	return facts, access.Translate(err, nil)
}

// stored is a result as the checks see it. Only a failed result can be retried, so only that has its input.
func (h *Handlers) stored(ctx context.Context, account prism.AccountID, r prism.Result, p store.PrismState) (contract.Stored, error) {
	stored := contract.Stored{
		ID: r.ID, Prism: r.Prism, Archived: p.Archived, Status: r.Status,
		RetriedBy: r.RetriedBy, IdempotencyKey: r.IdempotencyKey, Answered: r.Version,
	}
	if r.Status == prism.OK {
		return stored, nil
	}
	version, err := h.deps.Versions.Version(ctx, account, prisms.VersionOf(p, r.Version))
	if err != nil {
		return contract.Stored{}, err
	}
	stored.Input = contract.Input{Version: version.Version, Ref: r.Ref, Context: r.Context, Fields: r.Fields}
	return stored, nil
}

// Save implements contract.Results.
func (h *Handlers) Save(ctx context.Context, in contract.Save) (contract.Response, error) {
	r := store.ResultOf(in, prism.Now(h.deps.Now))
	var saved store.Saved
	var err error
	crash.At(crash.BeforeCommit)
	if in.RetryOf == nil {
		saved, err = h.saveFirst(ctx, in, r)
	} else {
		saved, err = h.deps.Store.SaveRetry(ctx, in.Account, r, *in.RetryOf)
		if errors.Is(err, store.ErrNotFound) && r.IdempotencyKey != "" { // spec: retry-of-a-deleted-result
			saved, err = h.saveFirst(ctx, in, r)
		}
	}
	h.saves.note(err)
	switch {
	case errors.Is(err, store.ErrNotFound) && in.RetryOf != nil && r.IdempotencyKey == "":
		return contract.Response{}, apierr.ResultNotFound()
	case err != nil:
		return contract.Response{}, access.Translate(err, nil)
	}
	crash.At(crash.AfterCommit)
	saved.Result.Call = in.Outcome.Call // its usage is that of this call
	response, err := h.formatNamed(ctx, in.Account, saved.Result, saved.Prism, in.Format, in.Names)
	return response, access.Translate(err, nil)
}

// ReadResult finds the caller with the result, in one look-up.
func (h *Handlers) ReadResult(ctx context.Context, key contract.KeyDigest, in api.ResultInFormat) (contract.Response, error) {
	input := store.WithoutInput
	if in.Format.Tabular() {
		input = store.WithInput
	}
	storedFacts, err := h.deps.Store.ResultFacts(ctx, key, in.Result, input)
	if err != nil {
		return contract.Response{}, access.Translate(err, nil)
	}
	if err := h.deps.Access.Admit(storedFacts.Caller, contract.Operation(api.ReadResult.Name)); err != nil {
		return contract.Response{}, err
	}
	if storedFacts.Result == nil {
		return contract.Response{}, api.ReadResult.NotFound()
	}
	response, err := h.format(ctx, storedFacts.Caller.Account, *storedFacts.Result, *storedFacts.Prism, cmp.Or(in.Format, api.JSON))
	return response, access.Translate(err, nil)
}

// format formats one result with the current Lens of its prism.
func (h *Handlers) format(ctx context.Context, account prism.AccountID, r prism.Result, p store.PrismState, f contract.Format) (contract.Response, error) {
	return h.formatNamed(ctx, account, r, p, f, nil)
}

// formatNamed is format for a call that names the questions of an ad-hoc prism.
func (h *Handlers) formatNamed(
	ctx context.Context, account prism.AccountID, r prism.Result, p store.PrismState, f contract.Format, names []api.NamesOfQuestion,
) (contract.Response, error) {
	answered, err := h.deps.Versions.Version(ctx, account, prisms.VersionOf(p, r.Version))
	if err != nil {
		return contract.Response{}, err
	}
	if f.Foreign() && r.Status == prism.OK {
		return format.Foreign(f, p.Slug, answered.Definition, r, names)
	}
	if f.Foreign() { // spec: headers-of-others
		f = contract.JSON
	}
	applied, err := h.deps.Quality.Apply(ctx, account, answered, p)
	if err != nil {
		return contract.Response{}, err
	}
	table := format.Table{Slug: p.Slug, Lens: applied.Lens}
	if f.Tabular() { // the fields of the latest version are columns
		latest, err := h.deps.Versions.Version(ctx, account, prisms.VersionOf(p, p.Latest))
		if err != nil {
			return contract.Response{}, err
		}
		table.Latest = latest.Definition
	}
	return format.Single(f, table, format.Row{Result: r, Plan: applied.Plan})
}
