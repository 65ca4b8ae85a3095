package results

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/operator"
)

// placement tells in which database an account is. Its errors are those of contract.Results.
type placement interface {
	// ofKey is the database of the account that has an API key, and the context of a call of that account. The database of a key that no account
	// has is the one that says so.
	ofKey(ctx context.Context, key contract.KeyDigest) (context.Context, *database, error)
	ofAccount(ctx context.Context, account prism.AccountID) (context.Context, *database, error)
	// home has what is of no account.
	home() *database
	// all are home and the other databases.
	all() []*database
	// begin follows the migration of home.
	begin(ctx context.Context) error
	// check finds accounts that are in none of the databases.
	check(ctx context.Context) error
	// counts is how many accounts the directory has in each database, by its name; nil: there is only one database.
	counts(ctx context.Context) (map[string]int64, error)
	// move moves an account from one database to another.
	move(ctx context.Context, m operator.Move) error
	// run does what goes on beside the calls of all databases, until ctx ends.
	run(ctx context.Context)
}

// alone is the placement of a Prism with one database, in which every account is.
type alone struct {
	*database
	list []*database
}

func onlyIn(db *database) alone { return alone{db, []*database{db}} }

func (p alone) ofKey(ctx context.Context, _ contract.KeyDigest) (context.Context, *database, error) {
	return ctx, p.database, nil
}

func (p alone) ofAccount(ctx context.Context, _ prism.AccountID) (context.Context, *database, error) {
	return ctx, p.database, nil
}

func (p alone) home() *database { return p.database }

func (p alone) all() []*database { return p.list }

func (p alone) begin(context.Context) error { return nil }

func (p alone) check(context.Context) error { return nil }

func (p alone) counts(context.Context) (map[string]int64, error) { return nil, nil } //nolint:nilnil // there is no directory

func (p alone) run(context.Context) {}
