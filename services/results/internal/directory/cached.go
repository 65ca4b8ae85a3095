package directory

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// DefaultKeys and DefaultAccounts bound what is cached: about 25 MiB.
const (
	DefaultKeys     = 100_000
	DefaultAccounts = 100_000
)

// Cached is the directory, of which it keeps what was found last. The account of a key never changes. What is unknown is not kept, so a new
// key is known at once.
type Cached struct {
	SQL
	keys     *lru.Cache[contract.KeyDigest, prism.AccountID]
	accounts *lru.Cache[prism.AccountID, string]
}

// NewCached keeps at most so many keys and accounts, which are both above 0.
func NewCached(s SQL, keys, accounts int) (*Cached, error) {
	k, err := lru.New[contract.KeyDigest, prism.AccountID](keys)
	if err != nil {
		return nil, err
	}
	a, err := lru.New[prism.AccountID, string](accounts)
	if err != nil {
		return nil, err
	}
	return &Cached{SQL: s, keys: k, accounts: a}, nil
}

// OfKey finds the account of an API key, and its database. Of a key and an account that are kept, it takes no statement.
func (c *Cached) OfKey(ctx context.Context, key contract.KeyDigest) (Place, error) {
	if account, kept := c.keys.Get(key); kept {
		return c.OfAccount(ctx, account)
	}
	p, err := c.SQL.OfKey(ctx, key)
	if err == nil && !p.Account.IsZero() {
		c.keys.Add(key, p.Account)
		c.accounts.Add(p.Account, p.Database)
	}
	return p, err
}

// OfAccount finds the database of an account.
func (c *Cached) OfAccount(ctx context.Context, account prism.AccountID) (Place, error) {
	if database, kept := c.accounts.Get(account); kept {
		return Place{account, database}, nil
	}
	p, err := c.SQL.OfAccount(ctx, account)
	if err == nil && !p.Account.IsZero() {
		c.accounts.Add(account, p.Database)
	}
	return p, err
}
