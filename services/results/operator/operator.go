// Package operator has the operator commands for accounts, keys and sign-in links (spec: operator-commands).
package operator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os/user"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Operator works on the store directly, so its commands need no API key.
type Operator struct {
	service   *service.Service
	databases Databases
}

// New creates an Operator.
func New(s *service.Service, d Databases) *Operator { return &Operator{s, d} }

// CreateAccount creates an account. Account names are unique.
func (o *Operator) CreateAccount(ctx context.Context, name string) (prism.AccountID, error) {
	if err := validName("an account's name", name); err != nil {
		return prism.AccountID{}, err
	}
	id, err := o.service.NewID()
	if err != nil {
		return prism.AccountID{}, err
	}
	by, err := o.by()
	if err != nil {
		return prism.AccountID{}, err
	}
	account := prism.AccountID{UUID: id}
	err = o.service.Store.CreateAccount(ctx, account, name, by)
	if errors.Is(err, store.ErrNameTaken) {
		return prism.AccountID{}, fmt.Errorf("there is already an account %q", name)
	}
	return account, err
}

// Account finds an account by its name.
func (o *Operator) Account(ctx context.Context, name string) (prism.AccountID, error) {
	account, err := o.service.Store.AccountByName(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return prism.AccountID{}, &NoAccountError{Name: name}
	}
	return account, err
}

// NoAccountError tells that no account has the name.
type NoAccountError struct{ Name string }

func (e *NoAccountError) Error() string {
	return fmt.Sprintf("there is no account %q; create it with: account create %s", e.Name, e.Name)
}

// CreateKey creates a key of an account and returns its text, which is not stored.
func (o *Operator) CreateKey(ctx context.Context, account prism.AccountID, name string, role prism.Role) (string, error) {
	if err := validName("a key's name", name); err != nil {
		return "", err
	}
	if !slices.Contains(prism.Roles(), role) {
		return "", errors.New("a key's role is owner, editor, caller, labeller or reader")
	}
	by, err := o.by()
	if err != nil {
		return "", err
	}
	_, text, err := o.service.MakeKey(ctx, account, api.NewKey{Name: name, Role: role}, by)
	return text, err
}

// keysPage is how many keys are read at once.
const keysPage = 1000

// Keys iterates over the keys of an account, newest first. An error ends the iteration.
func (o *Operator) Keys(ctx context.Context, account prism.AccountID) iter.Seq2[keys.APIKey, error] {
	return func(yield func(keys.APIKey, error) bool) {
		for page := (store.Page{Limit: keysPage}); ; {
			listed, more, err := o.service.Store.ListKeys(ctx, account, page)
			if err != nil {
				yield(keys.APIKey{}, err)
				return
			}
			for _, k := range listed {
				page.After = k.ID.UUID
				if !yield(k, nil) {
					return
				}
			}
			if !more {
				return
			}
		}
	}
}

// RevokeKey revokes any account's key by its id.
func (o *Operator) RevokeKey(ctx context.Context, id prism.KeyID) error {
	by, err := o.by()
	if err != nil {
		return err
	}
	_, err = o.service.Store.RevokeAnyKey(ctx, id, by)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no key with the id %s; key list shows them", id)
	}
	return err
}

// SignInLink makes a sign-in link for the operator of an account, and returns its path with the token, which is not stored.
func (o *Operator) SignInLink(ctx context.Context, account prism.AccountID) (path string, err error) {
	by, err := o.by()
	if err != nil {
		return "", err
	}
	return o.service.LinkOperator(ctx, account, by)
}

// by is what the audit says of a command.
func (o *Operator) by() (store.By, error) {
	return o.service.By(store.Actor{Kind: store.OperatorActor, Name: userName()})
}

// userName is the name of the user of the operating system who runs the program, or "operator" if the user has no name, as in
// some containers.
func userName() string {
	u, err := user.Current()
	if err != nil || validName("", u.Username) != nil {
		return "operator"
	}
	return u.Username
}

// validName checks a name that is stored and shown.
func validName(subject, name string) error {
	if err := keys.ValidName(name); err != nil {
		return errors.New(subject + " " + err.Error())
	}
	return nil
}
