package service

import (
	"context"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Account implements contract.Results. It is not a use of the key: the call that the gateway then makes is.
func (s *Service) Account(ctx context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	found, err := s.Store.Authenticate(ctx, key)
	switch {
	case err != nil:
		return prism.AccountID{}, translate(err, nil)
	case !known(found, s.Now()):
		return prism.AccountID{}, apierr.InvalidAPIKey()
	}
	return found.Account, nil
}

// Authorize implements contract.Results.
func (s *Service) Authorize(ctx context.Context, key contract.KeyDigest, op contract.Operation) error {
	_, err := s.authenticate(ctx, key, op)
	return err
}

// Limits implements contract.Results.
func (s *Service) Limits(ctx context.Context) ([]contract.AccountLimits, error) {
	limits, err := s.Store.ListLimits(ctx)
	return limits, translate(err, nil)
}
