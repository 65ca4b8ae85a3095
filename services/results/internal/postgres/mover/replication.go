package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// poll is how often the mover looks how far the databases are.
	poll = 20 * time.Millisecond
	// tellEvery is how often at most it tells so.
	tellEvery = 5 * time.Second
	// lockPause follows an attempt to change a table that did not get its lock.
	lockPause = 500 * time.Millisecond
)

// literal is a text in a statement that takes no arguments.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// prepare has the target follow the source.
func (m *move) prepare(ctx context.Context) error {
	subscribed := false
	if err := m.on(ctx, m.target, func(conn *pgx.Conn) (err error) {
		if err := m.expect(ctx, conn); err != nil {
			return err
		}
		subscribed, err = m.subscribed(ctx, conn)
		return err
	}); err != nil {
		return err
	}
	followed := false
	if err := m.on(ctx, m.source, func(conn *pgx.Conn) (err error) {
		if err := m.addTriggers(ctx, conn); err != nil {
			return err
		}
		followed, err = m.publish(ctx, conn, subscribed)
		return err
	}); err != nil {
		return err
	}
	return m.on(ctx, m.target, func(conn *pgx.Conn) error {
		if subscribed && !followed {
			m.Tell("The slot of the move is gone from " + m.source.Name + ", as after a failover: copying anew.")
			if err := m.unsubscribe(ctx, conn); err != nil {
				return err
			}
			subscribed = false
		}
		if subscribed {
			return nil
		}
		if err := m.clear(ctx, conn, m.tables); err != nil {
			return err
		}
		return m.subscribe(ctx, conn)
	})
}

// expectAccount has the target note that the account is in the source, unless the account is in the target.
const expectAccount = `INSERT INTO moved_accounts (account_id, database, epoch)
SELECT $1, $2, $3::bigint - 1 WHERE NOT EXISTS (SELECT FROM accounts WHERE id = $1)
	OR EXISTS (SELECT FROM moved_accounts WHERE account_id = $1)
ON CONFLICT (account_id) DO UPDATE SET database = excluded.database, epoch = excluded.epoch WHERE moved_accounts.epoch <= excluded.epoch`

// expect notes in the target that the account is not there yet, so that nothing works on its rows.
func (m *move) expect(ctx context.Context, conn *pgx.Conn) error {
	return m.locked(ctx, conn, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, expectAccount, m.id(), m.source.Name, m.epoch)
		if err == nil && done.RowsAffected() == 0 {
			err = fmt.Errorf("%s has the account, which is not its: see prism databases repair", m.target.Name)
		}
		return err
	})
}

// locked calls do in a transaction that has the lock of the account.
func (m *move) locked(ctx context.Context, conn *pgx.Conn, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(move_lock($1))", m.id()); err != nil {
			return fmt.Errorf("locking the account: %w", err)
		}
		return do(tx)
	})
}

// trigger is the name of one of the triggers of a table.
func (m *move) trigger(kind string) string { return "prism_move_" + kind + "_" + m.short() }

// addTriggers has the tables of the source refuse changes of the account at the switch and after it. A trigger waits until what has changed a
// table has ended, so whatever changes it later meets the trigger.
func (m *move) addTriggers(ctx context.Context, conn *pgx.Conn) error {
	for _, t := range m.tables {
		if err := m.changeTriggers(ctx, conn, t, fmt.Sprintf(`CREATE OR REPLACE TRIGGER %[1]s BEFORE INSERT OR UPDATE ON %[3]s
FOR EACH ROW WHEN (NEW.%[4]s = %[5]s) EXECUTE FUNCTION refuse_moved(%[5]s);
CREATE OR REPLACE TRIGGER %[2]s BEFORE DELETE ON %[3]s
FOR EACH ROW WHEN (OLD.%[4]s = %[5]s) EXECUTE FUNCTION refuse_moved(%[5]s)`,
			m.trigger("write"), m.trigger("delete"), t.name, t.account, literal(m.id()))); err != nil {
			return err
		}
	}
	return nil
}

// dropTriggers ends what addTriggers began.
func (m *move) dropTriggers(ctx context.Context, conn *pgx.Conn) error {
	for _, t := range m.tables {
		if err := m.changeTriggers(ctx, conn, t, fmt.Sprintf("DROP TRIGGER IF EXISTS %[1]s ON %[3]s; DROP TRIGGER IF EXISTS %[2]s ON %[3]s",
			m.trigger("write"), m.trigger("delete"), t.name)); err != nil {
			return err
		}
	}
	return nil
}

// unlocked are Postgres's codes for the end of lock_timeout, and for a deadlock.
func unlocked() []string { return []string{"55P03", "40P01"} }

// changeTriggers changes a table in a transaction that waits for its lock only so long as calls that wait behind it do not mind, and tries again.
func (m *move) changeTriggers(ctx context.Context, conn *pgx.Conn, t table, statements string) error {
	for {
		_, err := conn.Exec(ctx, "BEGIN; SET LOCAL lock_timeout = '50ms'; "+statements+"; COMMIT")
		if err == nil {
			return nil
		}
		if refusal, ok := errors.AsType[*pgconn.PgError](err); !ok || !slices.Contains(unlocked(), refusal.Code) {
			return fmt.Errorf("changing the triggers of %s: %w", t.name, err)
		}
		if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
			return fmt.Errorf("changing the triggers of %s: %w", t.name, err)
		}
		if err := pause(ctx, lockPause); err != nil {
			return err
		}
	}
}

