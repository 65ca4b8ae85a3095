package service

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/results/internal/polling"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// foldEvery is how often a process folds: so long a change waits for its number, and so little is left to add up when usage is read.
	foldEvery = time.Second
	// removeEvery is how often a process removes changes that are too old.
	removeEvery = 10 * time.Minute
)

// fold folds until ctx ends. What a failed attempt leaves, the next one folds. The store's metrics have the error.
func (s *Service) fold(ctx context.Context) {
	polling.Repeat(ctx, func(ctx context.Context) time.Duration {
		_ = s.Store.Fold(ctx)
		return foldEvery
	})
}

// removeChanges removes changes that are too old until ctx ends.
func (s *Service) removeChanges(ctx context.Context) {
	polling.Repeat(ctx, func(ctx context.Context) time.Duration {
		if more, err := s.Store.RemoveChanges(ctx, s.Now().Add(-store.ChangesKept)); more && err == nil {
			return 0
		}
		return removeEvery
	})
}

// changeTypes are the names of the types of changes.
var changeTypes = map[store.ChangeType]api.ChangeType{
	store.ResultCreated: api.ChangeCreated, store.ResultRetried: api.ChangeRetried, store.ResultLabelled: api.ChangeLabelled,
	store.ResultDeleted: api.ChangeDeleted,
}

func (s *Service) listChanges(ctx context.Context, c store.Caller, in api.ListChangesRequest) (out api.Changes, err error) {
	filter := store.ChangeFilter{After: in.After, Limit: in.Limit}
	if in.Prism != nil {
		p, err := s.Store.Prism(ctx, c.Account, *in.Prism)
		if err != nil {
			return out, err
		}
		filter.Prism = p.ID
	}
	page, err := s.Store.ReadChanges(ctx, c.Account, filter)
	if err != nil {
		return out, err
	}
	out = api.Changes{Data: make([]api.Change, len(page.Changes)), Next: page.Next}
	for i, change := range page.Changes {
		out.Data[i] = api.Change{
			Seq: change.Seq, At: api.Time{Time: change.At}, Type: changeTypes[change.Type], ResultID: change.Result.String(), Prism: change.Prism,
		}
	}
	return out, nil
}
