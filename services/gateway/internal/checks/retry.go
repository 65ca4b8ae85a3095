package checks

import (
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// retryState is the input of the checks of a retry.
type retryState struct {
	facts contract.RetryFacts
	sizer Sizer
}

// retryChecks is the order of POST /v1/results/{result_id}/retry, from the API key on (spec: order-of-checks-retry).
func retryChecks() []check[retryState] {
	return []check[retryState]{
		retryKeyKnown,     // 401
		retryResultExists, // 404
		retryFailedOnce,   // 409
		retryPrismLive,    // 404
		retrySize,         // 400
	}
}

// Retry decides a retry.
func Retry(facts contract.RetryFacts, sizer Sizer) (Decision, error) {
	s := retryState{facts: facts, sizer: sizer}
	if err := first(&s, retryChecks()); err != nil {
		return Decision{}, err
	}
	return Decision{Attempt: retryOf(facts.Account, facts.Stored)}, nil
}

func retryKeyKnown(s *retryState) error {
	if s.facts.Account.IsZero() {
		return apierr.InvalidAPIKey()
	}
	return nil
}

func retryResultExists(s *retryState) error {
	if s.facts.Stored == nil {
		return apierr.ResultNotFound()
	}
	return nil
}

func retryFailedOnce(s *retryState) error {
	if s.facts.Stored.Status != prism.Failed {
		return apierr.OnlyFailedRetried()
	}
	if by := s.facts.Stored.RetriedBy; by != nil {
		return apierr.AlreadyRetried(*by)
	}
	return nil
}

func retryPrismLive(s *retryState) error {
	if s.facts.Stored.Archived {
		return apierr.PrismArchived()
	}
	return nil
}

func retrySize(s *retryState) error { return sized(s.sizer, s.facts.Stored.Input) }