const (
	hasPublication = `SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)`
	hasSlot        = `SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND coalesce(wal_status, '') <> 'lost')`
	addSlot        = `SELECT pg_create_logical_replication_slot($1, 'pgoutput')`
)

// publish publishes the rows of the account, and keeps the log for the target. followed is false if what the target has subscribed is gone.
func (m *move) publish(ctx context.Context, conn *pgx.Conn, subscribed bool) (followed bool, err error) {
	var published, slotted bool
	if err := errors.Join(
		conn.QueryRow(ctx, hasPublication, m.replica()).Scan(&published), conn.QueryRow(ctx, hasSlot, m.replica()).Scan(&slotted),
	); err != nil {
		return false, fmt.Errorf("looking for the publication: %w", err)
	}
	if !published {
		var tables []string
		for _, t := range only(m.tables, Replicated) {
			tables = append(tables, fmt.Sprintf("%s WHERE (%s = %s)", t.name, t.account, literal(m.id())))
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE PUBLICATION %s FOR TABLE %s WITH (publish_via_partition_root = true)",
			m.replica(), strings.Join(tables, ", "))); err != nil {
			return false, fmt.Errorf("publishing the tables: %w", err)
		}
	}
	if slotted && published {
		return subscribed, nil
	}
	// A slot from before the publication cannot decode what it publishes.
	if err := m.dropSlot(ctx, conn); err != nil {
		return false, err
	}
	if _, err := conn.Exec(ctx, addSlot, m.replica()); err != nil {
		return false, fmt.Errorf("making the replication slot: %w", err)
	}
	return false, nil
}

const hasSubscription = `SELECT EXISTS (SELECT FROM pg_subscription WHERE subname = $1
	AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()))`

func (m *move) subscribed(ctx context.Context, conn *pgx.Conn) (is bool, err error) {
	if err := conn.QueryRow(ctx, hasSubscription, m.replica()).Scan(&is); err != nil {
		return false, fmt.Errorf("looking for the subscription: %w", err)
	}
	return is, nil
}

// subscribe has the target copy what the source publishes, and follow it. Its commits are as durable as those of calls.
func (m *move) subscribe(ctx context.Context, conn *pgx.Conn) error {
	info, err := m.source.connInfo()
	if err != nil {
		return err
	}
	statement := fmt.Sprintf(`CREATE SUBSCRIPTION %[1]s CONNECTION %[2]s PUBLICATION %[1]s
WITH (create_slot = false, slot_name = %[3]s, copy_data = true, enabled = true, synchronous_commit = 'on')`, m.replica(), literal(info), literal(m.replica()))
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("subscribing in %s to %s: %w", m.target.Name, m.source.Name, err)
	}
	return nil
}

// unsubscribe drops the subscription, also if the source is away. It can be repeated.
func (m *move) unsubscribe(ctx context.Context, conn *pgx.Conn) error {
	is, err := m.subscribed(ctx, conn)
	if err != nil || !is {
		return err
	}
	for _, change := range []string{"ALTER SUBSCRIPTION %s DISABLE", "ALTER SUBSCRIPTION %s SET (slot_name = NONE)", "DROP SUBSCRIPTION %s"} {
		if _, err := conn.Exec(ctx, fmt.Sprintf(change, m.replica())); err != nil {
			return fmt.Errorf("ending the subscription of %s: %w", m.target.Name, err)
		}
	}
	return nil
}

const (
	endSlotUse = `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1 AND active_pid IS NOT NULL`
	removeSlot = `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1`
	objectUsed = "55006" // Postgres's code for a slot that is in use
)

// dropSlot has the source no longer keep the log. It can be repeated.
func (m *move) dropSlot(ctx context.Context, conn *pgx.Conn) error {
	for {
		if _, err := conn.Exec(ctx, endSlotUse, m.replica()); err != nil {
			return fmt.Errorf("ending the use of the replication slot: %w", err)
		}
		_, err := conn.Exec(ctx, removeSlot, m.replica())
		if refusal, ok := errors.AsType[*pgconn.PgError](err); !ok || refusal.Code != objectUsed {
			if err != nil {
				err = fmt.Errorf("dropping the replication slot: %w", err)
			}
			return err
		}
		if err := pause(ctx, poll); err != nil {
			return err
		}
	}
}

