package keys

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/access"
)

// Limits implements contract.Results.
func (s *Handlers) Limits(ctx context.Context) ([]contract.AccountLimits, error) {
	limits, err := s.store.ListLimits(ctx)
	return limits, access.Translate(err, nil)
}
