package keys

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database.
type SQL struct{ sqldb.Database }

const (
	createAccount = `INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)`
	// AccountByName finds the id of an account.
	AccountByName = `SELECT id FROM accounts WHERE name = $1`

	// LockAccount locks the row of an account until the transaction ends.
	LockAccount = lockAccount + ` RETURNING name`
	lockAccount = `UPDATE accounts SET name = name WHERE id = $1`
	// countActiveKeys stops counting at $2.
	countActiveKeys = `-- name: CountActiveKeys :one
SELECT count(*) FROM (
	SELECT 1 FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL AND session_id IS NULL LIMIT $2
) AS active`

	keyColumns = `id, name, prefix, role, created_at, expires_at, last_used_at, revoked_at`
	createKey  = `INSERT INTO api_keys (id, account_id, digest, prefix, name, role, created_at, expires_at, last_used_at, revoked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	listKeys = `-- name: ListKeys :many
SELECT ` + keyColumns + ` FROM api_keys WHERE account_id = $1 AND id < $2 AND session_id IS NULL ORDER BY id DESC LIMIT $3`

	// lockKey locks the row of a key until the transaction ends, and reads the row.
	lockKey    = lockAnyKey + ` AND account_id = $2` + lockedKey
	lockAnyKey = `UPDATE api_keys SET revoked_at = revoked_at WHERE id = $1 AND session_id IS NULL`
	lockedKey  = ` RETURNING account_id, ` + keyColumns
	// SetKeyRevoked revokes a key.
	SetKeyRevoked = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1`
)

// CreateAccount implements Store.
func (s SQL) CreateAccount(ctx context.Context, id prism.AccountID, name string, by store.By) error {
	return s.Transaction(ctx, sqldb.OperationCreateAccount, func(run sqldb.Run) error {
		return insertAccount(ctx, run, id, name, by)
	})
}

var listAccounts = `-- name: ListAccounts :many
SELECT a.id, a.name, a.created_at, coalesce(s.bytes, 0), ` + mayStore + `
FROM accounts a LEFT JOIN account_limits l ON l.account_id = a.id
LEFT JOIN (
	SELECT account_id, CAST(sum(bytes) AS bigint) AS bytes FROM stored_bytes_now GROUP BY account_id
) s ON s.account_id = a.id
WHERE a.id` + sqldb.StaysHere + `
ORDER BY a.name`

// ListAccounts implements Store.
func (s SQL) ListAccounts(ctx context.Context) (accounts []Account, err error) {
	err = s.Run(ctx, sqldb.Query("list_accounts", listAccounts), sqldb.ReadRows(&accounts, func(r *sqldb.Row) Account {
		return Account{ID: prism.AccountID{UUID: r.UUID()}, Name: r.Text(), CreatedAt: r.Time(), Storage: ReadStorage(r)}
	}))
	return accounts, err
}

// AccountByName implements Store.
func (s SQL) AccountByName(ctx context.Context, name string) (id prism.AccountID, err error) {
	err = s.Run(ctx, sqldb.Query("account_by_name", AccountByName, name), sqldb.ReadRow(&id.UUID, (*sqldb.Row).UUID))
	return id, err
}

// Room locks the account until the transaction ends, so that concurrent calls count one after the other, and returns tooMany if there
// are as many as limit. count stops counting at $2.
func Room(ctx context.Context, run sqldb.Run, account prism.AccountID, count string, limit int64, tooMany error) error {
	if err := run(ctx, sqldb.Statement{Text: LockAccount, Args: []any{account.UUID}}, sqldb.SomeRow); err != nil {
		return err
	}
	var found int64
	if err := run(ctx, sqldb.Statement{Text: count, Args: []any{account.UUID, limit}}, sqldb.ReadRow(&found, (*sqldb.Row).Int)); err != nil {
		return err
	}
	if found == limit {
		return tooMany
	}
	return nil
}

// CreateKey implements Store.
func (s SQL) CreateKey(
	ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, most int64, by store.By,
) error {
	return s.Transaction(ctx, "create_key", func(run sqldb.Run) error {
		if err := Room(ctx, run, account, countActiveKeys, most, store.ErrTooManyKeys); err != nil {
			return err
		}
		return insertKey(ctx, run, account, k, digest, by)
	})
}

