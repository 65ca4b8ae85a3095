package service

import (
	"context"
	"time"

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
