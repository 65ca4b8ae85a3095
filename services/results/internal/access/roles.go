package access

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The operations that package api does not declare. One without an entry in Needs needs a role that nobody has.
const (
	PlanRun   contract.Operation = "planRun"   // the first half of the dry run of createRun
	PlanRows  contract.Operation = "planRows"  // the second half
	LabelsRun contract.Operation = "labelsRun" // makes its file
)

// Need is what an operation needs.
type Need struct {
	Role  prism.Role // the least that may do it (spec: roles)
	Class api.Class
}

// Needs are those of the operations that package api does not declare. A key is made by an owner, so nobody makes a key with more rights than their own
// (spec: no-key-above-its-maker), and so do members.
var Needs = map[contract.Operation]Need{
	PlanRun:   {prism.Caller, api.Keyed},
	PlanRows:  {prism.Caller, api.Listing},
	LabelsRun: {prism.Caller, api.Measuring},
}

// NeedOf is what an operation needs.
func NeedOf(op contract.Operation) Need {
	if declared, ok := api.Find(string(op)); ok {
		d := declared.Declared()
		return Need{d.Role, d.Class}
	}
	return Needs[op]
}

// Admit checks that a key is known and has not expired, and that its role allows the operation (spec: key-expiry,
// order-of-checks-role). It records that the key was used.
func (s *Access) Admit(c store.Caller, op contract.Operation) error {
	now := s.now()
	if !known(c, now) {
		return apierr.InvalidAPIKey()
	}
	s.lastUses.touch(c.Key, now)
	if !c.Role.Includes(NeedOf(op).Role) {
		return apierr.RoleNotAllowed()
	}
	return nil
}

// known tells whether the key exists and has not expired.
func known(c store.Caller, now time.Time) bool {
	return !c.Account.IsZero() && (c.ExpiresAt == nil || now.Before(*c.ExpiresAt))
}

// Authenticate finds the caller that an API key stands for: apierr.InvalidAPIKey, apierr.RoleNotAllowed.
func (s *Access) Authenticate(ctx context.Context, key contract.KeyDigest, op contract.Operation) (store.Caller, error) {
	caller, err := s.store.Authenticate(ctx, key)
	if err != nil {
		return store.Caller{}, Translate(err, nil)
	}
	return caller, s.Admit(caller, op)
}

// Enter is Authenticate, and then takes a place for the operation, before anything is loaded: also contract.ErrUnavailable. leave gives the
// place back.
func (s *Access) Enter(ctx context.Context, key contract.KeyDigest, op contract.Operation) (c store.Caller, leave func(), err error) {
	if c, err = s.Authenticate(ctx, key, op); err != nil {
		return c, nil, err
	}
	leave, err = s.Places.take(ctx, c.Account, op)
	return c, leave, err
}

// Serve is Enter for fn, whose errors it translates.
func (s *Access) Serve(
	ctx context.Context, key contract.KeyDigest, op contract.Operation, notFound *apierr.Error, fn func(store.Caller) error,
) error {
	c, leave, err := s.Enter(ctx, key, op)
	if err != nil {
		return err
	}
	defer leave()
	return Translate(fn(c), notFound)
}