const (
	countCopied = `SELECT count(*) FILTER (WHERE r.srsubstate = 'r'), count(*),
	coalesce((SELECT t.apply_error_count + t.sync_error_count FROM pg_stat_subscription_stats t WHERE t.subid = s.oid), 0)
FROM pg_subscription s JOIN pg_subscription_rel r ON r.srsubid = s.oid WHERE s.subname = $1 GROUP BY s.oid`
	isFlushed  = `SELECT confirmed_flush_lsn >= $2::text::pg_lsn FROM pg_replication_slots WHERE slot_name = $1`
	markOfLog  = `SELECT pg_logical_emit_message(true, 'prism', 'a mark')::text`
	bytesToGo  = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::bigint FROM pg_replication_slots WHERE slot_name = $1`
	noteOfLag  = "%s has %d of %d tables, %d errors of replication (its log tells them)"
	noteOfTail = "%s follows, %d bytes behind"
)

// copy waits until the target has all tables, and follows.
func (m *move) copy(ctx context.Context) error {
	told := time.Now()
	tell := func(line string) {
		if time.Since(told) > tellEvery {
			told = time.Now()
			m.Tell(line)
		}
	}
	err := m.on(ctx, m.target, func(conn *pgx.Conn) error {
		for {
			var copied, all, errs int64
			if err := conn.QueryRow(ctx, countCopied, m.replica()).Scan(&copied, &all, &errs); err != nil {
				return fmt.Errorf("looking at the subscription: %w", err)
			}
			if copied == all {
				return nil
			}
			tell(fmt.Sprintf(noteOfLag, m.target.Name, copied, all, errs))
			if err := pause(ctx, poll); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	return m.on(ctx, m.source, func(conn *pgx.Conn) error {
		return m.catchUp(ctx, conn, func() error {
			var behind int64
			if err := conn.QueryRow(ctx, bytesToGo, m.replica()).Scan(&behind); err != nil {
				return err
			}
			tell(fmt.Sprintf(noteOfTail, m.target.Name, behind))
			return nil
		})
	})
}

// catchUp waits until the target has what the source has committed now. conn is to be in no transaction: its mark reaches the disk with what
// was committed before, which the sender of the log waits for.
func (m *move) catchUp(ctx context.Context, conn *pgx.Conn, waiting func() error) error {
	var mark string
	if err := conn.QueryRow(ctx, markOfLog).Scan(&mark); err != nil {
		return fmt.Errorf("marking the log: %w", err)
	}
	for {
		var flushed bool
		if err := conn.QueryRow(ctx, isFlushed, m.replica(), mark).Scan(&flushed); errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("the slot of the move is gone from %s: begin the move again, which copies anew", m.source.Name)
		} else if err != nil {
			return fmt.Errorf("looking at the replication slot: %w", err)
		}
		if flushed {
			return nil
		}
		if waiting != nil {
			if err := waiting(); err != nil {
				return err
			}
		}
		if err := pause(ctx, poll/10); err != nil {
			return err
		}
	}
}

// detach drops what made the target follow the source: from now on deletions in the source stay there.
func (m *move) detach(ctx context.Context) error {
	if err := m.on(ctx, m.target, func(conn *pgx.Conn) error { return m.unsubscribe(ctx, conn) }); err != nil {
		return err
	}
	return m.on(ctx, m.source, func(conn *pgx.Conn) error {
		if err := m.dropSlot(ctx, conn); err != nil {
			return err
		}
		return m.unpublish(ctx, conn)
	})
}

// execer is a connection or a transaction.
type execer interface {
	Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error)
}

func (m *move) unpublish(ctx context.Context, conn execer) error {
	if _, err := conn.Exec(ctx, "DROP PUBLICATION IF EXISTS "+m.replica()); err != nil {
		return fmt.Errorf("dropping the publication: %w", err)
	}
	return nil
}

// takeBack ends the move before its switch.
func (m *move) takeBack(ctx context.Context) error {
	// Without its publication no mover switches, whatever it did before.
	if err := m.on(ctx, m.source, func(conn *pgx.Conn) error {
		return m.locked(ctx, conn, func(tx pgx.Tx) error {
			var decided bool
			if err := tx.QueryRow(ctx, readDecision, m.id(), m.epoch).Scan(&decided); err != nil {
				return err
			} else if decided {
				return ErrSwitched
			}
			return m.unpublish(ctx, tx)
		})
	}); err != nil {
		return err
	}
	if err := m.on(ctx, m.target, func(conn *pgx.Conn) error {
		if err := m.unsubscribe(ctx, conn); err != nil {
			return err
		}
		var expected bool
		if err := conn.QueryRow(ctx, isAway, m.id()).Scan(&expected); err != nil || !expected {
			return err // without what it notes first, nothing has arrived
		}
		return m.clear(ctx, conn, m.tables)
	}); err != nil {
		return err
	}
	if err := m.on(ctx, m.source, func(conn *pgx.Conn) error {
		return errors.Join(m.dropSlot(ctx, conn), m.dropTriggers(ctx, conn))
	}); err != nil {
		return err
	}
	return m.end(ctx)
}

// finish ends a move whose old rows are gone.
func (m *move) finish(ctx context.Context) error {
	if err := m.on(ctx, m.source, func(conn *pgx.Conn) error { return m.dropTriggers(ctx, conn) }); err != nil {
		return err
	}
	return m.end(ctx)
}

func (m *move) end(ctx context.Context) error {
	if _, err := m.home.Exec(ctx, endMove, m.id()); err != nil {
		return fmt.Errorf("recording the end of the move: %w", err)
	}
	return nil
}
