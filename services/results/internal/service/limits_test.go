package service_test

import (
	"errors"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: account-limits, key-expiry
func TestTheAccountOfAKeyIsToldWhileTheKeyIsValid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, role := range prism.Roles() {
		if account, err := w.Account(t.Context(), w.newKey(t, api.NewKey{Name: "n", Role: role})); err != nil || account != w.account {
			t.Errorf("%s: %v, %v", role, account, err)
		}
	}
	expired := w.Now().Add(-time.Second)
	for name, key := range map[string]contract.KeyDigest{
		"unknown": {9}, "expired": w.newKey(t, api.NewKey{Name: "n", ExpiresAt: &expired}),
	} {
		if account, err := w.Account(t.Context(), key); !errors.Is(err, apierr.InvalidAPIKey()) || !account.IsZero() {
			t.Errorf("an %s key: %v, %v", name, account, err)
		}
	}
}

// spec: account-limits
func TestLimitsAreThoseOfTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if limits, err := w.Limits(t.Context()); err != nil || len(limits) != 0 {
		t.Errorf("%v, %v", limits, err)
	}
	set, err := w.Store.SetLimits(t.Context(), w.account, keys.LimitsChange{Concurrency: new(int32(3))}, storetest.By())
	if err != nil {
		t.Fatal(err)
	}
	limits, err := w.Limits(t.Context())
	if err != nil || len(limits) != 1 || limits[0] != (contract.AccountLimits{Account: w.account, Limits: set}) {
		t.Errorf("%v, %v", limits, err)
	}
}
