package placed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

var (
	_ keys.Store         = (*Accounts)(nil)
	_ keys.LimitStore    = (*Accounts)(nil)
	_ keys.DeclaredStore = (*Accounts)(nil)
)

// errNoneAccepts: no database takes new accounts.
var errNoneAccepts = errors.New("placed: no database accepts new accounts")

// CreateAccount implements keys.Store. It takes the name in home, makes the account in the accepting database with the least use, and then
// tells home that it is there. What a crash leaves half-way, the next CreateAccount of that name completes, with the id that was chosen then.
func (a *Accounts) CreateAccount(ctx context.Context, id prism.AccountID, name string, by store.By) error {
	_, err := a.create(ctx, id, name, func(at sqlstore.Statements, account prism.AccountID) error {
		return at.CreateAccount(ctx, account, name, by)
	})
	return err
}

// create takes the name, calls do with the database and the id, and tells home.
func (a *Accounts) create(
	ctx context.Context, id prism.AccountID, name string, do func(sqlstore.Statements, prism.AccountID) error,
) (prism.AccountID, error) {
	accepting, err := a.accepting(ctx)
	if err != nil {
		return id, err
	}
	taken, err := a.Directory.TakeName(ctx, name, directory.Place{Account: id, Database: accepting})
	if err != nil {
		return id, err
	}
	at, err := a.named(taken.Database)
	if err != nil {
		return id, err
	}
	if err := do(at, taken.Account); err != nil {
		if _, missing := at.Account(ctx, taken.Account); missing != nil { // else it was made by an attempt before
			return id, err
		}
	}
	return taken.Account, a.Directory.SetMade(ctx, taken.Account)
}

// accepting is the name of the accepting database that has the least accounts for its weight.
func (a *Accounts) accepting(ctx context.Context) (string, error) {
	counts, err := a.Directory.CountAccounts(ctx)
	if err != nil {
		return "", err
	}
	least, leastWeight := "", 0
	for _, db := range a.Databases {
		accepting, weight := db.terms()
		if accepting && (least == "" || counts[db.Name]*int64(leastWeight) < counts[least]*int64(weight)) {
			least, leastWeight = db.Name, weight
		}
	}
	if least == "" {
		return "", errNoneAccepts
	}
	return least, nil
}

// ListAccounts implements keys.Store.
func (a *Accounts) ListAccounts(ctx context.Context) ([]keys.Account, error) {
	found, err := ofEach(a, func(s sqlstore.Statements) ([]keys.Account, error) { return s.ListAccounts(ctx) })
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b keys.Account) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// Account implements keys.Store.
func (a *Accounts) Account(ctx context.Context, id prism.AccountID) (api.Account, error) {
	at, err := a.StoreOf(ctx, id)
	if err != nil {
		return api.Account{}, err
	}
	return at.Account(ctx, id)
}

// AccountByName implements keys.Store.
func (a *Accounts) AccountByName(ctx context.Context, name string) (prism.AccountID, error) {
	return a.Directory.AccountByName(ctx, name)
}

// Authenticate implements keys.Store.
func (a *Accounts) Authenticate(ctx context.Context, key contract.KeyDigest) (store.Caller, error) {
	at, err := a.StoreOfKey(ctx, key)
	if err != nil {
		return store.Caller{}, err
	}
	return at.Authenticate(ctx, key)
}

// addKey tells home whose a key is, and returns the database of the account, which is to have it: store.ErrNotFound if there is no such
// account.
func (a *Accounts) addKey(ctx context.Context, account prism.AccountID, digest contract.KeyDigest) (sqlstore.Statements, error) {
	at, err := a.known(ctx, account)
	if err != nil {
		return at, err
	}
	return at, a.Directory.AddKey(ctx, digest, account)
}

// CreateKey implements keys.Store.
func (a *Accounts) CreateKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, most int64, by store.By,
) error {
	at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.CreateKey(ctx, account, k, digest, most, by)
}

