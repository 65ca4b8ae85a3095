package execute

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
)

// maxAccounts bounds the remembered accounts: some 2 MB.
const maxAccounts = 10_000

// Accounts remembers the accounts of API keys. The account of a key never changes. Whether the key is still valid, each
// look-up tells (spec: key-revocation).
type Accounts struct {
	byKey *lru.Cache[contract.KeyDigest, prism.AccountID]
}

// NewAccounts remembers none yet.
func NewAccounts() *Accounts {
	byKey, _ := lru.New[contract.KeyDigest, prism.AccountID](maxAccounts) // fails for a size below 1 alone
	return &Accounts{byKey}
}

// Get is the account of an API key seen before.
func (a *Accounts) Get(key contract.KeyDigest) (prism.AccountID, bool) { return a.byKey.Get(key) }

// Remember keeps the account of an API key, and has the call count for that account. It ignores the zero account.
func (a *Accounts) Remember(ctx context.Context, key contract.KeyDigest, account prism.AccountID) {
	if !account.IsZero() {
		a.byKey.Add(key, account)
		fair.Identify(ctx, account.String())
	}
}

// Forget removes an API key that was refused, so that later requests with the key do not count for its former account.
func (a *Accounts) Forget(key contract.KeyDigest) { a.byKey.Remove(key) }
