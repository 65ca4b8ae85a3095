package instrumented

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// CreateAccount implements store.Keys.
func (s *Store) CreateAccount(ctx context.Context, id prism.AccountID, name string, at time.Time) (err error) {
	defer s.measure("create_account")(&err)
	return s.inner.CreateAccount(ctx, id, name, at)
}

// ListAccounts implements store.Keys.
func (s *Store) ListAccounts(ctx context.Context) (accounts []store.Account, err error) {
	defer s.measure("list_accounts")(&err)
	return s.inner.ListAccounts(ctx)
}

// AccountByName implements store.Keys.
func (s *Store) AccountByName(ctx context.Context, name string) (id prism.AccountID, err error) {
	defer s.measure("account_by_name")(&err)
	return s.inner.AccountByName(ctx, name)
}

// Authenticate implements store.Keys.
func (s *Store) Authenticate(ctx context.Context, key contract.KeyDigest) (caller store.Caller, err error) {
	defer s.measure("authenticate")(&err)
	return s.inner.Authenticate(ctx, key)
}

// CreateKey implements store.Keys.
func (s *Store) CreateKey(
	ctx context.Context, account prism.AccountID, k store.APIKey, digest contract.KeyDigest,
) (err error) {
	defer s.measure("create_key")(&err)
	return s.inner.CreateKey(ctx, account, k, digest)
}

// ListKeys implements store.Keys.
func (s *Store) ListKeys(ctx context.Context, account prism.AccountID) (keys []store.APIKey, err error) {
	defer s.measure("list_keys")(&err)
	return s.inner.ListKeys(ctx, account)
}

// RevokeKey implements store.Keys.
func (s *Store) RevokeKey(
	ctx context.Context, account prism.AccountID, id prism.KeyID, at time.Time,
) (key store.APIKey, err error) {
	defer s.measure("revoke_key")(&err)
	return s.inner.RevokeKey(ctx, account, id, at)
}

// RevokeAnyKey implements store.Keys.
func (s *Store) RevokeAnyKey(ctx context.Context, id prism.KeyID, at time.Time) (key store.APIKey, err error) {
	defer s.measure("revoke_any_key")(&err)
	return s.inner.RevokeAnyKey(ctx, id, at)
}

// TouchKeys implements store.Keys.
func (s *Store) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) (err error) {
	defer s.measure("touch_keys")(&err)
	return s.inner.TouchKeys(ctx, used)
}
