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
	byKey *lru.Cache[contract.KeyDigest, remembered]
}

type remembered struct {
	account prism.AccountID
	text    string // of account, which each request of the key needs
}

// NewAccounts remembers none yet.
func NewAccounts() *Accounts {
	byKey, _ := lru.New[contract.KeyDigest, remembered](maxAccounts) // fails for a size below 1 alone
	return &Accounts{byKey}
}

// Get is the account of an API key seen before.
func (a *Accounts) Get(key contract.KeyDigest) (prism.AccountID, bool) {
	r, known := a.byKey.Get(key)
	return r.account, known
}

// Text is the account of an API key seen before as text, or "".
func (a *Accounts) Text(key contract.KeyDigest) string {
	r, _ := a.byKey.Get(key)
	return r.text
}

// Remember keeps the account of an API key, and has the call count for the account. A key that is unknown has none.
func (a *Accounts) Remember(ctx context.Context, key contract.KeyDigest, account prism.AccountID) {
	if account.IsZero() {
		return
	}
	r, known := a.byKey.Get(key)
	if !known {
		r = remembered{account, account.String()}
		a.byKey.Add(key, r)
	}
	fair.Identify(ctx, r.text)
}

// Forget forgets an API key that is refused, so that the requests of those who have the key no longer count for the account.
func (a *Accounts) Forget(key contract.KeyDigest) { a.byKey.Remove(key) }
