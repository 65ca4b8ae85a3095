package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// removedAtOnce is how many rows of a table are deleted in one transaction.
const removedAtOnce = 2000

// isAway reports whether the account is not in a database.
const isAway = `SELECT EXISTS (SELECT FROM moved_accounts WHERE account_id = $1)`

// away calls do in a transaction of a database in which the account is not, nor comes to be before the transaction ends. No trigger fires.
func (m *move) away(ctx context.Context, conn *pgx.Conn, do func(pgx.Tx) error) error {
	return m.locked(ctx, conn, func(tx pgx.Tx) error {
		var is bool
		if err := tx.QueryRow(ctx, isAway, m.id()).Scan(&is); err != nil {
			return fmt.Errorf("looking where the account is: %w", err)
		}
		if !is {
			return errors.New("the account is here: nothing is deleted or carried")
		}
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			return fmt.Errorf("leaving out triggers: %w", err)
		}
		return do(tx)
	})
}

// clear deletes the rows of the account in a database that the account is not in, and what arrived there.
func (m *move) clear(ctx context.Context, conn *pgx.Conn, tables []table) error {
	if err := m.away(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM arriving_rows WHERE account_id = $1", m.id())
		return err
	}); err != nil {
		return fmt.Errorf("removing what arrived: %w", err)
	}
	told, removed := time.Now(), int64(0)
	for _, t := range slices.Backward(tables) {
		var after []string
		for more := true; more; {
			began := time.Now()
			err := m.away(ctx, conn, func(tx pgx.Tx) (err error) {
				var n int64
				n, after, more, err = m.removeSome(ctx, tx, t, after)
				removed += n
				return err
			})
			if err != nil {
				return fmt.Errorf("deleting rows of %s: %w", t.name, err)
			}
			if time.Since(told) > tellEvery {
				told = time.Now()
				m.Tell(fmt.Sprintf("Deleted %d rows.", removed))
			}
			if more { // half of the time is for others
				if err := pause(ctx, time.Since(began)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// removeSome deletes rows of a table behind a key, and returns how many, and the last key.
func (m *move) removeSome(ctx context.Context, tx pgx.Tx, t table, after []string) (removed int64, last []string, more bool, err error) {
	if len(t.keys) == 0 {
		done, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s = $1", t.name, t.account), m.id())
		return done.RowsAffected(), nil, false, err
	}
	behind, args := "", []any{m.id()}
	if after != nil {
		behind = fmt.Sprintf(" AND (%s) > (%s)", t.keyList(0), t.keyList(2))
		for _, text := range after {
			args = append(args, text)
		}
	}
	var texts, descending string
	for i, k := range t.keys {
		if i > 0 {
			texts, descending = texts+", ", descending+", "
		}
		texts, descending = texts+k.name+"::text", descending+k.name+" DESC"
	}
	statement := fmt.Sprintf(`WITH part AS (SELECT %[3]s FROM %[1]s WHERE %[2]s = $1%[4]s ORDER BY %[3]s LIMIT %[5]d),
gone AS (DELETE FROM %[1]s WHERE %[2]s = $1 AND (%[3]s) IN (SELECT %[3]s FROM part) RETURNING 1)
SELECT (SELECT count(*) FROM gone), (SELECT ARRAY[%[6]s] FROM part ORDER BY %[7]s LIMIT 1)`,
		t.name, t.account, t.keyList(0), behind, removedAtOnce, texts, descending)
	err = tx.QueryRow(ctx, statement, args...).Scan(&removed, &last)
	return removed, last, len(last) > 0, err
}

// remove deletes the old rows.
func (m *move) remove(ctx context.Context) error {
	m.Tell("Deleting the rows in " + m.source.Name + ".")
	return m.on(ctx, m.source, func(conn *pgx.Conn) error { return m.clear(ctx, conn, m.tables) })
}
