package directory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// entryBytes is what a key and its account take at most that are kept, in maps that have just grown; they take 100 to 190.
const entryBytes = 256

// KeptIn is how many keys and as many accounts a process keeps that has so much memory: an eighth of it.
func KeptIn(memory int64) int { return int(min(4_000_000, max(100_000, memory/8/entryBytes))) }

// lookUpWait bounds a look-up, which is shorter than its callers wait: who asks for what is not cached waits no longer for a home that hangs.
const lookUpWait = 1500 * time.Millisecond

// Cached is the directory, of which it keeps what was found last. The account of a key never changes, and a place gives way to a newer one. What
// is unknown is not kept, so a new key is known at once.
type Cached struct {
	SQL
	limit    int
	keys     *recent[contract.KeyDigest, prism.AccountID]
	accounts *recent[prism.AccountID, kept]
	asked    singleflight.Group

	mu      sync.Mutex
	numbers map[string]number
	names   []string // of databases, by their numbers
}

// number stands for the name of a database in what is kept.
type number uint16

// kept is a place without its account.
type kept struct {
	epoch    int32
	database number
}

// NewCached keeps at most so many keys, and as many accounts.
func NewCached(s SQL, limit int) *Cached {
	return &Cached{
		SQL: s, limit: limit, numbers: map[string]number{},
		keys: newRecent[contract.KeyDigest, prism.AccountID](limit), accounts: newRecent[prism.AccountID, kept](limit),
	}
}

// fillPage is how many keys Fill reads at once.
const fillPage = 10_000

// Fill keeps what home has, as much as is kept, so that a process that has just begun asks home for little. It returns how
// many keys it has read.
func (c *Cached) Fill(ctx context.Context) (read int, err error) {
	for after := (contract.KeyDigest{}); read < c.limit; {
		page, err := c.keysBehind(ctx, after, min(fillPage, c.limit-read))
		if err != nil || len(page) == 0 {
			return read, err
		}
		for _, k := range page {
			c.keys.Add(k.digest, k.Account)
			c.keep(k.Place)
		}
		read, after = read+len(page), page[len(page)-1].digest
	}
	return read, nil
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
		p = c.keep(p)
	}
	return p, err
}

// OfAccount finds the database of an account, as OfKey.
func (c *Cached) OfAccount(ctx context.Context, account prism.AccountID) (Place, error) {
	if k, is := c.accounts.Get(account); is {
		return c.place(account, k), nil
	}
	p, err := c.ask(ctx, string(account.UUID[:]), func(ctx context.Context) (Place, error) { return c.SQL.OfAccount(ctx, account) })
	if err == nil && !p.Account.IsZero() {
		p = c.keep(p)
	}
	return p, err
}

// Moved keeps the place to which an account has moved.
func (c *Cached) Moved(p Place) { c.keep(p) }

// keep caches the place of an account, and returns it, or the newer one that is cached.
func (c *Cached) keep(p Place) Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer, is := c.accounts.Get(p.Account); is && int64(newer.epoch) > p.Epoch {
		return Place{p.Account, c.names[newer.database], int64(newer.epoch)}
	}
	n, known := c.numbers[p.Database]
	if !known {
		n = number(len(c.names)) //nolint:gosec // there are not so many databases
		c.numbers[p.Database], c.names = n, append(c.names, p.Database)
	}
	c.accounts.Add(p.Account, kept{int32(p.Epoch), n}) //nolint:gosec // no account moves so often
	return p
}

func (c *Cached) place(account prism.AccountID, k kept) Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Place{account, c.names[k.database], int64(k.epoch)}
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
