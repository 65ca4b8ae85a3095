// Package sqlite implements sqlstore.Store in one SQLite file, for the standalone program. Operator commands may open the
// same file while a server runs.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// busyTimeout bounds how long a statement waits for another process that writes.
const busyTimeout = 5 * time.Second

// Store is a sqlstore.Store in an SQLite file.
type Store struct{ sqlstore.Statements }

// database executes the statements of package sqlstore.
//
// SQLite has one writer at a time. So writes queue for the only connection of writer, and never get SQLITE_BUSY
// because of their own process; a queued write ends with its context. Reads use other connections, which a writer does not
// block (WAL mode).
type database struct {
	reader, writer *pool
	room           *room
}

// Open opens the file and creates it if it is missing. Migrate creates the tables, before or after.
func Open(path string) (*Store, error) {
	if err := create(path); err != nil {
		return nil, err
	}
	d := &database{
		room:   newRoom(path),
		reader: newPool(path, max(4, runtime.GOMAXPROCS(0)), "PRAGMA query_only = on"),
		// A power failure must not lose a result whose response was sent: NORMAL could lose the last commits.
		// What is deleted is overwritten with zeros (spec: deleted-bytes).
		writer: newPool(path, 1, "PRAGMA synchronous = full", "PRAGMA foreign_keys = on", "PRAGMA secure_delete = on"),
	}
	if err := d.room.open(d.writer.connect); err != nil {
		return nil, err
	}
	return &Store{sqlstore.New(d)}, nil
}

// create creates the file if it is missing. SQLite would create a file that everybody may read, and its log files copy the
// mode of this one.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the file
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return nil
}

// Ping checks that the file answers.
func (d *database) Ping(ctx context.Context) error {
	return d.reader.use(ctx, fair.Preferred, "ping", func(conn *sqlite.Conn) error { return execute(conn, "SELECT 1") })
}

// Close closes the file. The last connection that is closed, the writer's, moves the log into the file.
func (d *database) Close() {
	d.reader.close()
	d.writer.close()
	d.room.rest()
}

// LookUp implements sqldb.Database. A look-up that has begun is not interrupted when its context ends. SQLite waits only
// for another process that recovers the log, at most busyTimeout.
func (d *database) LookUp(ctx context.Context, s sqldb.Statement, read func(*sqldb.Row)) error {
	return d.reader.use(ctx, fair.Preferred, s.Operation, func(conn *sqlite.Conn) error {
		_, err := find(conn, s.Text, s.Args, read)
		return err
	})
}

// Run implements sqldb.Database.
func (d *database) Run(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
	if !s.ReadOnly {
		return d.write(ctx, fair.Yielding, s.Operation, func(conn *sqlite.Conn) error { return query(conn, s, read) })
	}
	return d.reader.use(ctx, fair.Yielding, s.Operation, func(conn *sqlite.Conn) error {
		conn.SetInterrupt(ctx.Done())
		defer conn.SetInterrupt(nil)
		err := query(conn, s, read)
		if ctx.Err() != nil {
			return unavailable(s.Operation, ctx.Err())
		}
		return err
	})
}

// Transaction implements sqldb.Database.
func (d *database) Transaction(ctx context.Context, operation string, fn func(sqldb.Run) error) error {
	return d.write(ctx, fair.Yielding, operation, func(conn *sqlite.Conn) error {
		return fn(sqldb.NameSteps(func(_ context.Context, s sqldb.Statement, read sqldb.Reader) error { return query(conn, s, read) }))
	})
}

// write calls fn in a transaction; no other writer runs at the same time. An error of fn rolls the transaction back.
//
// The end of ctx ends only the wait for the connection: a write waits for nothing but the disk, or at most busyTimeout for
// another process.
func (d *database) write(ctx context.Context, class fair.Class, operation string, fn func(*sqlite.Conn) error) error {
	if err := d.room.admit(operation); err != nil {
		return err
	}
	return d.room.attempt(func() error { return d.writeOnce(ctx, class, operation, fn) })
}

func (d *database) writeOnce(ctx context.Context, class fair.Class, operation string, fn func(*sqlite.Conn) error) error {
	return d.writer.use(ctx, class, operation, func(conn *sqlite.Conn) (err error) {
		// A transaction that begins as a reader fails when it writes after another transaction has written.
		if err := execute(conn, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		defer func() {
			if !conn.AutocommitEnabled() { // SQLite rolls back after some errors itself
				err = errors.Join(err, execute(conn, "ROLLBACK"))
			}
		}()
		if err := fn(conn); err != nil {
			return err
		}
		return execute(conn, "COMMIT")
	})
}

// Fold implements changes.Store. Triggers number each change, and add each result to the sums.
func (d *database) Fold(context.Context) error { return nil }

// FoldAll implements changes.Store.
func (d *database) FoldAll(context.Context) error { return nil }

// TouchKeys implements sqldb.Database.
func (d *database) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	const touchKey = `UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), $2) WHERE id = $1`
	return d.write(ctx, fair.Yielding, "touch keys", func(conn *sqlite.Conn) error {
		for id, at := range used {
			if err := execute(conn, touchKey, id.UUID, at); err != nil {
				return err
			}
		}
		return nil
	})
}