// insertKey stores and records a key.
func insertKey(ctx context.Context, run sqldb.Run, account prism.AccountID, k APIKey, digest contract.KeyDigest, by store.By) error {
	err := run(ctx, sqldb.Statement{Text: createKey, Args: []any{
		k.ID.UUID, account.UUID, digest[:], k.Prefix, k.Name, string(k.Role), k.CreatedAt, k.ExpiresAt, k.LastUsedAt,
		k.RevokedAt,
	}}, sqldb.NoRow)
	if err != nil {
		return err
	}
	return recordKey(ctx, run, account, by, store.KeyCreate, k, newKeyDetail(k))
}

func newKeyDetail(k APIKey) KeyDetail {
	detail := KeyDetail{Role: k.Role}
	if k.ExpiresAt != nil {
		detail.ExpiresAt = prism.FormatTime(*k.ExpiresAt)
	}
	return detail
}

// ListKeys implements Store.
func (s SQL) ListKeys(ctx context.Context, account prism.AccountID, page store.Page) (keys []APIKey, more bool, err error) {
	args := []any{account.UUID, page.Before(), int64(page.Limit) + 1}
	return sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_keys", listKeys, args...), page.Limit, readAPIKey)
}

// RevokeKey implements Store.
func (s SQL) RevokeKey(
	ctx context.Context, account prism.AccountID, id prism.KeyID, by store.By,
) (APIKey, error) {
	return s.revoke(ctx, sqldb.Statement{Operation: "revoke_key", Text: lockKey, Args: []any{id.UUID, account.UUID}}, by)
}

// RevokeAnyKey implements Store.
func (s SQL) RevokeAnyKey(ctx context.Context, id prism.KeyID, by store.By) (APIKey, error) {
	return s.revoke(ctx, sqldb.Statement{Operation: "revoke_any_key", Text: lockAnyKey + lockedKey, Args: []any{id.UUID}}, by)
}

func (s SQL) revoke(ctx context.Context, lock sqldb.Statement, by store.By) (key APIKey, err error) {
	err = s.Transaction(ctx, lock.Operation, func(run sqldb.Run) (err error) {
		key, err = revoke(ctx, run, lock, by)
		return err
	})
	return key, err
}

// revoke revokes the key that lock locks and reads, unless the key is revoked.
func revoke(ctx context.Context, run sqldb.Run, lock sqldb.Statement, by store.By) (key APIKey, err error) {
	var account prism.AccountID
	err = run(ctx, lock, sqldb.ReadRow(&key, func(r *sqldb.Row) APIKey {
		account.UUID = r.UUID()
		return readAPIKey(r)
	}))
	if err != nil || key.RevokedAt != nil {
		return key, err
	}
	key.RevokedAt = &by.At
	if err := run(ctx, sqldb.Statement{Text: SetKeyRevoked, Args: []any{key.ID.UUID, by.At}}, sqldb.NoRow); err != nil {
		return key, err
	}
	return key, recordKey(ctx, run, account, by, store.KeyRevoke, key, sqldb.NoDetail{})
}

func readAPIKey(r *sqldb.Row) APIKey {
	return APIKey{
		ID: prism.KeyID{UUID: r.UUID()}, Name: r.Text(), Prefix: r.Text(), Role: prism.Role(r.Text()), CreatedAt: r.Time(),
		ExpiresAt: r.OptionalTime(), LastUsedAt: r.OptionalTime(), RevokedAt: r.OptionalTime(),
	}
}

// KeyDetail is the detail of an entry about a key.
type (
	KeyDetail struct {
		Role      prism.Role `json:"role"`
		ExpiresAt string     `json:"expires_at,omitzero"`
	}
)

// recordKey records what was done to a key.
func recordKey(
	ctx context.Context, run sqldb.Run, account prism.AccountID, by store.By, action store.Action, k APIKey, detail any,
) error {
	return sqldb.Record(ctx, run, account, by, action, store.Object{Kind: store.KeyObject, ID: k.ID.UUID, Name: k.Name}, detail)
}

// The look-ups. Each is one statement, and so one snapshot. None reads a row if the API key is unknown or revoked.
const (
	authenticate = `SELECT ` + sqldb.CallerColumns + `, k.member_id IS NOT NULL FROM api_keys k` + sqldb.WhereKey
)

// Authenticate implements Store.
func (s SQL) Authenticate(ctx context.Context, key contract.KeyDigest) (store.Caller, error) {
	var caller store.Caller
	err := s.LookUp(ctx, sqldb.Query("authenticate", authenticate, key[:]), func(r *sqldb.Row) {
		caller = r.Caller()
		caller.Member = r.Bool()
	})
	if err != nil {
		return store.Caller{}, err
	}
	return caller, nil
}
