package results

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// placement tells in which database an account is. Its errors are those of contract.Results.
type placement interface {
	// ofKey is the database of the account that has an API key. That of a key that no account has is the one that says so.
	ofKey(ctx context.Context, key contract.KeyDigest) (*database, error)
	ofAccount(ctx context.Context, account prism.AccountID) (*database, error)
	// home has what is of no account.
	home() *database
	// all are home and the other databases.
	all() []*database
	// begin follows the migration of home.
	begin(ctx context.Context) error
}

// alone is the placement of a Prism with one database, in which every account is.
type alone struct {
	*database
	list []*database
}

func onlyIn(db *database) alone { return alone{db, []*database{db}} }

func (p alone) ofKey(context.Context, contract.KeyDigest) (*database, error) { return p.database, nil }

func (p alone) ofAccount(context.Context, prism.AccountID) (*database, error) { return p.database, nil }

func (p alone) home() *database { return p.database }

func (p alone) all() []*database { return p.list }

func (p alone) begin(context.Context) error { return nil }
