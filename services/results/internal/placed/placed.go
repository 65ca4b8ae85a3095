// Package placed keeps accounts in several databases: it has what is asked of an account done in its database, and what is asked of all in
// each, and keeps the directory in step (spec: directory).
package placed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/moves"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Database is one of several databases.
type Database struct {
	Name  string
	Store sqlstore.Statements
	// Terms tell whether new accounts may be made here now, and how much of the use this database may have, relative to the others; above 0.
	Terms func() (accepting bool, weight int)
}

// Accounts are accounts in databases, of which the first is home.
type Accounts struct {
	Directory *directory.Cached
	Databases []Database
	// Home is the database of home without the accounts that it has.
	Home  sqldb.Database
	Moves *moves.Moves // nil: no account moves
	// Patience is how long a call that is of accounts in several databases waits for each of them; DefaultPatience if 0.
	Patience time.Duration
}

func (a *Accounts) home() sqlstore.Statements { return a.Databases[0].Store }

// StoreOf is the database of an account, and the context of a call of that account: home's database of one that is unknown, which says so.
func (a *Accounts) StoreOf(ctx context.Context, account prism.AccountID) (context.Context, sqlstore.Statements, error) {
	place, err := a.Directory.OfAccount(ctx, account)
	at, err := a.at(place, err)
	return a.Moves.Bind(ctx, account), at, err
}

func (a *Accounts) at(place directory.Place, err error) (sqlstore.Statements, error) {
	switch {
	case err != nil:
		return sqlstore.Statements{}, err
	case place.Account.IsZero():
		return a.home(), nil
	}
	return a.named(place.Database)
}

// named is the database with a name: store.ErrUnavailable if none has it.
func (a *Accounts) named(name string) (sqlstore.Statements, error) {
	for _, db := range a.Databases {
		if db.Name == name {
			return db.Store, nil
		}
	}
	return sqlstore.Statements{}, fmt.Errorf("placed: %w: no database %q", store.ErrUnavailable, name)
}

// errAway: a database did not answer.
var errAway = fmt.Errorf("placed: %w: a database did not answer", store.ErrUnavailable)

// isMove tells whether an account has moved while a call was made that is of several.
func isMove(err error) bool {
	_, is := errors.AsType[*store.MoveError](err)
	return is
}

// ask calls do with a database by its name, and with a context that ends after Patience: store.ErrUnavailable then. A change may have been made,
// so it is one that can be repeated.
func (a *Accounts) ask(ctx context.Context, name string, do func(context.Context, sqlstore.Statements) error) error {
	at, err := a.named(name)
	if err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, cmp.Or(a.Patience, DefaultPatience))
	defer cancel()
	err = do(bound, at)
	if err != nil && bound.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}

// known is StoreOf an account that is known: store.ErrNotFound.
func (a *Accounts) known(ctx context.Context, account prism.AccountID) (context.Context, sqlstore.Statements, error) {
	place, err := a.Directory.OfAccount(ctx, account)
	if err == nil && place.Account.IsZero() {
		err = store.ErrNotFound
	}
	at, err := a.at(place, err)
	return a.Moves.Bind(ctx, account), at, err
}
