package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/instrumented"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// The store is instrumented, as in the programs, so that the suite holds for the instruments too.
func TestStore(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry() // stores share one
	storetest.Run(t, func(t *testing.T) sqlstore.Store {
		t.Helper()
		path := sqlitetest.File(t)
		return deleting{sqlstore.New(instrumented.New(open(t, path).Database, metrics)), path}
	})
}

// deleting is a store whose results can be deleted.
type deleting struct {
	sqlstore.Statements
	path string
}

func (d deleting) DeleteSome(ctx context.Context, account prism.AccountID) error {
	db, err := sql.Open("sqlite", d.path+"?_busy_timeout=5000")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "DELETE FROM results WHERE account_id = $1 AND substr(hex(id), 32) IN ('0', '3', '6', '9', 'C', 'F')", account.UUID[:])
	return errors.Join(err, db.Close())
}

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
