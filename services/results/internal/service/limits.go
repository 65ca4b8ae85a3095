package service

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/access"
)

// Limits implements contract.Results.
func (s *Service) Limits(ctx context.Context) ([]contract.AccountLimits, error) {
	limits, err := s.Store.ListLimits(ctx)
	return limits, access.Translate(err, nil)
}
