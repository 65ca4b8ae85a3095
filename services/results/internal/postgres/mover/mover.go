// Package mover moves an account from one of several databases to another while it is used (spec: account-moves). A move is a list of steps,
// each of which can be repeated. It can be killed at any of them, on either side, and goes on when it is begun again.
//
//	prepare   the target notes that the account is not there; the source gets triggers, a publication and a slot, the target a subscription
//	copy      the target copies the replicated tables, and follows the source
//	compare   both sides are compared as they were at one moment
//	switch    with the account's writes locked out, the rest is carried, and the source notes that the account is in the target
//	activate  the carried rows become rows, and the directory of home knows
//	detach    the subscription, the slot and the publication are dropped
//	verify    both sides are compared as they were at the switch
//	wait      every process learns of the switch
//	delete    the old rows are deleted, in batches
//	finish    the triggers are dropped, and the move is over
//
// Until the switch, which is one commit in the source, the move can be taken back. A database has a row of moved_accounts exactly while the
// account is not there: whatever deletes rows of the account sees it, under the lock of the account, so no mover that was stopped for long
// deletes rows that are in use.
package mover

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
)

// Database is a database as a mover uses it.
type Database struct {
	Name string
	// URL leads to Postgres itself, as a role that owns the tables, may replicate, may make subscriptions, and may set session_replication_role. The
	// other database connects by it too.
	URL func() (string, error)
	// Tracer sees the statements of the mover; nil: nobody does.
	Tracer pgx.QueryTracer
}

// Deps of a mover.
type Deps struct {
	Home      Database // has the directory, and the moves under way
	Databases []Database
	// Learned is how long after the switch every process has learned of it, or does not use the account.
	Learned time.Duration
	// Tell is told how far the move is.
	Tell func(line string)
}

// LearnedAfter is Learned unless an operator sets it.
const LearnedAfter = time.Minute

// Errors of moves that cannot be made.
var (
	// ErrSwitched is why a move is not taken back.
	ErrSwitched = errors.New("the account is in the new database already: moving it back is another move")
	// ErrNoMove is why there is nothing to take back.
	ErrNoMove = errors.New("the account is not being moved")
	// ErrOtherMover is that another process moves the account at this time.
	ErrOtherMover = errors.New("another process is moving the account")
	// ErrDifferent is that the rows of both databases are not the same.
	ErrDifferent = errors.New("the rows of both databases are not the same")
)

// step is a part of a move.
type step struct {
	name string
	does func(*move, context.Context) error
}

func steps() []step {
	return []step{
		{"prepare", (*move).prepare},
		{"copy", (*move).copy},
		{"compare", (*move).compareBefore},
		{"switch", (*move).decide},
		{"activate", (*move).activate},
		{"detach", (*move).detach},
		{"verify", (*move).verify},
		{"wait", (*move).wait},
		{"delete", (*move).remove},
		{"finish", (*move).finish},
	}
}

// afterSwitch are the steps behind the switch.
func afterSwitch() []step { return steps()[4:] }

// move is a move under way, of one process.
type move struct {
	Deps
	account        prism.AccountID
	source, target Database
	epoch          int64 // that the account has in the target
	switchedAt     time.Time
	home           *pgx.Conn
	tables         []table
	seen           *snapshot // of the target at the switch; nil: another process switched
}

// Move moves an account to a database, or goes on with doing so. It returns when the old rows are deleted.
func Move(ctx context.Context, d Deps, account prism.AccountID, to string) error {
	return d.with(ctx, account, func(m *move) error {
		if err := m.begin(ctx, to); err != nil || m.target.Name == "" {
			return err
		}
		defer m.forget()
		todo := steps()
		if decided, err := m.decided(ctx); err != nil {
			return err
		} else if decided {
			todo = afterSwitch()
		} else if err := m.check(ctx); err != nil {
			return err
		}
		for _, s := range todo {
			if err := m.note(ctx, s.name); err != nil {
				return err
			}
			if err := s.does(m, ctx); err != nil {
				return fmt.Errorf("moving the account, %s: %w", s.name, err)
			}
		}
		m.Tell("The account is in " + m.target.Name + ".")
		return nil
	})
}

// TakeBack undoes a move before its switch: ErrSwitched after it, ErrNoMove without one.
func TakeBack(ctx context.Context, d Deps, account prism.AccountID) error {
	return d.with(ctx, account, func(m *move) error {
		if found, err := m.read(ctx); err != nil {
			return err
		} else if !found {
			return ErrNoMove
		}
		if err := m.takeBack(ctx); err != nil {
			return fmt.Errorf("taking back the move: %w", err)
		}
		m.Tell("The account stays in " + m.source.Name + ".")
		return nil
	})
}

const (
	lockMover = `SELECT pg_try_advisory_lock(hashtextextended('prism: mover of ' || $1::text, 0))`
	readMove  = `SELECT source, target, epoch, switched_at FROM moves WHERE account_id = $1`
	addMove   = `INSERT INTO moves (account_id, source, target, epoch, step)
SELECT account_id, database, $2, greatest(epoch, $3) + 1, 'prepare' FROM directory_accounts WHERE account_id = $1 AND made AND database <> $2
ON CONFLICT DO NOTHING`
	readEpoch  = `SELECT coalesce(max(epoch), 0) FROM moved_accounts WHERE account_id = $1`
	readPlace  = `SELECT database FROM directory_accounts WHERE account_id = $1 AND made`
	noteStep   = `UPDATE moves SET step = $2 WHERE account_id = $1`
	noteSwitch = `UPDATE moves SET switched_at = coalesce(switched_at, clock_timestamp()) WHERE account_id = $1 RETURNING switched_at`
	endMove    = `DELETE FROM moves WHERE account_id = $1`
)

