package directory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// DefaultKeys and DefaultAccounts bound what is cached: about 40 MiB.
const (
	DefaultKeys     = 100_000
	DefaultAccounts = 100_000
)

// lookUpWait bounds a look-up, which is shorter than its callers wait: who asks for what is not cached waits no longer for a home that hangs.
const lookUpWait = 1500 * time.Millisecond

// Cached is the directory, of which it keeps what was found last. The account of a key never changes. What is unknown is not kept, so a new
// key is known at once.
type Cached struct {
	SQL
	keys     *lru.Cache[contract.KeyDigest, prism.AccountID]
	accounts *lru.Cache[prism.AccountID, string]
	asked    singleflight.Group

	mu    sync.Mutex
	names map[string]string // of databases: one text for all accounts
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
	return &Cached{SQL: s, keys: k, accounts: a, names: map[string]string{}}, nil
}

// OfKey finds the account of an API key, and its database. Of a key and an account that are kept, it takes no statement: else store.ErrUnavailable
// while home is away.
func (c *Cached) OfKey(ctx context.Context, key contract.KeyDigest) (Place, error) {
	if account, kept := c.keys.Get(key); kept {
		return c.OfAccount(ctx, account)
	}
	p, err := c.ask(ctx, string(key[:]), func(ctx context.Context) (Place, error) { return c.SQL.OfKey(ctx, key) })
	if err == nil && !p.Account.IsZero() {
		c.keys.Add(key, p.Account)
		c.keep(p)
	}
	return p, err
}

// OfAccount finds the database of an account, as OfKey.
func (c *Cached) OfAccount(ctx context.Context, account prism.AccountID) (Place, error) {
	if database, kept := c.accounts.Get(account); kept {
		return Place{account, database}, nil
	}
	p, err := c.ask(ctx, string(account.UUID[:]), func(ctx context.Context) (Place, error) { return c.SQL.OfAccount(ctx, account) })
	if err == nil && !p.Account.IsZero() {
		c.keep(p)
	}
	return p, err
}

// keep caches the database of an account.
func (c *Cached) keep(p Place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, known := c.names[p.Database]
	if !known {
		name = p.Database
		c.names[name] = name
	}
	c.accounts.Add(p.Account, name)
}

// ask looks up what is not cached. Callers at the same time share a look-up. One that began before its caller does not know what was added
// since, so a caller takes only what it finds, and has unknown only from a look-up that began later.
func (c *Cached) ask(ctx context.Context, what string, look func(context.Context) (Place, error)) (Place, error) {
	for began := false; ; {
		mine := began // whoever waited for one look-up has seen the next one begin
		answer := c.asked.DoChan(what, func() (any, error) {
			mine = true
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUpWait)
			defer cancel()
			return look(bounded)
		})
		select {
		case <-ctx.Done():
			return Place{}, fmt.Errorf("directory: %w: %w", store.ErrUnavailable, ctx.Err())
		case a := <-answer:
			if a.Err != nil {
				return Place{}, unavailable(a.Err)
			}
			found := a.Val.(Place) //nolint:forcetypeassert // as look returns
			if mine || !found.Account.IsZero() {
				return found, nil
			}
			began = true
		}
	}
}

// unavailable is the error of a look-up that took too long as any other one of a home that is away.
func unavailable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, store.ErrUnavailable) {
		return fmt.Errorf("directory: %w: %w", store.ErrUnavailable, err)
	}
	return err
}
