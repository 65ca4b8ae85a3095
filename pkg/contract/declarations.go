package contract

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Declarations makes the accounts and keys that the objects of a Kubernetes cluster declare (spec: operator-token). It checks no API key: its
// caller is the operator. It changes no account but those that it made. Each method can be repeated when its response was lost.
type Declarations interface {
	// DeclareAccount makes an account, or finds the one that the object or an earlier object with the same name made, and gives it
	// the limits and members: ErrNameTaken, ErrNameChanged.
	DeclareAccount(ctx context.Context, a DeclareAccount) (prism.AccountID, error)
	// DeclareKey makes an API key with an id that the caller has chosen and written down: ErrKeyMade, if the id has been used before, as
	// the text of that key is nowhere; ErrNotDeclared; apierr.TooManyKeys.
	DeclareKey(ctx context.Context, k DeclareKey) (DeclaredKey, error)
	// WithdrawKey revokes a key. An id that no key has is used up, so that a DeclareKey that arrives late makes nothing: ErrNotDeclared.
	WithdrawKey(ctx context.Context, k WithdrawKey) error
	// OperatorKey makes a key for the operator's own calls, which is valid for OperatorKeyTime: ErrNotDeclared.
	OperatorKey(ctx context.Context, k OperatorKey) (DeclaredKey, error)
}

// OperatorKeyTime is how long a key of the operator is valid.
const OperatorKeyTime = time.Hour

// DeclareError is why a declaration is not carried out.
type DeclareError string

// The errors of Declarations.
const (
	ErrNameTaken   DeclareError = "another account has this name" // one that no object declared
	ErrNameChanged DeclareError = "the object declared an account with another name"
	ErrKeyMade     DeclareError = "a key was made with this id"
	ErrNotDeclared DeclareError = "no object declared this account"
)

func (e DeclareError) Error() string { return "contract: " + string(e) }

// DeclareAccount is the account of an object.
type DeclareAccount struct {
	Object prism.UUID // the object's uid
	Name   string
	// Limits replace the account's if HasLimits is set.
	Limits    prism.Limits `json:",omitzero"`
	HasLimits bool         `json:",omitzero"`
	// Members replace the account's rules, and the claims that are granted to it; nil keeps them.
	Members []DeclaredMember `json:",omitzero"`
}

// DeclaredMember is a rule: whoever signs in with the claim becomes a member.
type DeclaredMember struct {
	Name  string
	Role  prism.Role
	Claim prism.Claim
}

// DeclareKey is a key to make.
type DeclareKey struct {
	Account prism.AccountID
	ID      prism.KeyID
	Name    string
	Role    prism.Role // an editor's at most
	// Seconds after which the key ends, by the clock of results; 0: it does not end.
	Seconds int64 `json:",omitzero"`
}

// WithdrawKey names a key to revoke.
type WithdrawKey struct {
	Account prism.AccountID
	ID      prism.KeyID
}

// OperatorKey asks for a key of the operator. Webhooks need an owner's.
type OperatorKey struct {
	Account prism.AccountID
	Role    prism.Role
}

// DeclaredKey is a new key. Key is its text, which is nowhere else.
type DeclaredKey struct {
	Key       string
	ExpiresAt *time.Time `json:",omitzero"`
}
