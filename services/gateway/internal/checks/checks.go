// Package checks is the order of checks (contract 7) as data: what comes after parsing, on the facts that one look-up
// found. The first check that fails decides the answer.
package checks

import (
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Decision is what the checks allow: to answer with a stored response, or to ask the model. Exactly one is set.
type Decision struct {
	Response *contract.Response
	Attempt  *Attempt
}

// Attempt is a call that may go to the model.
type Attempt struct {
	Account        prism.AccountID
	Prism          prism.PrismID
	Input          contract.Input
	IdempotencyKey string          // that the saved result takes; a retry's is taken from the old result
	RetryOf        *prism.ResultID // nil: a first call
	// Lock is the name under which calls of the same race come one after the other; empty when nothing can race.
	Lock string
}

// Sizer is the size estimate (contract 8).
type Sizer interface {
	// Check is nil, or apierr.TooLarge for an input that is over the limit.
	Check(d prism.Definition, fields []prism.FieldValue, context string) error
}

// check is one step of an order.
type check[S any] func(*S) error

// first runs an order until a check fails.
func first[S any](state *S, order []check[S]) error {
	for _, c := range order {
		if err := c(state); err != nil {
			return err
		}
	}
	return nil
}

func sized(s Sizer, in contract.Input) error {
	return s.Check(in.Version.Definition, in.Fields, in.Context)
}

// keyLock names the race of everything that shares an idempotency key. A result that holds a key is only ever retried
// under that key's name, so a keyed repeat and a retry of the same result are the same race (decisions 5).
func keyLock(account prism.AccountID, key string) string {
	return "key/" + account.String() + "/" + key
}

// retryLock names the race for retrying a result. A result keeps its key until it is retried, so the name holds for as
// long as there is something to race for.
func retryLock(account prism.AccountID, s *contract.Stored) string {
	if s.IdempotencyKey != "" {
		return keyLock(account, s.IdempotencyKey)
	}
	return "result/" + account.String() + "/" + s.ID.String()
}

// again is the attempt to answer a failed result once more, with its stored fields, context, ref and version.
func again(account prism.AccountID, s *contract.Stored) *Attempt {
	return &Attempt{
		Account: account,
		Prism:   s.Prism,
		Input:   s.Input,
		RetryOf: &s.ID,
		Lock:    retryLock(account, s),
	}
}
