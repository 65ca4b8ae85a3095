package changes

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// foldEvery is how often a process folds: so long a change waits for its number, and so little is left to add up when usage is read.
	foldEvery = time.Second
	// removeEvery is how often a process removes changes that are too old.
	removeEvery = 10 * time.Minute
)

// Handlers are those of the operations on changes. Prisms finds the prism that a filter names.
type Handlers struct {
	Store  Store
	Prisms interface {
		Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
	}
}

// Operations are the operations on changes.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Handle(api.ListChanges, s.listChanges)}
}

// Fold folds until ctx ends. What a failed attempt leaves, the next one folds. The store's metrics have the error.
func Fold(ctx context.Context, s Store) {
	background.Repeat(ctx, func(ctx context.Context) time.Duration {
		_ = s.Fold(ctx)
		return foldEvery
	})
}

// Remove removes changes that are too old until ctx ends.
func Remove(ctx context.Context, s Store, now func() time.Time) {
	background.Repeat(ctx, func(ctx context.Context) time.Duration {
		if more, err := s.RemoveChanges(ctx, now().Add(-Kept)); more && err == nil {
			return 0
		}
		return removeEvery
	})
}

// names are those of the types.
var names = map[Type]api.ChangeType{
	Created: api.ChangeCreated, Retried: api.ChangeRetried, Labelled: api.ChangeLabelled,
	Deleted: api.ChangeDeleted,
}

func (s *Handlers) listChanges(ctx context.Context, c store.Caller, in api.ListChangesRequest) (out api.Changes, err error) {
	filter := Filter{After: in.After, Limit: in.Limit}
	if in.Prism != nil {
		p, err := s.Prisms.Prism(ctx, c.Account, *in.Prism)
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
			Seq: change.Seq, At: api.Time{Time: change.At}, Type: names[change.Type], ResultID: change.Result.String(), Prism: change.Prism,
		}
	}
	return out, nil
}
