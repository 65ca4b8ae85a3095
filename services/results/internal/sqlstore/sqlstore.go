// Package sqlstore implements Store, which has everything that Prism stores, by statements that Postgres and SQLite share.
package sqlstore

import (
	"context"

	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Statements is a Store in a Database.
type Statements struct {
	sqldb.Database
	auditSQL
	changesSQL
}

type (
	auditSQL   = audit.SQL
	changesSQL = changes.SQL
)

// New is the Store in a database.
func New(db sqldb.Database) Statements {
	return Statements{db, auditSQL{Database: db}, changesSQL{Database: db}}
}

var _ Store = Statements{}

// Store keeps everything that Prism stores. Looking up an API key that is unknown or revoked is no error: the Caller is then
// the zero value.
type Store interface {
	store.Results
	store.Definitions
	store.Listing
	store.Keys
	audit.Store
	store.Limits
	store.Usage
	changes.Store
	store.Deletions
	store.Files
	store.Contents
	store.Runs
	store.Members
	store.Sessions
	store.Retries
	store.Labels
	store.Calibrations
	store.Drift
	store.Clocks

	// Ping checks that the database answers.
	Ping(ctx context.Context) error
	// Full tells whether the disk is known to be full, so that little more than deletions is written: other changes are ErrFull.
	Full() bool
	// ProbeWrite checks that the database can save a result: it writes one, takes it back and commits. It returns an error
	// if a save would fail too.
	ProbeWrite(ctx context.Context) error
	// Close releases the connections. The store must not be used afterwards.
	Close()
}
