package deletion

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
)

// countLimit bounds the counting of what a call deletes, so that the call ends before its caller waits no more
// (contract.ResultsWait).
const countLimit = 800 * time.Millisecond

// Handlers are those of the operations that delete results.
type Handlers struct {
	store    handlerStore
	access   *access.Access
	searches *search.Handlers
}

// handlerStore finds prisms and results too.
type handlerStore interface {
	Store
	prisms.Store
	search.Store
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s handlerStore, a *access.Access, searches *search.Handlers) *Handlers {
	return &Handlers{s, a, searches}
}

// Operations are the operations that delete results.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Change(h.access, api.DeleteResult, h.deleteResult),
		access.Handle(api.DeleteResults, h.deleteResults),
		access.Change(h.access, api.SetRetention, h.setRetention),
	}
}

func (h *Handlers) deleteResult(ctx context.Context, account prism.AccountID, by store.By, in api.ResultRequest) (api.None, error) {
	return api.None{}, h.store.DeleteResult(ctx, account, in.Result, by)
}

func (h *Handlers) setRetention(ctx context.Context, account prism.AccountID, by store.By, in api.SetRetentionRequest) (api.Prism, error) {
	p, err := h.store.Prism(ctx, account, in.Prism)
	if err != nil {
		return api.Prism{}, err
	}
	p.RetentionDays = 0
	if in.Days != nil {
		p.RetentionDays = int32(*in.Days) //nolint:gosec // the declaration bounds it
	}
	return prisms.NewBody(p), h.store.SetRetention(ctx, account, p.ID, p.RetentionDays, by)
}

// deleteResults has a worker delete what the call has counted, and what it did not get to count.
func (h *Handlers) deleteResults(ctx context.Context, c store.Caller, in api.DeleteResultsRequest) (api.Deleting, error) {
	by, err := h.access.By(c.Actor())
	if err != nil {
		return api.Deleting{}, err
	}
	account := c.Account
	p, err := h.store.Prism(ctx, account, in.Prism)
	if err != nil {
		return api.Deleting{}, err
	}
	d := Job{
		Account: account, ID: by.Entry, Prism: p.ID, Ref: in.Ref, Status: in.Status, Before: bodies.Bound(in.Before),
		SavedBefore: by.At.Add(time.Millisecond), DueAt: by.At, // also what was saved in the millisecond of the call
	}
	if !d.Before.IsZero() && d.Before.Before(d.SavedBefore) {
		d.SavedBefore = d.Before
	}
	count := h.count
	more := selection{
		SearchMembers: in.SearchMembers, From: bodies.Bound(in.From), Version: in.Version, Model: in.Model, Key: in.Key, Run: in.Run,
		Assignee: bodies.Assignee(c, in.Assignee), IDs: in.IDs,
	}
	if d.By = more.by(); d.By != nil {
		text, err := strictjson.Marshal(more)
		if err != nil {
			return api.Deleting{}, err
		}
		d.Search, count = string(text), h.countFound
	}
	n, ended, err := count(ctx, d)
	if err == nil && !in.DryRun && in.Expect != nil && (n != int64(*in.Expect) || !ended) { // spec: deletion-expect
		return api.Deleting{}, apierr.MatchNow(n)
	}
	if err == nil && !in.DryRun && (n > 0 || !ended) {
		err = h.store.AddDeletion(ctx, d, p.Slug, n, by)
	}
	return api.Deleting{Deleting: int(n)}, err
}

// count counts what a job deletes, and reports whether it counted all (spec: deletion-count).
func (h *Handlers) count(ctx context.Context, d Job) (n int64, ended bool, err error) {
	for begun := time.Now(); !ended && n < MaxCounted && time.Since(begun) < countLimit; {
		var matches int64
		if matches, ended, err = h.store.CountDeletion(ctx, &d); err != nil {
			return 0, false, err
		}
		n += matches
	}
	return min(n, MaxCounted), ended, nil
}
