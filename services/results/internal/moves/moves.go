// Package moves has calls go on in the database to which their account moves (spec: account-moves).
//
//	source   copy of the rows ········ BEGIN · lock · INSERT moved_accounts · COMMIT ···················· deletion of the rows
//	target   ······ rows that arrive ·················································· activate_account ·····
//	home     ······························································································ epoch
//	a call   changes in the source ··· waits ··················· is refused, finds the row, activates, and goes on in the target
//
// The row in the source decides. Who finds it completes the switch, so nothing waits for who moves the account.
package moves

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// DefaultPatience is how long a call waits for the switch of its account.
	DefaultPatience = time.Second
	// leastPause and mostPause are between the tries of a change that waits.
	leastPause, mostPause = 5 * time.Millisecond, 40 * time.Millisecond
	// mostMoves bounds how often a call follows its account. Only a fault reaches the bound.
	mostMoves = 8
	// every is how often a process looks for accounts that have moved, and overlap how far it looks back: rows become visible later than their
	// time, by what a switch may take.
	every, overlap = time.Second, time.Minute
	// fresh is how long a look counts. It is less than the time between a switch and the deletion of the old rows, which nobody reads then.
	fresh = 30 * time.Second

	placeOfMoved = `SELECT account_id, database, epoch FROM moved_accounts WHERE account_id = $1`
	movedSince   = `SELECT account_id, database, epoch, moved_at FROM moved_accounts WHERE moved_at > $1`
)

// Activate is the statement that has an account be in the database to which it moved in an epoch. It can be repeated.
const Activate = `SELECT activate_account($1, $2)`

// Moves follows the accounts of several databases. A nil one has nothing to follow.
type Moves struct {
	Directory *directory.Cached // set before it is used
	Patience  time.Duration     // DefaultPatience if 0
	databases map[string]*Database
	learning  singleflight.Group
	log       *slog.Logger
}

// New follows no database yet.
func New(log *slog.Logger) *Moves { return &Moves{databases: map[string]*Database{}, log: log} }

// Add follows a database with a name. usable is an error while its accounts are refused.
func (m *Moves) Add(name string, d sqldb.Database, now func() time.Time, usable func() error) *Database {
	added := &Database{Database: d, moves: m, name: name, now: now, usable: usable}
	m.databases[name] = added
	return added
}

type accountKey struct{}

// Bind has the statements of a call follow its account: whatever the call does in a database that the account has left, it does where the account
// is. Without it, a statement in such a database changes nothing of the account, and is refused.
func (m *Moves) Bind(ctx context.Context, account prism.AccountID) context.Context {
	if m == nil {
		return ctx
	}
	return context.WithValue(ctx, accountKey{}, account)
}

// patience is how long a call waits for the switch of its account, and for the other database when it follows the account.
func (m *Moves) patience() time.Duration { return cmp.Or(m.Patience, DefaultPatience) }

// Follow repeats fn while an account that it changes is being switched, for Patience, and when one has moved since fn found it.
func (m *Moves) Follow(ctx context.Context, fn func() error) error {
	if m == nil {
		return fn()
	}
	var began time.Time
	for moved, pause := 0, leastPause; ; {
		err := fn()
		refused, is := errors.AsType[*store.MoveError](err)
		if !is {
			return err
		}
		if began.IsZero() {
			began = time.Now()
		}
		switch {
		case refused.Moved && moved == mostMoves, !refused.Moved && time.Since(began) >= m.patience():
			return err
		case refused.Moved:
			moved++
		case background.Pause(ctx, pause):
			pause = min(2*pause, mostPause)
		default:
			return errors.Join(err, ctx.Err())
		}
	}
}

// Left returns a store.MoveError if an account has left a database, which this process then knows.
func (m *Moves) Left(ctx context.Context, database string, account prism.AccountID) error {
	if m == nil || m.databases[database] == nil {
		return nil
	}
	return m.databases[database].left(ctx, account)
}

// Run follows the databases until ctx ends.
func (m *Moves) Run(ctx context.Context) {
	var following sync.WaitGroup
	for _, d := range m.databases {
		following.Go(func() {
			background.Work{
				Name: "finding accounts that have moved", AfterFailure: every, Log: m.log.With("database", d.name),
				Do: func(ctx context.Context) (time.Duration, error) {
					if d.usable() != nil {
						return every, nil //nolint:nilerr // its accounts are refused meanwhile
					}
					return every, d.follow(ctx)
				},
			}.Run(ctx)
		})
	}
	following.Wait()
}

// named is the database of a place.
func (m *Moves) named(p directory.Place) (*Database, error) {
	if d := m.databases[p.Database]; d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("moves: %w: the database %q of account %s is none of this process's", store.ErrUnavailable, p.Database, p.Account)
}

// arrive has an account be at a place, where it has its rows from then on.
func (m *Moves) arrive(ctx context.Context, p directory.Place) error {
	target, err := m.named(p)
	if err != nil {
		return err
	}
	if err := target.Database.Run(ctx, sqldb.Change("activate_account", Activate, p.Account.UUID, p.Epoch), sqldb.NoRow); err != nil {
		return err
	}
	m.Directory.Moved(p)
	return nil
}
