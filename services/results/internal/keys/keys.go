// Package keys keeps accounts, their API keys and their limits.
package keys

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Secret is a new API key: its text is shown once, its digest is stored.
type Secret struct {
	Text   string
	Prefix string
	Digest contract.KeyDigest
}

// APIKey is a stored API key: everything but the key itself.
type APIKey struct {
	ID         prism.KeyID
	Name       string
	Prefix     string // the first characters of the key, so that people can tell keys apart
	Role       prism.Role
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// MaxActiveKeys bounds the keys of an account that are not revoked (spec: active-keys-limit).
const MaxActiveKeys = 1000

// Account is a stored account.
type Account struct {
	ID        prism.AccountID
	Name      string
	CreatedAt time.Time
	store.Storage
}

// Store keeps accounts and their API keys.
type Store interface {
	// CreateAccount stores an account that is created at by.At: ErrNameTaken.
	CreateAccount(ctx context.Context, id prism.AccountID, name string, by store.By) error
	// ListAccounts returns all accounts by name.
	ListAccounts(ctx context.Context) ([]Account, error)
	// Account reads an account with its limits and what it has (spec: account-read).
	Account(ctx context.Context, id prism.AccountID) (api.Account, error)
	// AccountByName finds an account: ErrNotFound.
	AccountByName(ctx context.Context, name string) (prism.AccountID, error)
	// Authenticate finds the account of an API key.
	Authenticate(ctx context.Context, key contract.KeyDigest) (store.Caller, error)
	// CreateKey stores an API key by its digest: ErrTooManyKeys if the account has as many active keys as most,
	// ErrNotFound if there is no such account.
	CreateKey(ctx context.Context, account prism.AccountID, k APIKey, digest contract.KeyDigest, most int64, by store.By) error
	// ListKeys is a page of the account's API keys except those of sessions, newest first.
	ListKeys(ctx context.Context, account prism.AccountID, page store.Page) (keys []APIKey, more bool, err error)
	// RevokeKey revokes an API key at by.At and returns it; revoking again keeps the first time and changes nothing:
	// ErrNotFound.
	RevokeKey(ctx context.Context, account prism.AccountID, id prism.KeyID, by store.By) (APIKey, error)
	// RevokeAnyKey is RevokeKey for operators, who name a key by its id alone.
	RevokeAnyKey(ctx context.Context, id prism.KeyID, by store.By) (APIKey, error)
	// TouchKeys records when API keys were last used. A time before the stored one changes nothing.
	TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error
}

// LimitStore keeps the limits of accounts (spec: account-limits).
type LimitStore interface {
	// SetLimits changes the limits that the change has, and returns the account's limits: ErrNotFound if there is no such
	// account.
	SetLimits(ctx context.Context, account prism.AccountID, c LimitsChange, by store.By) (prism.Limits, error)
	// ListLimits returns the limits of all accounts that have one or are full, as of the last Fold.
	ListLimits(ctx context.Context) ([]contract.AccountLimits, error)
	// Storage is how much an account stores at the moment, and how much it may.
	Storage(ctx context.Context, account prism.AccountID) (store.Storage, error)
}

// LimitsChange is new limits of an account: nil keeps a limit, 0 removes it.
type LimitsChange struct {
	RequestsPerSecond, Concurrency, ResultsPerDay *int32
	StoredBytes                                   *int64
}

// Apply returns the limits after the change.
func (c LimitsChange) Apply(l prism.Limits) prism.Limits {
	for _, change := range []struct{ to, from *int32 }{
		{&l.RequestsPerSecond, c.RequestsPerSecond}, {&l.Concurrency, c.Concurrency}, {&l.ResultsPerDay, c.ResultsPerDay},
	} {
		if change.from != nil {
			*change.to = *change.from
		}
	}
	if c.StoredBytes != nil {
		l.StoredBytes = *c.StoredBytes
	}
	return l
}

// ValidName checks the name of an account or a key, which is stored and shown: it returns what such a name has. SQLite would store text
// that is not UTF-8, but it could not be listed.
func ValidName(name string) error {
	if name == "" || len(name) > 200 {
		return errors.New("has 1 to 200 bytes")
	}
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return errors.New("has no control characters and is UTF-8")
		}
	}
	return nil
}
