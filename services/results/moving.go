package results

import (
	"cmp"
	"context"
	"errors"

	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
	"github.com/prism-results/prism/services/results/operator"
)

// errTokens is why a database has no direct URL of its own accord.
var errTokens = errors.New("a move needs direct_url or direct_url_file in PRISM_DATABASES_FILE: another database cannot connect with tokens of this workload")

// directURL is how moves connect to the database of a URL: by the direct URL that the file has now, else by the URL with its password.
func (c Config) directURL(url string, auth postgres.Auth) (string, error) {
	if c.direct != nil {
		if own := c.direct(); own != "" {
			return own, nil
		}
	}
	switch {
	case auth.Tokens != nil:
		return "", errTokens
	case auth.URL != nil:
		url = auth.URL.Secret()
	}
	if auth.Password != nil {
		return mover.WithPassword(url, auth.Password.Secret())
	}
	return url, nil
}

// forMoves is the database as a mover uses it.
func (db *database) forMoves() mover.Database { return mover.Database{Name: db.name, URL: db.direct} }

// move moves an account, or takes its move back.
func (p *several) move(ctx context.Context, m operator.Move) error {
	d := mover.Deps{Home: p.home().forMoves(), Learned: cmp.Or(m.Learned, mover.LearnedAfter), Tell: m.Tell}
	for _, db := range p.databases {
		if db.direct == nil {
			return errNotMoved
		}
		d.Databases = append(d.Databases, db.forMoves())
	}
	if m.TakeBack {
		return mover.TakeBack(ctx, d, m.Account)
	}
	return mover.Move(ctx, d, m.Account, m.To)
}

// errNotMoved is why nothing is moved.
var errNotMoved = errors.New("there is one database: PRISM_DATABASES_FILE names several, between which accounts move")

func (p alone) move(context.Context, operator.Move) error { return errNotMoved }
