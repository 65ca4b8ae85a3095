// Package access knows who calls an operation, whether they may, and whether there is a place for it now. It turns the errors of stores
// into those of the API.
package access

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store finds callers by their keys, and keeps when the keys were used.
type Store interface {
	Authenticate(ctx context.Context, key contract.KeyDigest) (store.Caller, error)
	TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error
}

// Access finds and admits callers.
type Access struct {
	Places   *Places
	store    Store
	now      func() time.Time
	newID    func() (prism.UUID, error)
	lastUses *lastUses
}

// New is the access to a store. memory is the memory limit in bytes; none if 0. Without KeepLastUses, the times of last use of API keys
// are not stored.
func New(s Store, now func() time.Time, newID func() (prism.UUID, error), memory int64) *Access {
	return &Access{
		Places: newPlaces(cmp.Or(memory, math.MaxInt64)), store: s, now: now, newID: newID, lastUses: newLastUses(),
	}
}

// By is a change that an actor makes now.
func (s *Access) By(actor store.Actor) (store.By, error) {
	id, err := s.newID()
	return store.By{Entry: id, At: prism.Now(s.now), Actor: actor}, err
}

// Account implements contract.Results. It is not a use of the key: the call that the gateway then makes is.
func (s *Access) Account(ctx context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	caller, err := s.store.Authenticate(ctx, key)
	switch {
	case err != nil:
		return prism.AccountID{}, Translate(err, nil)
	case !known(caller, s.now()):
		return prism.AccountID{}, apierr.InvalidAPIKey()
	}
	return caller.Account, nil
}

// Authorize implements contract.Results.
func (s *Access) Authorize(ctx context.Context, key contract.KeyDigest, op contract.Operation) error {
	_, err := s.Authenticate(ctx, key, op)
	return err
}
