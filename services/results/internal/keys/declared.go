package keys

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// DeclaredStore keeps which accounts objects of a cluster have declared, and their keys (spec: operator-token). ErrNotFound: no object has
// declared the account.
type DeclaredStore interface {
	// DeclareAccount stores an account and its object, and returns its id. If an object has declared an account of the name
	// before, it returns the id of that, whose object is now this one: ErrNameTaken if the account of the name is not declared, or
	// was made at the same time; contract.ErrNameChanged.
	DeclareAccount(ctx context.Context, id prism.AccountID, name string, object prism.UUID, by store.By) (prism.AccountID, error)
	// DeclareKey is CreateKey for a declared account: contract.ErrKeyMade if there is a key with the id.
	DeclareKey(ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, limit int64, by store.By) error
	// WithdrawKey is RevokeKey for a declared account. If there is no key with the id of k, it stores k as a revoked key.
	WithdrawKey(ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, by store.By) error
	// CreateOperatorKey stores a key that is not listed, does not count, and is deleted after its end, as the keys of sessions.
	CreateOperatorKey(ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, by store.By) error
}

const (
	declaredBy = `SELECT a.id, a.name FROM declared_accounts d JOIN accounts a ON a.id = d.account_id WHERE d.object = $1`
	// declareAgain gives the declared account of a name another object.
	declareAgain = `UPDATE declared_accounts SET object = $2
WHERE account_id = (SELECT id FROM accounts WHERE name = $1) RETURNING account_id`
	declare = `INSERT INTO declared_accounts (account_id, object) VALUES ($1, $2)`
	// lockDeclared is LockAccount for a declared account.
	lockDeclared      = lockAccount + ` AND EXISTS (SELECT 1 FROM declared_accounts WHERE account_id = $1) RETURNING name`
	keyWithID         = `SELECT id FROM api_keys WHERE id = $1`
	createOperatorKey = `INSERT INTO api_keys (id, account_id, digest, prefix, name, role, created_at, expires_at, session_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $1)`
)

// DeclareAccount implements DeclaredStore.
func (s SQL) DeclareAccount(
	ctx context.Context, id prism.AccountID, name string, object prism.UUID, by store.By,
) (account prism.AccountID, err error) {
	err = s.Transaction(ctx, sqldb.OperationDeclareAccount, func(run sqldb.Run) error {
		account = id
		var declared string
		err := run(ctx, sqldb.Statement{Text: declaredBy, Args: []any{object}}, sqldb.ReadRow(&declared, func(r *sqldb.Row) string {
			account.UUID = r.UUID()
			return r.Text()
		}))
		switch {
		case err == nil && declared != name:
			return contract.ErrNameChanged
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		again := sqldb.Statement{Text: declareAgain, Args: []any{name, object}}
		if err := run(ctx, again, sqldb.ReadRow(&account.UUID, (*sqldb.Row).UUID)); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		account = id
		if err := insertAccount(ctx, run, id, name, by); err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: declare, Args: []any{id.UUID, object}}, sqldb.NoRow)
	})
	return account, err
}

// changeDeclared calls fn in a transaction that holds the lock of a declared account.
func (s SQL) changeDeclared(ctx context.Context, operation string, account prism.AccountID, fn func(run sqldb.Run) error) error {
	return s.Transaction(ctx, operation, func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: lockDeclared, Args: []any{account.UUID}}, sqldb.SomeRow); err != nil {
			return err
		}
		return fn(run)
	})
}

// DeclareKey implements DeclaredStore.
func (s SQL) DeclareKey(
	ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, limit int64, by store.By,
) error {
	return s.changeDeclared(ctx, "declare_key", account, func(run sqldb.Run) error {
		err := run(ctx, sqldb.Statement{Text: keyWithID, Args: []any{k.ID.UUID}}, sqldb.SomeRow)
		switch {
		case err == nil:
			return contract.ErrKeyMade
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		if err := Room(ctx, run, account, countActiveKeys, limit, store.ErrTooManyKeys); err != nil {
			return err
		}
		return insertKey(ctx, run, account, k, digest, by)
	})
}

// WithdrawKey implements DeclaredStore. The lock of the account makes DeclareKey wait, so that a key is made before it or not at all.
func (s SQL) WithdrawKey(
	ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, by store.By,
) error {
	return s.changeDeclared(ctx, "withdraw_key", account, func(run sqldb.Run) error {
		lock := sqldb.Statement{Text: lockKey, Args: []any{k.ID.UUID, account.UUID}}
		if _, err := revoke(ctx, run, lock, by); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		k.RevokedAt = &by.At
		return insertKey(ctx, run, account, k, digest, by)
	})
}

// CreateOperatorKey implements DeclaredStore. Its session is the key itself.
func (s SQL) CreateOperatorKey(
	ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, by store.By,
) error {
	return s.changeDeclared(ctx, "create_operator_key", account, func(run sqldb.Run) error {
		err := run(ctx, sqldb.Statement{Text: createOperatorKey, Args: []any{
			k.ID.UUID, account.UUID, digest[:], k.Prefix, k.Name, string(k.Role), k.CreatedAt, k.ExpiresAt,
		}}, sqldb.NoRow)
		if err != nil {
			return err
		}
		return recordKey(ctx, run, account, by, store.KeyCreate, k, newKeyDetail(k))
	})
}

// insertAccount stores and records an account.
func insertAccount(ctx context.Context, run sqldb.Run, id prism.AccountID, name string, by store.By) error {
	if err := run(ctx, sqldb.Statement{Text: createAccount, Args: []any{id.UUID, name, by.At}}, sqldb.NoRow); err != nil {
		return err
	}
	object := store.Object{Kind: store.AccountObject, ID: id.UUID, Name: name}
	return sqldb.Record(ctx, run, id, by, store.AccountCreate, object, sqldb.NoDetail{})
}
