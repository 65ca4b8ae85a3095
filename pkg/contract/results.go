// Package contract has the interfaces between the services, and their types. The services results and model-proxy implement
// the interfaces, contract/wire carries them over HTTP, and one suite (contracttest) runs against both.
package contract

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// KeyDigest is the SHA-256 of an API key. Services store and look up the digest; the key itself stays in
// the gateway (spec: key-digest).
type KeyDigest [32]byte

// Format is how a result is written.
type Format = api.Format

// The formats.
const (
	JSON  = api.JSON
	Raw   = api.Raw
	CSV   = api.CSV
	TSV   = api.TSV
	JSONL = api.JSONL
)

// Response is a finished response body.
type Response struct {
	ContentType string
	Body        []byte `json:",omitzero"`
	// Failed tells that the body shows a failed result: the response of a create or retry is then a 502.
	Failed bool
	// Replayed tells that a create call did not make the result: it is the stored one of the idempotency key.
	Replayed bool `json:",omitzero"`
	// Result and Version are the id of the result and the version that answered, as far as the gateway knows them: for a create call
	// and a retry. Results leave them zero.
	Result  prism.ResultID `json:",omitzero"`
	Version int32          `json:",omitzero"`
}

// Errors between the services. Every other error of an interface below is an *apierr.Error, which is for the caller of the
// API, or a fault, after which it is not known whether the call took effect.
var (
	// ErrUnavailable: the service did not take the call, so nothing has happened.
	ErrUnavailable = errors.New("service unavailable")
	// ErrKeyTaken: another result of the account holds the idempotency key.
	ErrKeyTaken = errors.New("idempotency key taken")
)

// RetriedError is a lost race: the result By retried the old result first.
type RetriedError struct{ By prism.ResultID }

func (e *RetriedError) Error() string { return "already retried" }

// ResultsWait is how long a caller in another process waits for results, unless its context has a deadline. So while
// results or its database hangs, look-ups and management calls get their response within 2 s.
const ResultsWait = 1750 * time.Millisecond

// Results is storage and formatting.
//
// Every method but Save, FinishTry, Limits and those of Leases first checks the API key. For a digest that is unknown, revoked
// or expired it returns apierr.InvalidAPIKey, or facts without an account. Then every method but Account checks the role of the
// key: apierr.RoleNotAllowed.
type Results interface {
	Files
	Runs
	Leases
	Tries

	// Do answers a call of a declared operation. request is what the operation's NewRequest returns, filled and valid. The errors are
	// those of the declaration.
	Do(ctx context.Context, key KeyDigest, op api.Operation, request any) (Response, error)
	// Open is Do of an operation whose class is Streamed. The caller closes the body. A fault after the first byte ends the body with
	// an error.
	Open(ctx context.Context, key KeyDigest, op api.Operation, request any) (Stream, error)

	// Account is the account of an API key, whatever its role.
	Account(ctx context.Context, key KeyDigest) (prism.AccountID, error)
	// Authorize checks an API key and its role for an operation of which the gateway does a part by itself.
	Authorize(ctx context.Context, key KeyDigest, op Operation) error
	// Limits are the limits of all accounts that have one or are full, in any order.
	Limits(ctx context.Context) ([]AccountLimits, error)

	// CreateFacts looks up, in one consistent read, what the checks of a create call need.
	CreateFacts(ctx context.Context, q CreateQuery) (CreateFacts, error)
	// RetryFacts looks up, in one consistent read, what the checks of a retry need.
	RetryFacts(ctx context.Context, key KeyDigest, id prism.ResultID) (RetryFacts, error)
	// Save stores a result and returns it formatted. Saving the same id twice is one save and returns the first.
	// With RetryOf set it marks that result as retried and moves its idempotency key to the new one, atomically.
	// It returns ErrKeyTaken, or *RetriedError when another result retried RetryOf first. If RetryOf was deleted, the result is
	// saved as that of a first call if it has an IdempotencyKey, else the error is apierr.ResultNotFound.
	Save(ctx context.Context, s Save) (Response, error)
}

// Do calls a declared operation with a request of its type.
func Do[In, Out any](ctx context.Context, r Results, key KeyDigest, op api.Op[In, Out], request In) (Response, error) {
	return r.Do(ctx, key, op, &request)
}

// Open opens the stream of a declared operation with a request of its type.
func Open[In, Out any](ctx context.Context, r Results, key KeyDigest, op api.Op[In, Out], request In) (Stream, error) {
	return r.Open(ctx, key, op, &request)
}

// Operation is what a caller does, by its name in the OpenAPI document.
type Operation string

