// Package sqlite implements store.Store in one SQLite file, for the standalone program. Operator commands may open the
// same file while a server runs.
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
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/sqlite/litedb"
)

// busyTimeout bounds how long a statement waits for another process that writes.
const busyTimeout = 5 * time.Second

// Store is a store.Store in an SQLite file.
//
// SQLite has one writer at a time. So writes queue, in order, for the only connection of writer, and never get SQLITE_BUSY
// because of their own process; a queued write ends with its context. Reads use other connections, which a writer does not
// block (WAL mode).
type Store struct {
	writer  *sql.DB
	reader  *sql.DB
	reads   *litedb.Queries // on reader
	lookups *lookups
}

var _ store.Store = (*Store)(nil)

// Open opens the file and creates it if it is missing. Migrate creates the tables, before or after.
func Open(path string) (*Store, error) {
	// SQLite would create a file that everybody may read. SQLite's log files copy the mode of this one.
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
	return &Store{writer: writer, reader: reader, reads: litedb.New(reader), lookups: newLookups(path, connections)}, nil
}

func open(path string, readOnly bool) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	q := url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_foreign_keys": {"on"},
		"_journal_mode": {"wal"},
		// A power failure must not lose a result whose response was sent: NORMAL could lose the last commits.
		"_synchronous": {"full"},
		// A transaction that begins as a reader fails when it writes after another transaction has written.
		"_txlock": {"immediate"},
		// An unknown name in double quotes is an error, not a string.
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

// Ping checks that the file answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return translate("ping", s.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one))
}

// Close closes the file.
func (s *Store) Close() {
	// The last connection that is closed, the writer's, moves the log into the file. If that fails nothing is lost:
	// committed transactions are in the log.
	s.lookups.close()
	_ = s.reader.Close()
	_ = s.writer.Close()
}

// write runs fn in a transaction; no other writer runs at the same time. An error of fn rolls the transaction back.
//
// The end of ctx ends only the wait for the connection. database/sql and the driver would each start a goroutine per
// statement to watch it, and a write waits for nothing but the disk, or at most busyTimeout for another process.
func (s *Store) write(
	ctx context.Context, operation string, fn func(ctx context.Context, q *litedb.Queries, tx *sql.Tx) error,
) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return unavailable(operation, err)
	}
	defer conn.Close() //nolint:errcheck // it returns to the pool, which can't fail
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return translate(operation, err)
	}
	if err := fn(ctx, litedb.New(tx), tx); err != nil {
		_ = tx.Rollback() // nothing is left to save, and the driver resets a connection whose rollback failed
		return translate(operation, err)
	}
	return translate(operation, tx.Commit())
}