// ListKeys implements keys.Store.
func (a *Accounts) ListKeys(ctx context.Context, account prism.AccountID, page store.Page) ([]keys.APIKey, bool, error) {
	at, err := a.StoreOf(ctx, account)
	if err != nil {
		return nil, false, err
	}
	return at.ListKeys(ctx, account, page)
}

// RevokeKey implements keys.Store.
func (a *Accounts) RevokeKey(ctx context.Context, account prism.AccountID, id prism.KeyID, by store.By) (keys.APIKey, error) {
	at, err := a.StoreOf(ctx, account)
	if err != nil {
		return keys.APIKey{}, err
	}
	return at.RevokeKey(ctx, account, id, by)
}

// RevokeAnyKey implements keys.Store. The key is in one database, so an error of another counts only if none has it.
func (a *Accounts) RevokeAnyKey(ctx context.Context, id prism.KeyID, by store.By) (keys.APIKey, error) {
	failed := store.ErrNotFound
	for _, db := range a.Databases {
		k, err := db.Store.RevokeAnyKey(ctx, id, by)
		if err == nil {
			return k, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			failed = err
		}
	}
	return keys.APIKey{}, failed
}

// SetLimits implements keys.LimitStore.
func (a *Accounts) SetLimits(
	ctx context.Context, account prism.AccountID, c keys.LimitsChange, by store.By,
) (prism.Limits, error) {
	at, err := a.StoreOf(ctx, account)
	if err != nil {
		return prism.Limits{}, err
	}
	return at.SetLimits(ctx, account, c, by)
}

// ListLimits implements keys.LimitStore.
func (a *Accounts) ListLimits(ctx context.Context) ([]contract.AccountLimits, error) {
	found, err := ofEach(a, func(s sqlstore.Statements) ([]contract.AccountLimits, error) { return s.ListLimits(ctx) })
	return slices.Concat(found...), err
}

// Storage implements keys.LimitStore.
func (a *Accounts) Storage(ctx context.Context, account prism.AccountID) (store.Storage, error) {
	at, err := a.StoreOf(ctx, account)
	if err != nil {
		return store.Storage{}, err
	}
	return at.Storage(ctx, account)
}

// DeclareAccount implements keys.DeclaredStore. An account that is there is declared in its database, which has the object.
func (a *Accounts) DeclareAccount(
	ctx context.Context, id prism.AccountID, name string, object prism.UUID, by store.By,
) (prism.AccountID, error) {
	declared, err := ofEach(a, func(s sqlstore.Statements) (string, error) { return s.NameOfObject(ctx, object) })
	if err != nil {
		return id, err
	}
	if slices.ContainsFunc(declared, func(other string) bool { return other != "" && other != name }) {
		return id, contract.ErrNameChanged
	}
	account, err := a.Directory.AccountByName(ctx, name)
	switch {
	case err == nil:
		at, err := a.known(ctx, account)
		if err != nil {
			return id, err
		}
		return at.DeclareAccount(ctx, account, name, object, by)
	case !errors.Is(err, store.ErrNotFound):
		return id, err
	}
	return a.create(ctx, id, name, func(at sqlstore.Statements, account prism.AccountID) error {
		_, err := at.DeclareAccount(ctx, account, name, object, by)
		return err
	})
}

// DeclareKey implements keys.DeclaredStore.
func (a *Accounts) DeclareKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, limit int64, by store.By,
) error {
	at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.DeclareKey(ctx, account, k, digest, limit, by)
}

// WithdrawKey implements keys.DeclaredStore.
func (a *Accounts) WithdrawKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, by store.By,
) error {
	at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.WithdrawKey(ctx, account, k, digest, by)
}

// CreateOperatorKey implements keys.DeclaredStore.
func (a *Accounts) CreateOperatorKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, by store.By,
) error {
	at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.CreateOperatorKey(ctx, account, k, digest, by)
}

// TouchKeys implements keys.Store. Each database knows its own keys.
func (a *Accounts) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	_, err := ofEach(a, func(s sqlstore.Statements) (struct{}, error) { return struct{}{}, s.TouchKeys(ctx, used) })
	return err
}
