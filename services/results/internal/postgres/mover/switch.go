package mover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/moves"
)

const (
	// switchBudget bounds how long calls of the account wait for an attempt to switch: they wait for a second.
	switchBudget = 700 * time.Millisecond
	// switchTries is how often the mover tries, with switchPause between, in which the calls that waited go on.
	switchTries = 30
	switchPause = 2 * time.Second
)

// bounds has the source end the transaction of a mover that hangs, so that calls do not wait for it.
const bounds = `SET LOCAL lock_timeout = '400ms'; SET LOCAL statement_timeout = '700ms';
SET LOCAL idle_in_transaction_session_timeout = '1s'; SET LOCAL session_replication_role = replica`

// lockSwitch locks out what folds the tails of all accounts (postgres.Fold), which a trigger would have fail, and then the writes of the account.
const lockSwitch = `SELECT pg_advisory_xact_lock(8102654024067625077), pg_advisory_xact_lock(move_lock($1))`

// errSwitchedBefore ends an attempt that comes too late.
var errSwitchedBefore = errors.New("another mover has switched")

// errNotNow is why an attempt is made again.
var errNotNow = errors.New("not within the time that calls wait")

// decide switches: until it returns without an error the account is in the source, or a later attempt finds out.
func (m *move) decide(ctx context.Context) error {
	var last error
	for range switchTries {
		var err error
		if m.seen, err = newSnapshot(ctx, m.target); err != nil {
			return err
		}
		tried := false
		err = m.lockedOut(ctx, func(ctx context.Context, s *sides) error {
			tried = true
			return m.attempt(ctx, s)
		})
		switch decided, again := m.decided(ctx); {
		case again != nil:
			return errors.Join(err, again)
		case decided:
			return nil
		case ctx.Err() != nil || errors.Is(err, ErrDifferent) || !tried && !errors.Is(err, errNotNow):
			return errors.Join(err, ctx.Err())
		}
		last = err
		m.forget()
		m.Tell(fmt.Sprintf("Not switched yet, calls go on in %s: %v", m.source.Name, err))
		if err := pause(ctx, switchPause); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d attempts to switch; the last: %w", switchTries, last)
}

// sides are the connections of the mover while the account's writes are locked out.
type sides struct {
	locking  pgx.Tx    // of the source, has the lock
	sourced  *pgx.Conn // of the source
	targeted *pgx.Conn
}

// lockedOut calls do while no write of the account is under way in the source, and the target has all that was written. Its error is errNotNow if
// that was not so within switchBudget.
func (m *move) lockedOut(ctx context.Context, do func(context.Context, *sides) error) error {
	return m.on(ctx, m.source, func(locking *pgx.Conn) error {
		return m.on(ctx, m.source, func(sourced *pgx.Conn) error {
			return m.on(ctx, m.target, func(targeted *pgx.Conn) error {
				// What is left to catch up with under the lock is what is written until the lock is there.
				if err := m.catchUp(ctx, sourced, nil); err != nil {
					return err
				}
				began := time.Now()
				bounded, cancel := context.WithTimeout(ctx, switchBudget)
				defer cancel()
				err := pgx.BeginFunc(bounded, locking, func(tx pgx.Tx) error {
					if _, err := tx.Exec(bounded, bounds); err != nil {
						return fmt.Errorf("bounding the time: %w", err)
					}
					if _, err := tx.Exec(bounded, lockSwitch, m.id()); err != nil {
						return fmt.Errorf("%w: writes that are under way: %w", errNotNow, err)
					}
					if err := m.catchUp(bounded, sourced, nil); err != nil {
						return fmt.Errorf("the target has not caught up: %w", err)
					}
					return do(bounded, &sides{tx, sourced, targeted})
				})
				if err != nil && bounded.Err() != nil {
					err = fmt.Errorf("%w, after %s: %w", errNotNow, time.Since(began).Round(time.Millisecond), err)
				}
				return err
			})
		})
	})
}

const (
	readTime = `SELECT clock_timestamp()`
	// addDecision writes the row that is the switch, unless the move was taken back.
	addDecision = `INSERT INTO moved_accounts (account_id, database, epoch)
SELECT $1, $2, $3 WHERE EXISTS (SELECT FROM pg_publication WHERE pubname = $4)
ON CONFLICT (account_id) DO UPDATE SET database = excluded.database, epoch = excluded.epoch, moved_at = excluded.moved_at
	WHERE moved_accounts.epoch < excluded.epoch`
	// hideKeys has a process that does not know of the switch yet find no key, look at moved_accounts, and find the account.
	hideKeys = `UPDATE api_keys SET digest = sha256('moved'::bytea || digest) WHERE account_id = $1`
)

// attempt carries the rows of carried tables, tries at the target what follows the switch, and switches.
func (m *move) attempt(ctx context.Context, s *sides) error {
	// Another mover, which was stopped for long, may have switched: what it left in the source is not to be carried again.
	var decided bool
	if err := s.locking.QueryRow(ctx, readDecision, m.id(), m.epoch).Scan(&decided); err != nil {
		return fmt.Errorf("looking where the account is: %w", err)
	} else if decided {
		m.forget()
		return errSwitchedBefore
	}
	var there, here time.Time
	if err := errors.Join(s.locking.QueryRow(ctx, readTime).Scan(&here), s.targeted.QueryRow(ctx, readTime).Scan(&there)); err != nil {
		return fmt.Errorf("reading the clocks: %w", err)
	}
	if there.Before(here) { // ids are in the order of time
		return fmt.Errorf("the clock of %s is %s behind that of %s: synchronise them", m.target.Name, here.Sub(there), m.source.Name)
	}
	if err := m.seen.take(ctx); err != nil {
		return err
	}
	if err := m.carry(ctx, s); err != nil {
		return err
	}
	if err := m.rehearse(ctx, s); err != nil {
		return err
	}
	if _, err := s.locking.Exec(ctx, hideKeys, m.id()); err != nil {
		return fmt.Errorf("hiding the keys: %w", err)
	}
	done, err := s.locking.Exec(ctx, addDecision, m.id(), m.target.Name, m.epoch, m.replica())
	if err == nil && done.RowsAffected() == 0 {
		err = errors.New("the move was taken back")
	}
	if err != nil {
		return fmt.Errorf("noting where the account is: %w", err)
	}
	return nil
}

// carry copies the rows of carried tables into the target, as what arrives there.
func (m *move) carry(ctx context.Context, s *sides) error {
	carried := only(m.tables, Carried)
	batch := &pgx.Batch{}
	for _, t := range carried {
		order := ""
		if t.name == "tail" || t.name == "event_tail" {
			order = " ORDER BY t.position"
		}
		batch.Queue(fmt.Sprintf("SELECT row_to_json(t)::text FROM %s t WHERE t.%s = $1%s", t.name, t.account, order), m.id())
	}
	reading := s.locking.SendBatch(ctx, batch)
	var arriving [][]any
	for _, t := range carried {
		rows, err := reading.Query()
		if err == nil {
			var texts []string
			if texts, err = pgx.CollectRows(rows, pgx.RowTo[string]); err == nil {
				for _, text := range texts {
					arriving = append(arriving, []any{[16]byte(m.account.UUID), int64(len(arriving) + 1), m.epoch, t.name, text})
				}
			}
		}
		if err != nil {
			return errors.Join(fmt.Errorf("reading %s: %w", t.name, err), reading.Close())
		}
	}
	if err := reading.Close(); err != nil {
		return fmt.Errorf("reading what is carried: %w", err)
	}
	return m.away(ctx, s.targeted, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM arriving_rows WHERE account_id = $1", m.id()); err != nil {
			return fmt.Errorf("removing what arrived before: %w", err)
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"arriving_rows"}, []string{"account_id", "number", "epoch", "table_name", "row"}, pgx.CopyFromRows(arriving))
		if err != nil {
			return fmt.Errorf("carrying rows to %s: %w", m.target.Name, err)
		}
		return nil
	})
}

