// Package directory keeps, in the home of several databases, in which of them each account is and whose each API key is (spec: directory).
package directory

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Place is an account and the name of its database. The zero value stands for an account or key that is unknown.
type Place struct {
	Account  prism.AccountID
	Database string
	Epoch    int64 // counts the moves of the account: of two places, the one with the higher epoch is newer
}

// SQL keeps it in home.
type SQL struct{ sqldb.Database }

const (
	ofKeys         = ` FROM directory_keys k JOIN directory_accounts a ON a.account_id = k.account_id `
	placeOfKey     = `SELECT a.account_id, a.database, a.epoch` + ofKeys + `WHERE k.digest = $1`
	placesOfKeys   = `SELECT a.account_id, a.database, a.epoch, k.digest` + ofKeys + `WHERE k.digest > $1 ORDER BY k.digest LIMIT $2`
	placeOfAccount = `SELECT account_id, database, epoch FROM directory_accounts WHERE account_id = $1`
	accountByName  = `SELECT account_id FROM directory_accounts WHERE name = $1 AND made`
	listNames      = `SELECT account_id, database, epoch FROM directory_accounts WHERE made ORDER BY name`
	countNames     = `SELECT database, count(*) FROM directory_accounts GROUP BY database`

	addKey      = `INSERT INTO directory_keys (digest, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	removeKey   = `DELETE FROM directory_keys WHERE digest = $1`
	lockAccount = `UPDATE directory_accounts SET name = name WHERE account_id = $1 RETURNING account_id`
	// takeName takes a name and an object, unless an account has one of them.
	takeName = `INSERT INTO directory_accounts (account_id, name, database, made, object) VALUES ($1, $2, $3, false, $4)
ON CONFLICT DO NOTHING`
	named        = `SELECT account_id, database, epoch, made, object IS NOT NULL FROM directory_accounts WHERE name = $1`
	nameOfObject = `SELECT name FROM directory_accounts WHERE object = $1`
	setObject    = `UPDATE directory_accounts SET object = $2 WHERE name = $1`
	setMade      = `UPDATE directory_accounts SET made = true WHERE account_id = $1`
)

// SetPlace is the statement that sets the database and the epoch of an account that has moved. It changes nothing that is newer.
const SetPlace = `UPDATE directory_accounts SET database = $2, epoch = $3 WHERE account_id = $1 AND epoch < $3`

// OfKey finds the account of an API key, and its database.
func (s SQL) OfKey(ctx context.Context, key contract.KeyDigest) (Place, error) {
	return s.place(ctx, sqldb.Query("place_of_key", placeOfKey, key[:]))
}

// placedKey is a key with the place of its account.
type placedKey struct {
	Place
	digest contract.KeyDigest
}

// keysBehind are the keys that follow a digest, in their order.
func (s SQL) keysBehind(ctx context.Context, after contract.KeyDigest, limit int) (page []placedKey, err error) {
	err = s.Run(ctx, sqldb.Query("places_of_keys", placesOfKeys, after[:], limit), sqldb.ReadRows(&page, func(r *sqldb.Row) placedKey {
		return placedKey{ReadPlace(r), contract.KeyDigest(r.Bytes())}
	}))
	return page, err
}

// OfAccount finds the database of an account.
func (s SQL) OfAccount(ctx context.Context, account prism.AccountID) (Place, error) {
	return s.place(ctx, sqldb.Query("place_of_account", placeOfAccount, account.UUID))
}

func (s SQL) place(ctx context.Context, look sqldb.Statement) (Place, error) {
	var found Place
	if err := s.LookUp(ctx, look, func(r *sqldb.Row) { found = ReadPlace(r) }); err != nil {
		return Place{}, err
	}
	return found, nil
}

// ReadPlace reads the account, the name of its database, and its epoch.
func ReadPlace(r *sqldb.Row) Place {
	return Place{Account: prism.AccountID{UUID: r.UUID()}, Database: r.Text(), Epoch: r.Int()}
}

// AccountByName finds an account by its name: store.ErrNotFound.
func (s SQL) AccountByName(ctx context.Context, name string) (id prism.AccountID, err error) {
	err = s.Run(ctx, sqldb.Query("account_by_name", accountByName, name), sqldb.ReadRow(&id.UUID, (*sqldb.Row).UUID))
	return id, err
}

// Accounts are all accounts, by name.
func (s SQL) Accounts(ctx context.Context) (all []Place, err error) {
	err = s.Run(ctx, sqldb.Query("list_places", listNames), sqldb.ReadRows(&all, ReadPlace))
	return all, err
}

// CountAccounts is how many accounts are in each database that has one, by its name.
func (s SQL) CountAccounts(ctx context.Context) (map[string]int64, error) {
	counts := map[string]int64{}
	var names []string
	err := s.Run(ctx, sqldb.Query("count_places", countNames), sqldb.ReadRows(&names, func(r *sqldb.Row) string {
		name := r.Text()
		counts[name] = r.Int()
		return name
	}))
	return counts, err
}

// AddKey tells whose a key is, before its account has the key.
func (s SQL) AddKey(ctx context.Context, key contract.KeyDigest, account prism.AccountID) error {
	return s.Run(ctx, sqldb.Change("add_place_of_key", addKey, key[:], account.UUID), sqldb.NoRow)
}

// TakeName takes a name for an account that is to be made in a database: store.ErrNameTaken. If somebody took the name and did not make the
// account, that account's place is returned, and the caller makes it.
func (s SQL) TakeName(ctx context.Context, name string, p Place) (Place, error) {
	taken, err := s.take(ctx, name, p, nil)
	if err == nil && (taken.made || taken.declared) {
		err = store.ErrNameTaken
	}
	return taken.Place, err
}

// TakeDeclared is TakeName for an account that an object declares. If objects have declared the account of the name before, its object is
// from now on this one, and its place is returned: contract.ErrNameChanged if the object has declared another name.
func (s SQL) TakeDeclared(ctx context.Context, name string, p Place, object prism.UUID) (Place, error) {
	taken, err := s.take(ctx, name, p, &object)
	if err == nil && !taken.declared {
		err = store.ErrNameTaken
	}
	return taken.Place, err
}

// taken is the account that has a name.
type taken struct {
	Place
	made, declared bool
}

func (s SQL) take(ctx context.Context, name string, p Place, object *prism.UUID) (owner taken, err error) {
	err = s.Transaction(ctx, "take_name", func(run sqldb.Run) error {
		args := []any{p.Account.UUID, name, p.Database, nil}
		if object != nil {
			args[3] = *object
			var declared string
			err := run(ctx, sqldb.Statement{Text: nameOfObject, Args: args[3:]}, sqldb.ReadRow(&declared, (*sqldb.Row).Text))
			switch {
			case err == nil && declared != name:
				return contract.ErrNameChanged
			case err != nil && !errors.Is(err, store.ErrNotFound):
				return err
			}
		}
		if err := run(ctx, sqldb.Statement{Text: takeName, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		err := run(ctx, sqldb.Statement{Text: named, Args: []any{name}}, sqldb.ReadRow(&owner, func(r *sqldb.Row) taken {
			return taken{Place: ReadPlace(r), made: r.Bool(), declared: r.Bool()}
		}))
		switch {
		case errors.Is(err, store.ErrNotFound): // the object has just declared another name
			return contract.ErrNameChanged
		case err != nil || object == nil || !owner.declared:
			return err
		}
		return run(ctx, sqldb.Statement{Text: setObject, Args: []any{name, *object}}, sqldb.NoRow)
	})
	return owner, err
}

// SetMoved tells where an account is that has moved. It can be repeated.
func (s SQL) SetMoved(ctx context.Context, p Place) error {
	return s.Run(ctx, sqldb.Change("set_moved", SetPlace, p.Account.UUID, p.Database, p.Epoch), sqldb.NoRow)
}

// SetMade tells that an account is in its database. It can be repeated.
func (s SQL) SetMade(ctx context.Context, account prism.AccountID) error {
	return s.Run(ctx, sqldb.Change("set_made", setMade, account.UUID), sqldb.NoRow)
}

// RemoveKeys forgets keys that are no longer valid, before their account does.
func (s SQL) RemoveKeys(ctx context.Context, gone []contract.KeyDigest) error {
	return s.Transaction(ctx, "remove_places_of_keys", func(run sqldb.Run) error {
		for _, key := range gone {
			if err := run(ctx, sqldb.Statement{Text: removeKey, Args: []any{key[:]}}, sqldb.NoRow); err != nil {
				return err
			}
		}
		return nil
	})
}

// Locked calls do in a transaction of home that holds the lock of an account: store.ErrNotFound if there is no such account.
func (s SQL) Locked(ctx context.Context, operation string, account prism.AccountID, do func(run sqldb.Run) error) error {
	return s.Transaction(ctx, operation, func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: lockAccount, Args: []any{account.UUID}}, sqldb.SomeRow); err != nil {
			return err
		}
		return do(run)
	})
}
