package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/instrumented"
	"github.com/prism-results/prism/services/results/internal/store/sqlite"
	"github.com/prism-results/prism/services/results/internal/store/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store/storetest"
)

// The store is instrumented, as in the programs, so that the suite holds for the instruments too.
func TestStore(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry() // stores share one
	storetest.Run(t, func(t *testing.T) store.Store {
		t.Helper()
		return sqlstore.Store{Database: instrumented.New(open(t, migrated(t)).Database, metrics)}
	})
}

// migrated is the path of a new file.
func migrated(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prism.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
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
