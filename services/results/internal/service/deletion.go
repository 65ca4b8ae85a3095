package service

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// countLimit bounds the counting of what a call deletes, so that the call ends before its caller waits no more
// (contract.ResultsWait).
const countLimit = 800 * time.Millisecond

// deletingBody is the response of a deletion of many results.
type deletingBody struct {
	Deleting int64 `json:"deleting"`
}

// DeleteResult implements contract.Results.
func (s *Service) DeleteResult(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.Response, error) {
	_, err := s.alter(ctx, key, deleteResult, apierr.ResultNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		return nil, s.Store.DeleteResult(ctx, account, id, by)
	})
	return contract.Response{}, err
}

func (s *Service) setRetention(ctx context.Context, account prism.AccountID, by store.By, in api.SetRetentionRequest) (api.Prism, error) {
	p, err := s.Store.Prism(ctx, account, in.Prism)
	if err != nil {
		return api.Prism{}, err
	}
	p.RetentionDays = 0
	if in.Days != nil {
		p.RetentionDays = int32(*in.Days) //nolint:gosec // the declaration bounds it
	}
	return newPrismBody(p), s.Store.SetRetention(ctx, account, p.ID, p.RetentionDays, by)
}

// DeleteResults implements contract.Results. A worker deletes what the call has counted, and what it did not get to count.
func (s *Service) DeleteResults(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, q contract.ResultDeletion,
) (contract.Response, error) {
	return s.alter(ctx, key, deleteResults, apierr.PrismNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		p, err := s.Store.Prism(ctx, account, ref)
		if err != nil {
			return nil, err
		}
		d := store.Deletion{
			Account: account, ID: by.Entry, Prism: p.ID, Ref: q.Ref, Status: q.Status, Before: wholeMillisecond(q.Before),
			SavedBefore: by.At.Add(time.Millisecond), DueAt: by.At, // also what was saved in the millisecond of the call
		}
		if !d.Before.IsZero() && d.Before.Before(d.SavedBefore) {
			d.SavedBefore = d.Before
		}
		n, ended, err := s.countDeletion(ctx, d)
		if err == nil && !q.DryRun && (n > 0 || !ended) {
			err = s.Store.AddDeletion(ctx, d, p.Slug, n, by)
		}
		return deletingBody{n}, err
	})
}

// countDeletion counts what a job deletes, and reports whether it counted all (spec: deletion-count).
func (s *Service) countDeletion(ctx context.Context, d store.Deletion) (n int64, ended bool, err error) {
	for begun := time.Now(); !ended && n < store.MaxCounted && time.Since(begun) < countLimit; {
		var matches int64
		if matches, ended, err = s.Store.CountDeletion(ctx, &d); err != nil {
			return 0, false, err
		}
		n += matches
	}
	return min(n, store.MaxCounted), ended, nil
}
