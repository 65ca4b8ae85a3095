package sqlstore

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	createAccount = `INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)`
	listAccounts  = `SELECT id, name, created_at FROM accounts ORDER BY name`
	accountByName = `SELECT id FROM accounts WHERE name = $1`

	keyColumns = `id, name, prefix, created_at, last_used_at, revoked_at`
	createKey  = `INSERT INTO api_keys (id, account_id, digest, prefix, name, created_at, last_used_at, revoked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	listKeys     = `SELECT ` + keyColumns + ` FROM api_keys WHERE account_id = $1 ORDER BY created_at DESC, id DESC`
	revokeAnyKey = `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ` + keyColumns
	revokeKey    = `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 AND account_id = $3
RETURNING ` + keyColumns
)

// CreateAccount implements store.Keys.
func (s Store) CreateAccount(ctx context.Context, id prism.AccountID, name string, at time.Time) error {
	return s.Run(ctx, Statement{OperationCreateAccount, createAccount, []any{id.UUID, name, at}, false}, nothing)
}

// ListAccounts implements store.Keys.
func (s Store) ListAccounts(ctx context.Context) (accounts []store.Account, err error) {
	err = s.Run(ctx, Statement{"list_accounts", listAccounts, nil, true}, all(&accounts, func(r *Row) store.Account {
		return store.Account{ID: prism.AccountID{UUID: r.UUID()}, Name: r.Text(), CreatedAt: r.Time()}
	}))
	return accounts, err
}

// AccountByName implements store.Keys.
func (s Store) AccountByName(ctx context.Context, name string) (id prism.AccountID, err error) {
	err = s.Run(ctx, Statement{"account_by_name", accountByName, []any{name}, true}, one(&id.UUID, (*Row).UUID))
	return id, err
}

// CreateKey implements store.Keys.
func (s Store) CreateKey(
	ctx context.Context, account prism.AccountID, k store.APIKey, digest contract.KeyDigest,
) error {
	args := []any{k.ID.UUID, account.UUID, digest[:], k.Prefix, k.Name, k.CreatedAt, k.LastUsedAt, k.RevokedAt}
	return s.Run(ctx, Statement{"create_key", createKey, args, false}, nothing)
}

// ListKeys implements store.Keys.
func (s Store) ListKeys(ctx context.Context, account prism.AccountID) (keys []store.APIKey, err error) {
	err = s.Run(ctx, Statement{"list_keys", listKeys, []any{account.UUID}, true}, all(&keys, (*Row).apiKey))
	return keys, err
}

// RevokeKey implements store.Keys.
func (s Store) RevokeKey(
	ctx context.Context, account prism.AccountID, id prism.KeyID, at time.Time,
) (key store.APIKey, err error) {
	args := []any{id.UUID, at, account.UUID}
	err = s.Run(ctx, Statement{"revoke_key", revokeKey, args, false}, one(&key, (*Row).apiKey))
	return key, err
}

// RevokeAnyKey implements store.Keys.
func (s Store) RevokeAnyKey(ctx context.Context, id prism.KeyID, at time.Time) (key store.APIKey, err error) {
	err = s.Run(ctx, Statement{"revoke_any_key", revokeAnyKey, []any{id.UUID, at}, false}, one(&key, (*Row).apiKey))
	return key, err
}

func (r *Row) apiKey() store.APIKey {
	return store.APIKey{
		ID: prism.KeyID{UUID: r.UUID()}, Name: r.Text(), Prefix: r.Text(), CreatedAt: r.Time(), LastUsedAt: r.OptionalTime(),
		RevokedAt: r.OptionalTime(),
	}
}