// with calls do with a move of which this process alone is the mover.
func (d Deps) with(ctx context.Context, account prism.AccountID, do func(*move) error) error {
	home, err := d.Home.connect(ctx)
	if err != nil {
		return fmt.Errorf("connecting to home: %w", err)
	}
	defer end(ctx, home)
	m := &move{Deps: d, account: account, home: home}
	if err := m.takePlace(ctx); err != nil {
		return err
	}
	return do(m)
}

// moverPatience is for how long a mover waits until Postgres has noticed that one which was killed is gone.
const moverPatience = 10 * time.Second

// takePlace makes this process the only mover of the account, until its connection to home ends: ErrOtherMover.
func (m *move) takePlace(ctx context.Context) error {
	for began := time.Now(); ; {
		var only bool
		if err := m.home.QueryRow(ctx, lockMover, m.id()).Scan(&only); err != nil {
			return fmt.Errorf("taking the place of the mover: %w", err)
		}
		switch {
		case only:
			return nil
		case time.Since(began) > moverPatience:
			return ErrOtherMover
		}
		if err := pause(ctx, poll); err != nil {
			return err
		}
	}
}

// end closes a connection, also when ctx has ended.
func end(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // what it did is committed, or is to be rolled back
}

// id is the account as statements take it.
func (m *move) id() string { return m.account.String() }

// short is the account in names of objects.
func (m *move) short() string { return hex.EncodeToString(m.account.UUID[:]) }

// replica is the name of the publication, the slot and the subscription. A second move of the account does not meet what is left of a first one.
func (m *move) replica() string { return fmt.Sprintf("prism_move_%s_%d", m.short(), m.epoch) }

// read reads the move that is under way, if there is one.
func (m *move) read(ctx context.Context) (found bool, err error) {
	var source, target string
	var at *time.Time
	err = m.home.QueryRow(ctx, readMove, m.id()).Scan(&source, &target, &m.epoch, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("reading the move: %w", err)
	}
	if at != nil {
		m.switchedAt = *at
	}
	if m.source, err = m.named(source); err == nil {
		m.target, err = m.named(target)
	}
	return true, err
}

func (m *move) named(name string) (Database, error) {
	for _, db := range m.Databases {
		if db.Name == name {
			return db, nil
		}
	}
	return Database{}, fmt.Errorf("there is no database %q: prism databases list shows them", name)
}

// begin makes the move, or finds the one to the same database. m.target has no name if the account is there.
func (m *move) begin(ctx context.Context, to string) error {
	if _, err := m.named(to); err != nil {
		return err
	}
	underWay, err := m.read(ctx)
	if err == nil && !underWay {
		if err = m.add(ctx, to); err == nil {
			underWay, err = m.read(ctx)
		}
	}
	switch {
	case err != nil:
		return err
	case !underWay:
		m.Tell("The account is in " + to + " already.")
		return nil
	case m.target.Name != to:
		return fmt.Errorf("the account is being moved to %s: go on with --to %s, or take that back with --take-back", m.target.Name, m.target.Name)
	}
	m.Tell(fmt.Sprintf("Moving the account from %s to %s.", m.source.Name, m.target.Name))
	return nil
}

// add makes the move, unless the account is in the database. Its epoch is above those that the databases have of the account: home may have been
// restored, and processes keep the highest.
func (m *move) add(ctx context.Context, to string) error {
	var place string
	if err := m.home.QueryRow(ctx, readPlace, m.id()).Scan(&place); err != nil {
		return fmt.Errorf("finding the account: %w", err)
	}
	var highest int64
	for _, db := range m.Databases {
		var epoch int64
		err := m.on(ctx, db, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, readEpoch, m.id()).Scan(&epoch) })
		if err != nil && (db.Name == place || db.Name == to) { // one that is neither may be away
			return fmt.Errorf("reading the moves that %s knows: %w", db.Name, err)
		}
		highest = max(highest, epoch)
	}
	if _, err := m.home.Exec(ctx, addMove, m.id(), to, highest); err != nil {
		return fmt.Errorf("beginning the move: %w", err)
	}
	return nil
}

// note records in home which step comes.
func (m *move) note(ctx context.Context, step string) error {
	done, err := m.home.Exec(ctx, noteStep, m.id(), step)
	if err != nil {
		return fmt.Errorf("recording the step %s of the move: %w", step, err)
	} else if done.RowsAffected() == 0 {
		return ErrNoMove // it was taken back, by somebody who thought that this process is gone
	}
	return nil
}

// on calls do with a connection to a database.
func (m *move) on(ctx context.Context, db Database, do func(*pgx.Conn) error) error {
	conn, err := db.connect(ctx)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", db.Name, err)
	}
	defer end(ctx, conn)
	if m.tables == nil {
		if m.tables, err = readTables(ctx, conn); err != nil {
			return err
		}
	}
	return do(conn)
}

const readDecision = `SELECT EXISTS (SELECT FROM moved_accounts WHERE account_id = $1 AND epoch = $2)`

// decided reports whether the switch is behind.
func (m *move) decided(ctx context.Context) (decided bool, err error) {
	err = m.on(ctx, m.source, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, readDecision, m.id(), m.epoch).Scan(&decided)
	})
	return decided, err
}

// forget ends what the move keeps open.
func (m *move) forget() {
	if m.seen != nil {
		m.seen.end()
		m.seen = nil
	}
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	if !background.Pause(ctx, d) {
		return ctx.Err()
	}
	return nil
}
