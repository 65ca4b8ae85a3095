package service

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// retryingBody is the response of a retry of many results.
type retryingBody struct {
	Retrying int64 `json:"retrying"`
}

// retryLimit ends before the caller stops waiting, who is then told that nothing is retried.
const retryLimit = contract.RetryWait - time.Second

// RetryResults implements contract.Results. The store compares the count again when it stores the retry; that one decides.
func (s *Service) RetryResults(
	ctx context.Context, key contract.KeyDigest, q contract.ResultRetry,
) (contract.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	return s.respond(ctx, key, retryResults, apierr.PrismNotFound(), func(c store.Caller) (any, error) {
		p, err := s.Store.Prism(ctx, c.Account, q.Prism)
		if err != nil {
			return nil, err
		}
		if p.ArchivedAt != nil {
			return nil, apierr.PrismArchived()
		}
		r := store.Retry{
			Account: c.Account, Prism: p.ID, Slug: p.Slug, Key: c.Key, From: wholeMillisecond(q.From), To: wholeMillisecond(q.To),
		}
		matches, underWay, err := s.Store.CountRetry(ctx, r)
		switch {
		case err != nil:
			return nil, err
		case underWay && !q.DryRun:
			return nil, apierr.AreRetried()
		case matches > contract.MaxRetried:
			return nil, apierr.TooManyMatch(contract.MaxRetried)
		case q.DryRun:
			return retryingBody{matches}, nil
		case matches != q.Expect:
			return nil, apierr.MatchNow(matches)
		case matches == 0:
			return retryingBody{}, nil
		}
		return retryingBody{matches}, s.addRetry(ctx, r, matches, c.Actor())
	})
}

// addRetry stores a retry, which workers then lease.
func (s *Service) addRetry(ctx context.Context, r store.Retry, expected int64, actor store.Actor) error {
	by, err := s.By(actor)
	if err != nil {
		return err
	}
	r.ID = prism.RunID{UUID: by.Entry}
	crash.At(crash.BeforeCommit)
	err = s.Store.AddRetry(ctx, r, expected, by)
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
func retriesOf(l *store.LeasedChunk) (rows []contract.ChunkRow) {
	for _, r := range l.Retried {
		rows = append(rows, contract.ChunkRow{
			Row: r.Row, ID: prism.RowResultID(l.BegunAt, l.Run.ID, r.Row, 1), RetryOf: &r.ID,
			Fields: r.Fields, Ref: r.Ref, Context: r.Context,
		})
	}
	return rows
}
