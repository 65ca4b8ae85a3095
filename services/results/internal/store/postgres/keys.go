package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/columns"
	"github.com/prism-results/prism/services/results/internal/store/postgres/pgdb"
)

// CreateAccount implements store.Keys.
func (s *Store) CreateAccount(ctx context.Context, id prism.AccountID, name string, at time.Time) error {
	return s.do(ctx, "create account", func(ctx context.Context, conn *pgxpool.Conn) error {
		return pgdb.New(conn).CreateAccount(ctx, pgdb.CreateAccountParams{ID: id.UUID, Name: name, CreatedAt: at})
	})
}

// ListAccounts implements store.Keys.
func (s *Store) ListAccounts(ctx context.Context) ([]store.Account, error) {
	rows, err := query(ctx, s.read, "list accounts", func(ctx context.Context, q *pgdb.Queries) ([]pgdb.Account, error) {
		return q.ListAccounts(ctx)
	})
	accounts := make([]store.Account, len(rows))
	for i, row := range rows {
		accounts[i] = store.Account{ID: prism.AccountID{UUID: row.ID}, Name: row.Name, CreatedAt: row.CreatedAt.UTC()}
	}
	return accounts, err
}

// AccountByName implements store.Keys.
func (s *Store) AccountByName(ctx context.Context, name string) (prism.AccountID, error) {
	id, err := query(ctx, s.read, "account by name", func(ctx context.Context, q *pgdb.Queries) (prism.UUID, error) {
		return q.AccountByName(ctx, name)
	})
	if err != nil {
		return prism.AccountID{}, err
	}
	return prism.AccountID{UUID: id}, nil
}

// Authenticate implements store.Keys.
func (s *Store) Authenticate(ctx context.Context, digest contract.KeyDigest) (store.Caller, error) {
	found, err := query(ctx, s.read, "authenticate", func(ctx context.Context, q *pgdb.Queries) (pgdb.AuthenticateRow, error) {
		return q.Authenticate(ctx, digest[:])
	})
	if errors.Is(err, store.ErrNotFound) {
		return store.Caller{}, nil
	} else if err != nil {
		return store.Caller{}, err
	}
	return columns.Caller(found.AccountID, found.ID), nil
}

// CreateKey implements store.Keys.
func (s *Store) CreateKey(
	ctx context.Context, account prism.AccountID, k store.APIKey, digest contract.KeyDigest,
) error {
	return s.do(ctx, "create key", func(ctx context.Context, conn *pgxpool.Conn) error {
		return pgdb.New(conn).CreateKey(ctx, pgdb.CreateKeyParams{
			ID: k.ID.UUID, AccountID: account.UUID, Digest: digest[:], Prefix: k.Prefix, Name: k.Name, CreatedAt: k.CreatedAt,
			LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt,
		})
	})
}

// ListKeys implements store.Keys.
func (s *Store) ListKeys(ctx context.Context, account prism.AccountID) ([]store.APIKey, error) {
	rows, err := query(ctx, s.read, "list keys", func(ctx context.Context, q *pgdb.Queries) ([]pgdb.ListKeysRow, error) {
		return q.ListKeys(ctx, account.UUID)
	})
	if err != nil {
		return nil, err
	}
	keys := make([]store.APIKey, len(rows))
	for i, key := range rows {
		keys[i] = apiKeyOf(key)
	}
	return keys, nil
}

// RevokeKey implements store.Keys.
func (s *Store) RevokeKey(
	ctx context.Context, account prism.AccountID, id prism.KeyID, at time.Time,
) (store.APIKey, error) {
	key, err := query(ctx, s.do, "revoke key", func(ctx context.Context, q *pgdb.Queries) (pgdb.RevokeKeyRow, error) {
		return q.RevokeKey(ctx, pgdb.RevokeKeyParams{AccountID: account.UUID, ID: id.UUID, At: at})
	})
	if err != nil {
		return store.APIKey{}, err
	}
	return apiKeyOf(pgdb.ListKeysRow(key)), nil
}

// RevokeAnyKey implements store.Keys.
func (s *Store) RevokeAnyKey(ctx context.Context, id prism.KeyID, at time.Time) (store.APIKey, error) {
	key, err := query(ctx, s.do, "revoke any key", func(ctx context.Context, q *pgdb.Queries) (pgdb.RevokeAnyKeyRow, error) {
		return q.RevokeAnyKey(ctx, pgdb.RevokeAnyKeyParams{ID: id.UUID, At: at})
	})
	if err != nil {
		return store.APIKey{}, err
	}
	return apiKeyOf(pgdb.ListKeysRow(key)), nil
}

// TouchKeys implements store.Keys.
func (s *Store) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	var touch pgdb.TouchKeysParams
	for id := range used {
		touch.Ids = append(touch.Ids, id.UUID)
	}
	// One order for all replicas makes deadlocks rare; do repeats a statement that was rolled back by one.
	slices.SortFunc(touch.Ids, func(a, b prism.UUID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range touch.Ids {
		touch.Times = append(touch.Times, used[prism.KeyID{UUID: id}])
	}
	return s.do(ctx, "touch keys", func(ctx context.Context, conn *pgxpool.Conn) error { return pgdb.New(conn).TouchKeys(ctx, touch) })
}

func apiKeyOf(k pgdb.ListKeysRow) store.APIKey {
	return store.APIKey{
		ID: prism.KeyID{UUID: k.ID}, Name: k.Name, Prefix: k.Prefix, CreatedAt: k.CreatedAt.UTC(),
		LastUsedAt: inUTC(k.LastUsedAt), RevokedAt: inUTC(k.RevokedAt),
	}
}
