// Package sqlite keeps results in one SQLite file, for the standalone binary. Operator commands may open the same file
// beside a running server.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	_ "modernc.org/sqlite" // the driver

	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/sqlite/litedb"
)

// busyTimeout is how long a statement waits for another process that writes, in milliseconds.
const busyTimeout = 5000

// Store is a store.Store in an SQLite file.
//
// SQLite has one writer at a time, so writes queue for the one connection of writer, in order and bounded by their
// contexts, and never meet SQLITE_BUSY from their own process. Reads have connections of their own, which writing does not
// block (WAL).
type Store struct {
	writer  *sql.DB
	reader  *sql.DB
	reads   *litedb.Queries
	lookups *lookups // of the hot path
}

var _ store.Store = (*Store)(nil)

// Open opens the file, which Migrate has made or will make.
func Open(path string) (*Store, error) {
	// Made here, for SQLite would make it readable to all. Its log files take over the mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	writer, err := open(path, false)
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	reader, err := open(path, true)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	connections := max(4, runtime.GOMAXPROCS(0))
	reader.SetMaxOpenConns(connections)
	reader.SetMaxIdleConns(connections)
	return &Store{
		writer: writer, reader: reader, reads: litedb.New(reader), lookups: newLookups(path, connections),
	}, nil
}

func open(path string, readOnly bool) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	q := url.Values{
		"_busy_timeout": {strconv.Itoa(busyTimeout)},
		"_foreign_keys": {"on"},
		"_journal_mode": {"wal"},
		// A saved result is durable before its response is sent: NORMAL would lose the last commits with the power.
		"_synchronous": {"full"},
		// A transaction that begins as a reader and then writes fails when another has written since.
		"_txlock": {"immediate"},
		// A double-quoted name that is not one is a mistake, not a string.
		"_dqs": {"false"},
	}
	if readOnly {
		q.Set("_query_only", "on")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return db, nil
}

// Ping tells whether the file answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return translate("ping", s.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one))
}

// Close closes the file.
func (s *Store) Close() {
	// Closing in this order lets the last connection, the writer's, move the log into the file. Losing that costs nothing:
	// what is committed is in the log.
	s.lookups.close()
	_ = s.reader.Close()
	_ = s.writer.Close()
}

// write runs fn in a transaction that no other writer runs beside. An error of fn undoes everything and is returned as it
// is; fn translates those of the driver.
func (s *Store) write(ctx context.Context, operation string, fn func(q *litedb.Queries, tx *sql.Tx) error) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return unavailable(operation, err)
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool, which can't fail
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return translate(operation, err)
	}
	if err := fn(litedb.New(tx), tx); err != nil {
		_ = tx.Rollback() // an error leaves nothing to save, and the driver resets a connection that failed to roll back
		return err
	}
	return translate(operation, tx.Commit())
}
