package revocations

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// recordWait bounds how long a revocation waits for home, and records how many do at once: each has a connection and locks of its
	// database, whose other accounts do not wait for home.
	recordWait = 3 * time.Second
	records    = 4

	// revokes begins each statement that revokes keys. They are known by their text, so that none is forgotten.
	revokes   = `UPDATE api_keys SET revoked_at = $`
	returning = ` RETURNING id, revoked_at, expires_at`
)

// Database is a database that is not home. It records in home each key that its statements revoke, before they are committed.
type Database struct {
	sqldb.Database
	Deps
	recording chan struct{}
	applying  sync.Mutex
	seen      mark // the one that this process has last seen in the database
	revived   atomic.Bool
}

// Deps are what a Database works with.
type Deps struct {
	Home  Home
	Name  string // of the database
	Now   func() time.Time
	NewID func() (prism.UUID, error)
	Log   *slog.Logger
}

// New has a database record its revocations.
func New(d sqldb.Database, deps Deps) *Database {
	return &Database{Database: d, Deps: deps, recording: make(chan struct{}, records)}
}

// Run implements sqldb.Database.
func (d *Database) Run(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
	if !strings.HasPrefix(s.Text, revokes) {
		return d.Database.Run(ctx, s, read)
	}
	return d.Transaction(ctx, s.Operation, func(run sqldb.Run) error { return run(ctx, s, read) })
}

// Transaction implements sqldb.Database.
func (d *Database) Transaction(ctx context.Context, operation string, fn func(run sqldb.Run) error) error {
	return d.Database.Transaction(ctx, operation, func(run sqldb.Run) error {
		return fn(func(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
			if !strings.HasPrefix(s.Text, revokes) {
				return run(ctx, s, read)
			}
			return d.revoke(ctx, run, s)
		})
	})
}

// revoke executes a statement that revokes keys and returns no row, and records the keys.
func (d *Database) revoke(ctx context.Context, run sqldb.Run, s sqldb.Statement) error {
	var revoked, valid []revocation
	s.Text += returning
	if err := run(ctx, s, sqldb.ReadRows(&revoked, func(r *sqldb.Row) revocation {
		return revocation{key: prism.KeyID{UUID: r.UUID()}, at: r.Time(), expires: r.OptionalTime()}
	})); err != nil {
		return err
	}
	for _, r := range revoked {
		if r.keptUntil().After(r.at) { // else it had ended
			valid = append(valid, r)
		}
	}
	if len(valid) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordWait)
	defer cancel()
	select {
	case d.recording <- struct{}{}:
		defer func() { <-d.recording }()
	case <-ctx.Done():
		return fmt.Errorf("recording revoked keys in home: %w: too many wait for home", store.ErrUnavailable)
	}
	if err := d.Home.record(ctx, d.Name, valid); err != nil {
		return fmt.Errorf("recording revoked keys in home: %w: %w", store.ErrUnavailable, err)
	}
	return nil
}
