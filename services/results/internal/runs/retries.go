package runs

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
)

// retryLimit ends before the caller stops waiting, who is then told that nothing is retried.
const retryLimit = api.RetryWait - time.Second

// retryResults counts what matches. The store compares the count again when it stores the retry; that one decides.
func (h *Handlers) retryResults(ctx context.Context, c store.Caller, in api.RetryResultsRequest) (api.Retrying, error) {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	p, err := h.deps.Store.Prism(ctx, c.Account, prism.ParseRef(in.Prism))
	if err != nil {
		return api.Retrying{}, err
	}
	if p.ArchivedAt != nil {
		return api.Retrying{}, apierr.PrismArchived()
	}
	if p.AdHoc {
		return api.Retrying{}, apierr.AdHocPrism()
	}
	r := Retry{Account: c.Account, Prism: p.ID, Slug: p.Slug, Key: c.Key, From: bodies.Bound(in.From), To: bodies.Bound(in.To)}
	if r.By = search.SentBy(in.SearchMembers); r.By != nil {
		f, err := h.deps.Searches.Narrow(ctx, c.Account, p, store.Filter{Prism: p.ID, Status: prism.Failed, From: r.From, To: r.To}, api.ResultSearch(in.SearchMembers))
		if err == nil {
			r.Among, err = h.deps.Searches.All(ctx, c.Account, f, api.MaxRetried+1)
		}
		if err != nil {
			return api.Retrying{}, err
		}
	}
	matches, underWay, err := h.deps.Store.CountRetry(ctx, r)
	switch {
	case err != nil:
		return api.Retrying{}, err
	case underWay && !in.DryRun:
		return api.Retrying{}, apierr.AreRetried()
	case matches > api.MaxRetried:
		return api.Retrying{}, apierr.TooManyMatch(api.MaxRetried)
	case in.DryRun:
		return api.Retrying{Retrying: int(matches)}, nil
	case in.Expect == nil || matches != int64(*in.Expect):
		return api.Retrying{}, apierr.MatchNow(matches)
	case matches == 0:
		return api.Retrying{}, nil
	}
	return api.Retrying{Retrying: int(matches)}, h.addRetry(ctx, r, matches, c.Actor())
}

// addRetry stores a retry, which workers then lease.
func (h *Handlers) addRetry(ctx context.Context, r Retry, expected int64, actor store.Actor) error {
	by, err := h.deps.Access.By(actor)
	if err != nil {
		return err
	}
	r.ID = prism.RunID{UUID: by.Entry}
	crash.At(crash.BeforeCommit)
	err = h.deps.Store.AddRetry(ctx, r, expected, by)
	var match *store.MatchError
	switch {
	case errors.As(err, &match):
		return apierr.MatchNow(match.Matches)
	case errors.Is(err, store.ErrRetrying):
		return apierr.AreRetried()
	case err == nil:
		crash.At(crash.AfterCommit)
	}
	return err
}

// retriesOf are the rows of a leased chunk of a retry.
func retriesOf(l *LeasedChunk) (rows []contract.ChunkRow) {
	for _, r := range l.Retried {
		rows = append(rows, contract.ChunkRow{
			Row: r.Row, ID: prism.RowResultID(l.BegunAt, l.Run.ID, r.Row, 1), RetryOf: &r.ID,
			Fields: r.Fields, Ref: r.Ref, Context: r.Context,
		})
	}
	return rows
}
