package moves

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Database is one of several databases. What a call does here, it does where the call's account is.
type Database struct {
	sqldb.Database
	moves  *Moves
	name   string
	now    func() time.Time
	usable func() error

	looked  atomic.Pointer[time.Time] // when the last look began; nil: there was none
	looking sync.Mutex
	last    time.Time                // of the last move that was seen
	arrived map[directory.Place]bool // of the moves of the last look; true: home knows too
}

// do has fn work on the database where the account of the call is; zero: the statement is of no call.
func (d *Database) do(ctx context.Context, fn func(at *Database, account prism.AccountID) error) error {
	account, is := ctx.Value(accountKey{}).(prism.AccountID)
	if !is {
		return d.learned(ctx, fn(d, account))
	}
	return d.moves.Follow(ctx, func() error {
		at, err := d.where(ctx, account)
		if err != nil {
			return err
		}
		return at.learned(ctx, fn(at, account))
	})
}

// where is the database in which an account is, as far as this process knows.
func (d *Database) where(ctx context.Context, account prism.AccountID) (at *Database, err error) {
	if err := d.refresh(ctx); err != nil {
		return nil, err
	}
	place, err := d.moves.Directory.OfAccount(ctx, account)
	if err != nil || place.Database == d.name || place.Account.IsZero() {
		return d, err
	}
	if at, err = d.moves.named(place); err == nil {
		err = at.usable()
	}
	return at, err
}

// refresh looks for accounts that have moved if the last look was too long ago (spec: account-moves-old-rows).
func (d *Database) refresh(ctx context.Context) error {
	if d.isFresh() {
		return nil
	}
	err := d.share(ctx, d.name, func(ctx context.Context) error {
		d.looking.Lock()
		defer d.looking.Unlock()
		if d.isFresh() {
			return nil
		}
		return d.look(ctx)
	})
	if d.isFresh() {
		return nil
	}
	return err
}

func (d *Database) isFresh() bool {
	looked := d.looked.Load()
	return looked != nil && time.Since(*looked) <= fresh
}

// share calls fn once for all who want the same at the same time, and outlives each of them.
func (d *Database) share(ctx context.Context, what string, fn func(context.Context) error) error {
	answer := d.moves.learning.DoChan(what, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.moves.patience())
		defer cancel()
		return nil, fn(ctx)
	})
	select {
	case <-ctx.Done():
		return fmt.Errorf("moves: %w: %w", store.ErrUnavailable, ctx.Err())
	case a := <-answer:
		return a.Err
	}
}

// learned is the error of a statement of this database. If an account has left the database, this process then knows where it is.
func (d *Database) learned(ctx context.Context, err error) error {
	refused, is := errors.AsType[*store.MoveError](err)
	if !is || !refused.Moved {
		return err
	}
	if left := d.left(ctx, refused.Account); left != nil {
		return left
	}
	return err
}

// left returns a store.MoveError if an account has left the database, which this process then knows.
func (d *Database) left(ctx context.Context, account prism.AccountID) error {
	return d.share(ctx, d.name+" "+account.String(), func(ctx context.Context) error {
		var places []directory.Place
		find := sqldb.Query("place_of_moved", placeOfMoved, account.UUID)
		if err := d.Database.Run(ctx, find, sqldb.ReadRows(&places, directory.ReadPlace)); err != nil || len(places) == 0 {
			return err
		}
		if err := d.moves.arrive(ctx, places[0]); err != nil {
			return err
		}
		return &store.MoveError{Account: account, Moved: true}
	})
}

// look finds the accounts that have left the database since the last look, and has them be in their databases.
func (d *Database) look(ctx context.Context) error {
	began, last := time.Now(), d.last
	if last.IsZero() {
		last = d.now()
	}
	var moved []directory.Place
	find := sqldb.Query("moved_accounts", movedSince, last.Add(-overlap))
	if err := d.Database.Run(ctx, find, sqldb.ReadRows(&moved, func(r *sqldb.Row) directory.Place {
		p, at := directory.ReadPlace(r), r.Time()
		if at.After(last) {
			last = at
		}
		return p
	})); err != nil {
		return err
	}
	d.looked.Store(&began) // those whose databases are away are refused here until they have arrived
	arrived := map[directory.Place]bool{}
	var failed error
	for _, p := range moved {
		told, known := d.arrived[p]
		if !known {
			if err := d.moves.arrive(ctx, p); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		arrived[p] = told
	}
	d.last, d.arrived = last, arrived
	return failed
}

// follow looks, and tells home what it has found.
func (d *Database) follow(ctx context.Context) error {
	d.looking.Lock()
	defer d.looking.Unlock()
	err := d.look(ctx)
	for p, told := range d.arrived {
		if !told {
			failed := d.moves.Directory.SetMoved(ctx, p)
			d.arrived[p] = failed == nil
			err = errors.Join(err, failed)
		}
	}
	return err
}

// LookUp implements sqldb.Database. Look-ups are by API keys, which the database accepts no more from the switch of their account on: a key that
// is not found is perhaps one of an account that has moved (spec: account-moves-keys).
func (d *Database) LookUp(ctx context.Context, s sqldb.Statement, read func(*sqldb.Row)) error {
	return d.do(ctx, func(at *Database, account prism.AccountID) error {
		found := false
		err := at.Database.LookUp(ctx, s, func(r *sqldb.Row) {
			found = true
			read(r)
		})
		if err != nil || found || account.IsZero() {
			return err
		}
		return at.left(ctx, account)
	})
}

// Run implements sqldb.Database.
func (d *Database) Run(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
	return d.do(ctx, func(at *Database, _ prism.AccountID) error { return at.Database.Run(ctx, s, read) })
}

// Transaction implements sqldb.Database.
func (d *Database) Transaction(ctx context.Context, operation string, fn func(run sqldb.Run) error) error {
	return d.do(ctx, func(at *Database, _ prism.AccountID) error { return at.Database.Transaction(ctx, operation, fn) })
}

// SaveResult implements sqldb.Database.
func (d *Database) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (saved store.Saved, err error) {
	err = d.do(ctx, func(at *Database, _ prism.AccountID) (err error) {
		saved, err = at.Database.SaveResult(ctx, account, r)
		return err
	})
	return saved, err
}

// SaveRetry implements sqldb.Database.
func (d *Database) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (saved store.Saved, err error) {
	err = d.do(ctx, func(at *Database, _ prism.AccountID) (err error) {
		saved, err = at.Database.SaveRetry(ctx, account, r, of)
		return err
	})
	return saved, err
}

// Rarity implements sqldb.Database.
func (d *Database) Rarity(ctx context.Context, n finding.Needs) (r sqldb.Rarity, err error) {
	err = d.do(ctx, func(at *Database, _ prism.AccountID) (err error) {
		r, err = at.Database.Rarity(ctx, n)
		return err
	})
	return r, err
}

// Confirm implements sqldb.Database.
func (d *Database) Confirm(ctx context.Context, account prism.AccountID, id prism.ResultID) error {
	return d.do(ctx, func(at *Database, _ prism.AccountID) error { return at.Database.Confirm(ctx, account, id) })
}

// ConfirmAll implements sqldb.Database.
func (d *Database) ConfirmAll(ctx context.Context, account prism.AccountID) error {
	return d.do(ctx, func(at *Database, _ prism.AccountID) error { return at.Database.ConfirmAll(ctx, account) })
}

// FoldAll implements sqldb.Database.
func (d *Database) FoldAll(ctx context.Context) error {
	return d.do(ctx, func(at *Database, _ prism.AccountID) error { return at.Database.FoldAll(ctx) })
}
