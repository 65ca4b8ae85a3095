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

	// lockAccount locks the row of an account until the transaction ends.
	lockAccount = `UPDATE accounts SET name = name WHERE id = $1 RETURNING id`
	// countActiveKeys stops counting at $2.
	countActiveKeys = `-- name: CountActiveKeys :one
SELECT count(*) FROM (SELECT 1 FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL LIMIT $2) AS active`

	keyColumns = `id, name, prefix, role, created_at, expires_at, last_used_at, revoked_at`
	createKey  = `INSERT INTO api_keys (id, account_id, digest, prefix, name, role, created_at, expires_at, last_used_at, revoked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	listKeys = `-- name: ListKeys :many
SELECT ` + keyColumns + ` FROM api_keys WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`
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

// CreateKey implements store.Keys. Keys of one account are created one after the other, so that their number is right.
func (s Store) CreateKey(
	ctx context.Context, account prism.AccountID, k store.APIKey, digest contract.KeyDigest,
) error {
	return s.Transaction(ctx, "create_key", func(run Run) error {
		if err := run(ctx, Statement{Text: lockAccount, Args: []any{account.UUID}}, changed); err != nil {
			return err
		}
		var active int64
		counted := Statement{Text: countActiveKeys, Args: []any{account.UUID, int64(store.MaxActiveKeys)}}
		if err := run(ctx, counted, one(&active, (*Row).Int)); err != nil {
			return err
		}
		if active == store.MaxActiveKeys {
			return store.ErrTooManyKeys
		}
		return run(ctx, Statement{Text: createKey, Args: []any{
			k.ID.UUID, account.UUID, digest[:], k.Prefix, k.Name, string(k.Role), k.CreatedAt, k.ExpiresAt, k.LastUsedAt,
			k.RevokedAt,
		}}, nothing)
	})
}

// ListKeys implements store.Keys.
func (s Store) ListKeys(ctx context.Context, account prism.AccountID, page store.Page) (keys []store.APIKey, err error) {
	args := []any{account.UUID, page.Before(), int64(page.Limit)}
	err = s.Run(ctx, Statement{"list_keys", listKeys, args, true}, all(&keys, (*Row).apiKey))
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
		ID: prism.KeyID{UUID: r.UUID()}, Name: r.Text(), Prefix: r.Text(), Role: prism.Role(r.Text()), CreatedAt: r.Time(),
		ExpiresAt: r.OptionalTime(), LastUsedAt: r.OptionalTime(), RevokedAt: r.OptionalTime(),
	}
}
