package placed

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// errNoneAccepts: no database takes new accounts.
var errNoneAccepts = errors.New("placed: no database accepts new accounts")

// CreateAccount implements keys.Store. It takes the name in home, makes the account in the accepting database with the least use, and then
// tells home that it is there. What a crash leaves half-way, the next CreateAccount of that name completes, with the id and the database that
// were chosen then: for its caller the name is taken.
func (a *Accounts) CreateAccount(ctx context.Context, id prism.AccountID, name string, by store.By) error {
	accepting, err := a.accepting(ctx)
	if err != nil {
		return err
	}
	place, err := a.Directory.TakeName(ctx, name, directory.Place{Account: id, Database: accepting})
	if err != nil {
		return err
	}
	err = a.create(ctx, place, func(at sqlstore.Statements) error {
		err := at.CreateAccount(ctx, place.Account, name, by)
		if err == nil {
			return nil
		}
		if _, missing := at.Account(ctx, place.Account); missing == nil { // an attempt before this one has made it, or one at the same time
			return nil
		}
		return err
	})
	if err == nil && place.Account != id {
		return store.ErrNameTaken
	}
	return err
}

// create calls do with the database of a new account, and tells home that the account is there.
func (a *Accounts) create(ctx context.Context, place directory.Place, do func(sqlstore.Statements) error) error {
	at, err := a.named(place.Database)
	if err != nil {
		return err
	}
	if err := do(at); err != nil {
		return err
	}
	return a.Directory.SetMade(ctx, place.Account)
}

// accepting is the name of the accepting database that has the least accounts for its weight.
func (a *Accounts) accepting(ctx context.Context) (string, error) {
	counts, err := a.Directory.CountAccounts(ctx)
	if err != nil {
		return "", err
	}
	least, leastWeight := "", 0
	for _, db := range a.Databases {
		accepting, weight := db.Terms()
		if accepting && (least == "" || counts[db.Name]*int64(leastWeight) < counts[least]*int64(weight)) {
			least, leastWeight = db.Name, weight
		}
	}
	if least == "" {
		return "", errNoneAccepts
	}
	return least, nil
}

// Account implements keys.Store.
func (a *Accounts) Account(ctx context.Context, id prism.AccountID) (api.Account, error) {
	ctx, at, err := a.StoreOf(ctx, id)
	if err != nil {
		return api.Account{}, err
	}
	return at.Account(ctx, id)
}

// AccountByName implements keys.Store.
func (a *Accounts) AccountByName(ctx context.Context, name string) (prism.AccountID, error) {
	return a.Directory.AccountByName(ctx, name)
}

// addKey tells home whose a key is, and returns StoreOf the account, which is to have it: store.ErrNotFound if there is no such account.
func (a *Accounts) addKey(
	ctx context.Context, account prism.AccountID, digest contract.KeyDigest,
) (context.Context, sqlstore.Statements, error) {
	ctx, at, err := a.known(ctx, account)
	if err != nil {
		return ctx, at, err
	}
	return ctx, at, a.Directory.AddKey(ctx, digest, account)
}

// CreateKey implements keys.Store.
func (a *Accounts) CreateKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, limit int64, by store.By,
) error {
	ctx, at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.CreateKey(ctx, account, k, digest, limit, by)
}

// ListKeys implements keys.Store.
func (a *Accounts) ListKeys(ctx context.Context, account prism.AccountID, page store.Page) ([]keys.APIKey, bool, error) {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return nil, false, err
	}
	return at.ListKeys(ctx, account, page)
}

// RevokeKey implements keys.Store.
func (a *Accounts) RevokeKey(ctx context.Context, account prism.AccountID, id prism.KeyID, by store.By) (keys.APIKey, error) {
	ctx, at, err := a.StoreOf(ctx, account)
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
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return prism.Limits{}, err
	}
	return at.SetLimits(ctx, account, c, by)
}

// Storage implements keys.LimitStore.
func (a *Accounts) Storage(ctx context.Context, account prism.AccountID) (store.Storage, error) {
	ctx, at, err := a.StoreOf(ctx, account)
	if err != nil {
		return store.Storage{}, err
	}
	return at.Storage(ctx, account)
}

// DeclareAccount implements keys.DeclaredStore. It is as CreateAccount, and every repeat completes what one before it left half-way.
func (a *Accounts) DeclareAccount(
	ctx context.Context, id prism.AccountID, name string, object prism.UUID, by store.By,
) (prism.AccountID, error) {
	accepting, err := a.accepting(ctx)
	if err != nil {
		return id, err
	}
	place, err := a.Directory.TakeDeclared(ctx, name, directory.Place{Account: id, Database: accepting}, object)
	if err != nil {
		return id, err
	}
	return place.Account, a.create(ctx, place, func(at sqlstore.Statements) error {
		_, err := at.DeclareAccount(ctx, place.Account, name, object, by)
		if errors.Is(err, store.ErrNameTaken) { // by the same call at the same time
			_, err = at.DeclareAccount(ctx, place.Account, name, object, by)
		}
		return err
	})
}

// DeclareKey implements keys.DeclaredStore.
func (a *Accounts) DeclareKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, limit int64, by store.By,
) error {
	ctx, at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.DeclareKey(ctx, account, k, digest, limit, by)
}

// WithdrawKey implements keys.DeclaredStore.
func (a *Accounts) WithdrawKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, by store.By,
) error {
	ctx, at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.WithdrawKey(ctx, account, k, digest, by)
}

// CreateOperatorKey implements keys.DeclaredStore.
func (a *Accounts) CreateOperatorKey(
	ctx context.Context, account prism.AccountID, k keys.APIKey, digest contract.KeyDigest, by store.By,
) error {
	ctx, at, err := a.addKey(ctx, account, digest)
	if err != nil {
		return err
	}
	return at.CreateOperatorKey(ctx, account, k, digest, by)
}
