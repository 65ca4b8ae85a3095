// Package sqlstore implements store.Store by statements that Postgres and SQLite share.
package sqlstore

import (
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store is a store.Store in a Database.
type Store struct{ sqldb.Database }

var _ store.Store = Store{}
