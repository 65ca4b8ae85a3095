// Package declarations makes the accounts and keys that objects of a Kubernetes cluster declare (spec: operator-token).
package declarations

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Operator is the name of the actor in the audit, and of the keys for the operator's own calls.
const Operator = "prism-operator"

// Store keeps what is declared.
type Store interface {
	keys.DeclaredStore
	keys.LimitStore
	members.Store
}

// Handlers implement contract.Declarations.
type Handlers struct {
	store  Store
	by     func(store.Actor) (store.By, error)
	newID  func() (prism.UUID, error)
	newKey func() (keys.Secret, error)
}

// NewHandlers makes Handlers over a store.
func NewHandlers(
	s Store, by func(store.Actor) (store.By, error), newID func() (prism.UUID, error), newKey func() (keys.Secret, error),
) *Handlers {
	return &Handlers{store: s, by: by, newID: newID, newKey: newKey}
}

func (h *Handlers) change() (store.By, error) {
	return h.by(store.Actor{Kind: store.OperatorActor, Name: Operator})
}

// DeclareAccount implements contract.Declarations. It is several transactions, each of which can be repeated.
func (h *Handlers) DeclareAccount(ctx context.Context, a contract.DeclareAccount) (prism.AccountID, error) {
	if err := validAccount(a); err != nil {
		return prism.AccountID{}, err
	}
	account, err := h.account(ctx, a)
	if errors.Is(err, store.ErrNameTaken) { // perhaps by a call at the same time for the same object
		account, err = h.account(ctx, a)
	}
	if err == nil && a.HasLimits {
		err = h.setLimits(ctx, account, a.Limits)
	}
	if err == nil && a.Members != nil {
		err = h.setMembers(ctx, account, a.Members)
	}
	return account, translate(err)
}

func (h *Handlers) account(ctx context.Context, a contract.DeclareAccount) (prism.AccountID, error) {
	by, err := h.change()
	if err != nil {
		return prism.AccountID{}, err
	}
	id, err := h.newID()
	if err != nil {
		return prism.AccountID{}, err
	}
	return h.store.DeclareAccount(ctx, prism.AccountID{UUID: id}, a.Name, a.Object, by)
}

func (h *Handlers) setLimits(ctx context.Context, account prism.AccountID, l prism.Limits) error {
	by, err := h.change()
	if err != nil {
		return err
	}
	_, err = h.store.SetLimits(ctx, account, keys.LimitsChange{
		RequestsPerSecond: &l.RequestsPerSecond, Concurrency: &l.Concurrency, ResultsPerDay: &l.ResultsPerDay, StoredBytes: &l.StoredBytes,
	}, by)
	return err
}

func (h *Handlers) setMembers(ctx context.Context, account prism.AccountID, declared []contract.DeclaredMember) error {
	by, err := h.change()
	if err != nil {
		return err
	}
	rules := make([]members.Member, len(declared))
	for i, m := range declared {
		rules[i] = members.Member{Name: m.Name, Role: m.Role, Claim: &declared[i].Claim}
	}
	return h.store.DeclareRules(ctx, account, rules, h.newID, by)
}

// validAccount checks what the API server would have refused.
func validAccount(a contract.DeclareAccount) error {
	if err := keys.ValidName(a.Name); err != nil {
		return apierr.Invalid(apierr.Problem{Path: "name", Text: err.Error()})
	}
	if l := a.Limits; a.Object.IsZero() || min(l.RequestsPerSecond, l.Concurrency, l.ResultsPerDay) < 0 || l.StoredBytes < 0 {
		return apierr.Invalid(apierr.Problem{Path: "limits", Text: "must be at least 1"})
	}
	for _, m := range a.Members {
		if keys.ValidName(m.Name) != nil || keys.ValidName(m.Claim.Name) != nil || keys.ValidName(m.Claim.Value) != nil || !slices.Contains(prism.Roles(), m.Role) {
			return apierr.Invalid(apierr.Problem{Path: "members", Text: "must have names, roles and claims of 1 to 200 bytes"})
		}
	}
	return nil
}

// DeclareKey implements contract.Declarations.
func (h *Handlers) DeclareKey(ctx context.Context, k contract.DeclareKey) (contract.DeclaredKey, error) {
	if keys.ValidName(k.Name) != nil || !prism.Editor.Includes(k.Role) || k.ID.IsZero() || k.Seconds < 0 || k.Seconds > maxSeconds {
		return contract.DeclaredKey{}, apierr.Invalid(apierr.Problem{Path: "role", Text: "must be at most editor"})
	}
	return h.makeKey(keys.APIKey{ID: k.ID, Name: k.Name, Role: k.Role}, k.Seconds, func(made keys.APIKey, digest contract.KeyDigest, by store.By) error {
		return h.store.DeclareKey(ctx, k.Account, made, digest, keys.MaxActiveKeys, by)
	})
}

// maxSeconds bounds the time of a key: a hundred years.
const maxSeconds = 100 * 366 * 24 * 60 * 60

// WithdrawKey implements contract.Declarations.
func (h *Handlers) WithdrawKey(ctx context.Context, k contract.WithdrawKey) error {
	_, err := h.makeKey(keys.APIKey{ID: k.ID, Name: Operator, Role: prism.Reader}, 0, func(unused keys.APIKey, digest contract.KeyDigest, by store.By) error {
		return h.store.WithdrawKey(ctx, k.Account, unused, digest, by)
	})
	return err
}

// OperatorKey implements contract.Declarations.
func (h *Handlers) OperatorKey(ctx context.Context, k contract.OperatorKey) (contract.DeclaredKey, error) {
	if k.Role != prism.Editor && k.Role != prism.Owner {
		return contract.DeclaredKey{}, apierr.Invalid(apierr.Problem{Path: "role", Text: "must be editor or owner"})
	}
	id, err := h.newID()
	if err != nil {
		return contract.DeclaredKey{}, err
	}
	key, seconds := keys.APIKey{ID: prism.KeyID{UUID: id}, Name: Operator, Role: k.Role}, int64(contract.OperatorKeyTime/time.Second)
	return h.makeKey(key, seconds, func(made keys.APIKey, digest contract.KeyDigest, by store.By) error {
		return h.store.CreateOperatorKey(ctx, k.Account, made, digest, by)
	})
}

// makeKey has save store a key with a new text, which ends after some seconds, or not if they are 0.
func (h *Handlers) makeKey(
	k keys.APIKey, seconds int64, save func(keys.APIKey, contract.KeyDigest, store.By) error,
) (contract.DeclaredKey, error) {
	by, err := h.change()
	if err != nil {
		return contract.DeclaredKey{}, err
	}
	key, err := h.newKey()
	if err != nil {
		return contract.DeclaredKey{}, err
	}
	k.Prefix, k.CreatedAt = key.Prefix, by.At
	if seconds > 0 {
		k.ExpiresAt = new(by.At.Add(time.Duration(seconds) * time.Second))
	}
	if err := save(k, key.Digest, by); err != nil {
		return contract.DeclaredKey{}, translate(err)
	}
	return contract.DeclaredKey{Key: key.Text, ExpiresAt: k.ExpiresAt}, nil
}

// translate turns a store's error into one of contract.Declarations.
func translate(err error) error {
	declared, ok := errors.AsType[contract.DeclareError](err)
	switch {
	case ok:
		return declared
	case errors.Is(err, store.ErrNameTaken):
		return contract.ErrNameTaken
	case errors.Is(err, store.ErrNotFound):
		return contract.ErrNotDeclared
	}
	return access.Translate(err, nil)
}