// AccountLimits are the limits of an account.
type AccountLimits struct {
	Account prism.AccountID
	prism.Limits
	// Full reports that the account stores as much as it may (spec: full-account).
	Full bool `json:",omitzero"`
}

// CreateQuery is the part of a create call that names stored things.
type CreateQuery struct {
	Key            KeyDigest
	Prism          prism.Ref
	Version        int32  `json:",omitzero"` // 0: the latest
	IdempotencyKey string `json:",omitzero"` // "": none
	Format         Format // of the stored result, if it is returned
	// AdHoc tells that Prism is the slug of an ad-hoc prism, which the call may make (spec: adhoc-call).
	AdHoc bool `json:",omitzero"`
	// Names are what the call names the questions of an ad-hoc prism.
	Names []api.NamesOfQuestion `json:",omitzero"`
}

// AdHoc is what a call may do with an ad-hoc prism.
type AdHoc string

// The values of AdHoc.
const (
	NotAdHoc  AdHoc = ""     // the prism is another one
	KeptAdHoc AdHoc = "kept" // the prism is there
	NewAdHoc  AdHoc = "new"  // the first result makes it
	FullAdHoc AdHoc = "full" // the account has as many as it may have
)

// CreateFacts is what a CreateQuery names, read on one snapshot. A missing thing is its zero value, and so is everything that
// belongs to it.
type CreateFacts struct {
	Account  prism.AccountID // zero: the key is unknown, revoked or expired
	Key      prism.KeyID     `json:",omitzero"`
	Prism    prism.PrismID   // zero: not found in the account
	Archived bool            `json:",omitzero"`
	AdHoc    AdHoc           `json:",omitzero"`
	// Stored is the result that holds the idempotency key.
	Stored *Stored `json:",omitzero"`
	// Response is Stored in the format of the query, when Stored is ok and of this prism (spec: repeat-of-an-ok-result).
	Response *Response `json:",omitzero"`
	// Version is the version that a first call is for; nil when it does not exist.
	Version *prism.Version
	// Unwritable reports that the store cannot save a result (spec: unwritable-store).
	Unwritable bool `json:",omitzero"`
	// At is the time of the look-up, with which the id of a new result begins (spec: one-clock).
	At time.Time `json:",omitzero"`
}

// RetryFacts is what is stored of the result to retry, on one snapshot.
type RetryFacts struct {
	Account prism.AccountID // zero: the key is unknown, revoked or expired
	Key     prism.KeyID     `json:",omitzero"`
	Stored  *Stored         // nil: not found in the account
	// Unwritable reports that the store cannot save a result (spec: unwritable-store).
	Unwritable bool `json:",omitzero"`
	// At is as in CreateFacts.
	At time.Time `json:",omitzero"`
}

// Stored is a result as the checks see it, with the input that a retry sends to the model.
type Stored struct {
	ID             prism.ResultID
	Prism          prism.PrismID
	Archived       bool // its prism is
	Status         prism.Status
	RetriedBy      *prism.ResultID
	IdempotencyKey string
	Answered       int32 `json:",omitzero"` // the version that answered
	Input          Input
}

// Input is what is sent to the model and stored with the answers.
type Input struct {
	Version prism.Version // without its hash, if it comes from another process
	Ref     *string
	Context string
	// Fields in the version's order.
	Fields []prism.FieldValue `json:",omitzero"`
}

// Save is a result to store. Everything is chosen before the first attempt, so that repeating it is one save
// (spec: one-save-per-result).
type Save struct {
	Account        prism.AccountID
	ID             prism.ResultID
	Prism          prism.PrismID
	Version        int32
	Ref            *string            `json:",omitzero"`
	Context        string             `json:",omitzero"`
	Fields         []prism.FieldValue `json:",omitzero"`
	IdempotencyKey string             `json:",omitzero"` // of a create call; a retry takes that of the old result
	RetryOf        *prism.ResultID    `json:",omitzero"` // nil: a first call
	Key            prism.KeyID        `json:",omitzero"` // that makes the call
	Outcome        Outcome
	Format         Format
	// AdHoc is the definition of the ad-hoc prism that the result is of. The save makes the prism unless it is there, also if it was there
	// before the model was called (spec: adhoc-kept).
	AdHoc *prism.Definition     `json:",omitzero"`
	Names []api.NamesOfQuestion `json:",omitzero"`
}

// Page is a limit of 1 to 100 and the cursor of the page before ("" for the first page).
type Page struct {
	Limit  int
	Cursor string // as List.ParseCursor accepts it
}

// Stream is a response body that is made while it is sent.
type Stream struct {
	ContentType string
	Body        io.ReadCloser
}