// rehearse makes rows of what is carried, as activate does, compares them, and takes that back: what would fail behind the switch fails before.
func (m *move) rehearse(ctx context.Context, s *sides) error {
	carried := only(m.tables, Carried)
	want, err := m.sums(ctx, s.locking, carried)
	if err != nil {
		return err
	}
	tx, err := s.targeted.Begin(ctx)
	if err != nil {
		return fmt.Errorf("beginning the rehearsal: %w", err)
	}
	if _, err := tx.Exec(ctx, moves.Activate, m.id(), m.epoch); err != nil {
		return fmt.Errorf("trying to make the account in %s: %w", m.target.Name, err)
	}
	got, err := m.sums(ctx, tx, carried)
	if err == nil {
		err = errors.Join(differences(carried, want, got), tx.Rollback(ctx))
	}
	return err
}

// activate has the target make rows of what was carried, and home know where the account is. Any process may have done both.
func (m *move) activate(ctx context.Context) error {
	if err := m.on(ctx, m.target, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, moves.Activate, m.id(), m.epoch); err != nil {
			return fmt.Errorf("making the account in %s: %w", m.target.Name, err)
		}
		return nil
	}); err != nil {
		return err
	}
	if _, err := m.home.Exec(ctx, directory.SetPlace, m.id(), m.target.Name, m.epoch); err != nil {
		return fmt.Errorf("recording in home where the account is: %w", err)
	}
	if err := m.home.QueryRow(ctx, noteSwitch, m.id()).Scan(&m.switchedAt); err != nil {
		return fmt.Errorf("recording the time of the switch: %w", err)
	}
	m.Tell("Switched: calls of the account go to " + m.target.Name + ".")
	return nil
}

// wait waits until every process has learned of the switch.
func (m *move) wait(ctx context.Context) error {
	var now time.Time
	if err := m.home.QueryRow(ctx, readTime).Scan(&now); err != nil {
		return fmt.Errorf("reading the time of home: %w", err)
	}
	left := m.Learned - now.Sub(m.switchedAt)
	if left <= 0 {
		return nil
	}
	m.Tell(fmt.Sprintf("Waiting for %s, until every process has learned of it.", left.Round(time.Second)))
	return pause(ctx, left)
}
