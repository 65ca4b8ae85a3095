// Package checks has the checks of creates and retries in their order, from the API key on, over the facts of one look-up.
// The first check that fails decides the response (spec: order-of-checks-create, order-of-checks-retry).
package checks

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Decision is what the checks decided: return a stored response, or make an attempt. Exactly one is set.
type Decision struct {
	Response *contract.Response
	Attempt  *Attempt
}

// Attempt is a call that may go to the model.
type Attempt struct {
	Account prism.AccountID
	Key     prism.KeyID // of the caller
	Prism   prism.PrismID
	Input   contract.Input
	// IdempotencyKey is the one of a create call. It is empty for a retry: saving its result moves the key of the old result.
	IdempotencyKey string
	RetryOf        *prism.ResultID // nil: a first call
	// At is the time with which the id of the new result begins (spec: one-clock). It is zero if the look-up returned no time.
	At time.Time
	// AdHoc tells that Prism is ad hoc, and not there if it is zero (spec: adhoc-call).
	AdHoc bool
	// Names are what the call names the questions of an ad-hoc prism.
	Names []api.NamesOfQuestion
	// Lock names the lock that all calls of a race take. It is empty if no other call can race with this one.
	Lock string
}

// Sizer is the size estimate (spec: size-estimate).
type Sizer interface {
	// Check returns apierr.TooLarge for an input over the limit.
	Check(d prism.Definition, fields []prism.FieldValue, context string) error
}

// KeyLock names the lock of an idempotency key; it is empty for an empty key. A result that holds a key is only retried
// under that key's lock, so a keyed repeat and a retry of one result are the same race (spec: retries-at-once).
func KeyLock(account prism.AccountID, key string) string {
	if key == "" {
		return ""
	}
	return "key/" + account.String() + "/" + key
}

// retryOf is the attempt to retry a failed result with its stored fields, context, ref and version. A result keeps its key
// until it is retried, so the lock stays the same while a retry is possible.
func retryOf(account prism.AccountID, key prism.KeyID, s *contract.Stored, at time.Time) *Attempt {
	lock := KeyLock(account, s.IdempotencyKey)
	if lock == "" {
		lock = "result/" + account.String() + "/" + s.ID.String()
	}
	return &Attempt{Account: account, Key: key, Prism: s.Prism, Input: s.Input, RetryOf: &s.ID, At: at, Lock: lock}
}
