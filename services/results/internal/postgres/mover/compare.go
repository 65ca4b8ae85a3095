package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// sum is how many rows of the account a table has, and a sum of their hashes.
type sum struct {
	rows int64
	hash string
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

// sums are those of tables, in their order. Numbers that Postgres gives to rows are not in them.
func (m *move) sums(ctx context.Context, conn querier, tables []table) ([]sum, error) {
	parts := make([]string, 0, len(tables))
	for i, t := range tables {
		parts = append(parts, fmt.Sprintf(
			"SELECT %d AS place, count(*), coalesce(sum(('x' || left(md5(ROW(%s)::text), 16))::bit(64)::bigint::numeric), 0)::text FROM %s WHERE %s = $1",
			i, t.columns, t.name, t.account))
	}
	rows, err := conn.Query(ctx, strings.Join(parts, "\nUNION ALL ")+"\nORDER BY place", m.id())
	if err != nil {
		return nil, fmt.Errorf("summing rows: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sum, err error) {
		var place int
		err = row.Scan(&place, &s.rows, &s.hash)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("summing rows: %w", err)
	}
	return all, nil
}

// differences is ErrDifferent with the tables whose sums are not the same.
func differences(tables []table, source, target []sum) error {
	var names []string
	for i, t := range tables {
		if source[i] != target[i] {
			names = append(names, fmt.Sprintf("%s (%d rows, and %d)", t.name, source[i].rows, target[i].rows))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDifferent, strings.Join(names, ", "))
}

// snapshot is a connection that sees a database as it was when take was called.
type snapshot struct {
	*pgx.Conn
	name string
	end  func()
}

// newSnapshot connects to a database, which takes longer than what follows it under the lock.
func newSnapshot(ctx context.Context, db Database) (*snapshot, error) {
	conn, err := db.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", db.Name, err)
	}
	return &snapshot{conn, db.Name, func() { end(ctx, conn) }}, nil
}

func (s *snapshot) take(ctx context.Context) error {
	if _, err := s.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SELECT FROM moved_accounts"); err != nil {
		return fmt.Errorf("taking a snapshot of %s: %w", s.name, err)
	}
	return nil
}

// compareBefore compares the replicated rows of both sides as they are at one moment, for which writes are locked out. Calls go on meanwhile.
func (m *move) compareBefore(ctx context.Context) error {
	var last error
	for range switchTries {
		var different error
		last = m.snapshots(ctx, func(source, target *snapshot) error {
			err := m.lockedOut(ctx, func(bounded context.Context, _ *sides) error {
				return errors.Join(source.take(bounded), target.take(bounded))
			})
			if err == nil {
				different = m.compare(ctx, source, target)
			}
			return err
		})
		if last == nil {
			return different
		}
		m.Tell(fmt.Sprintf("Not compared yet: %v", last))
		if err := pause(ctx, switchPause); err != nil {
			return err
		}
	}
	return last
}

// snapshots calls do with one of each side.
func (m *move) snapshots(ctx context.Context, do func(source, target *snapshot) error) error {
	source, err := newSnapshot(ctx, m.source)
	if err != nil {
		return err
	}
	defer source.end()
	target, err := newSnapshot(ctx, m.target)
	if err != nil {
		return err
	}
	defer target.end()
	return do(source, target)
}

// compare compares the replicated tables one after the other, each on both sides at the same time.
func (m *move) compare(ctx context.Context, source, target querier) error {
	tables := only(m.tables, Replicated)
	var rows int64
	var there, here []sum
	for t := range slices.Chunk(tables, 1) {
		read := make(chan error, 1)
		var got []sum
		go func() {
			var err error
			got, err = m.sums(ctx, target, t)
			read <- err
		}()
		want, err := m.sums(ctx, source, t)
		if other := <-read; err == nil {
			err = other
		}
		if err != nil {
			return fmt.Errorf("comparing %s: %w", t[0].name, err)
		}
		here, there, rows = append(here, want...), append(there, got...), rows+want[0].rows
	}
	if err := differences(tables, here, there); err != nil {
		return err
	}
	m.Tell(fmt.Sprintf("Compared: %d rows of %d tables are the same in both.", rows, len(tables)))
	return nil
}

// verify compares the source, where nothing changes since the switch, with the target as it was at the switch. If the mover of the switch is
// gone, so is what it saw, and the comparison before the switch is what there is.
func (m *move) verify(ctx context.Context) error {
	if m.seen == nil {
		m.Tell("Another mover switched: the rows were compared before the switch, and are not compared again.")
		return nil
	}
	defer m.forget()
	return m.on(ctx, m.source, func(conn *pgx.Conn) error { return m.compare(ctx, conn, m.seen) })
}
