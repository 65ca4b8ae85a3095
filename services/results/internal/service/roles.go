package service

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

type operation = contract.Operation

// The operations. One that needs forgets needs a role that nobody has.
const (
	planRun   operation = "planRun"   // the first half of the dry run of createRun
	planRows  operation = "planRows"  // the second half
	labelsRun operation = "labelsRun" // makes its file
)

// need is what an operation needs.
type need struct {
	role  prism.Role // the least that may do it (spec: roles)
	class api.Class
}

// needs are those of the operations that package api does not declare. A key is made by an owner, so nobody makes a key with more rights than their own
// (spec: no-key-above-its-maker), and so do members.
var needs = map[operation]need{
	planRun:   {prism.Caller, api.Keyed},
	planRows:  {prism.Caller, api.Listing},
	labelsRun: {prism.Caller, api.Measuring},
}

// needOf is what an operation needs.
func needOf(op operation) need {
	if declared, ok := api.Find(string(op)); ok {
		d := declared.Declared()
		return need{d.Role, d.Class}
	}
	return needs[op]
}

// admit checks that a key is known and has not expired, and that its role allows the operation (spec: key-expiry,
// order-of-checks-role). It records that the key was used.
func (s *Service) admit(c store.Caller, op operation) error {
	now := s.Now()
	if !known(c, now) {
		return apierr.InvalidAPIKey()
	}
	s.lastUses.touch(c.Key, now)
	if !c.Role.Includes(needOf(op).role) {
		return apierr.RoleNotAllowed()
	}
	return nil
}

// known tells whether the key exists and has not expired.
func known(c store.Caller, now time.Time) bool {
	return !c.Account.IsZero() && (c.ExpiresAt == nil || now.Before(*c.ExpiresAt))
}

// authenticate finds the caller that an API key stands for: apierr.InvalidAPIKey, apierr.RoleNotAllowed.
func (s *Service) authenticate(ctx context.Context, key contract.KeyDigest, op operation) (store.Caller, error) {
	found, err := s.Store.Authenticate(ctx, key)
	if err != nil {
		return store.Caller{}, translate(err, nil)
	}
	return found, s.admit(found, op)
}

// enter is authenticate that takes a place for the operation, before anything is loaded: also contract.ErrUnavailable. leave gives the
// place back.
func (s *Service) enter(ctx context.Context, key contract.KeyDigest, op operation) (c store.Caller, leave func(), err error) {
	if c, err = s.authenticate(ctx, key, op); err != nil {
		return c, nil, err
	}
	leave, err = s.places.take(ctx, c.Account, op)
	return c, leave, err
}
