package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/columns"
	"github.com/prism-results/prism/services/results/internal/store/sqlite/litedb"
)

// CreateAccount implements store.Keys.
func (s *Store) CreateAccount(ctx context.Context, id prism.AccountID, name string, at time.Time) error {
	return s.write(ctx, createAccount, func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		return q.CreateAccount(ctx, litedb.CreateAccountParams{
			ID: id.UUID[:], Name: name, CreatedAt: at.UnixMilli(),
		})
	})
}

// ListAccounts implements store.Keys.
func (s *Store) ListAccounts(ctx context.Context) ([]store.Account, error) {
	rows, err := s.reads.ListAccounts(ctx)
	accounts := make([]store.Account, len(rows))
	for i, row := range rows {
		accounts[i] = store.Account{ID: prism.AccountID{UUID: uuidOf(row.ID)}, Name: row.Name, CreatedAt: timeOf(row.CreatedAt)}
	}
	return accounts, translate("list accounts", err)
}

// AccountByName implements store.Keys.
func (s *Store) AccountByName(ctx context.Context, name string) (prism.AccountID, error) {
	id, err := s.reads.AccountByName(ctx, name)
	if err != nil {
		return prism.AccountID{}, translate("account by name", err)
	}
	return prism.AccountID{UUID: uuidOf(id)}, nil
}

// Authenticate implements store.Keys.
func (s *Store) Authenticate(ctx context.Context, digest contract.KeyDigest) (store.Caller, error) {
	found, err := s.reads.Authenticate(ctx, digest[:])
	if errors.Is(err, sql.ErrNoRows) {
		return store.Caller{}, nil
	} else if err != nil {
		return store.Caller{}, translate("authenticate", err)
	}
	return columns.Caller(uuidOf(found.AccountID), uuidOf(found.ID)), nil
}

// CreateKey implements store.Keys.
func (s *Store) CreateKey(
	ctx context.Context, account prism.AccountID, k store.APIKey, digest contract.KeyDigest,
) error {
	return s.write(ctx, "create key", func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		return q.CreateKey(ctx, litedb.CreateKeyParams{
			ID: k.ID.UUID[:], AccountID: account.UUID[:], Digest: digest[:], Prefix: k.Prefix, Name: k.Name,
			CreatedAt: k.CreatedAt.UnixMilli(), LastUsedAt: optionalMillis(k.LastUsedAt), RevokedAt: optionalMillis(k.RevokedAt),
		})
	})
}

// ListKeys implements store.Keys.
func (s *Store) ListKeys(ctx context.Context, account prism.AccountID) ([]store.APIKey, error) {
	rows, err := s.reads.ListKeys(ctx, account.UUID[:])
	if err != nil {
		return nil, translate("list keys", err)
	}
	keys := make([]store.APIKey, len(rows))
	for i, row := range rows {
		keys[i] = apiKeyOf(row)
	}
	return keys, nil
}

// RevokeKey implements store.Keys.
func (s *Store) RevokeKey(
	ctx context.Context, account prism.AccountID, id prism.KeyID, at time.Time,
) (key store.APIKey, err error) {
	err = s.write(ctx, "revoke key", func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		row, err := q.RevokeKey(ctx, litedb.RevokeKeyParams{AccountID: account.UUID[:], ID: id.UUID[:], At: at.UnixMilli()})
		key = apiKeyOf(litedb.ListKeysRow(row))
		return err
	})
	if err != nil {
		return store.APIKey{}, err
	}
	return key, nil
}

// RevokeAnyKey implements store.Keys.
func (s *Store) RevokeAnyKey(ctx context.Context, id prism.KeyID, at time.Time) (key store.APIKey, err error) {
	err = s.write(ctx, "revoke any key", func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		row, err := q.RevokeAnyKey(ctx, litedb.RevokeAnyKeyParams{ID: id.UUID[:], At: at.UnixMilli()})
		key = apiKeyOf(litedb.ListKeysRow(row))
		return err
	})
	if err != nil {
		return store.APIKey{}, err
	}
	return key, nil
}

// TouchKeys implements store.Keys.
func (s *Store) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	return s.write(ctx, "touch keys", func(ctx context.Context, q *litedb.Queries, _ *sql.Tx) error {
		for id, at := range used {
			if err := q.TouchKey(ctx, litedb.TouchKeyParams{ID: id.UUID[:], At: at.UnixMilli()}); err != nil {
				return err
			}
		}
		return nil
	})
}

func apiKeyOf(row litedb.ListKeysRow) store.APIKey {
	return store.APIKey{
		ID: prism.KeyID{UUID: uuidOf(row.ID)}, Name: row.Name, Prefix: row.Prefix, CreatedAt: timeOf(row.CreatedAt),
		LastUsedAt: optionalTimeOf(row.LastUsedAt), RevokedAt: optionalTimeOf(row.RevokedAt),
	}
}
