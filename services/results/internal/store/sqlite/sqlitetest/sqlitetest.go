// Package sqlitetest opens throwaway stores for tests.
package sqlitetest

import (
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/services/results/internal/store/sqlite"
)

// New is an empty store in a file of its own, until the test ends.
func New(t testing.TB) *sqlite.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prism.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
