// Package sqlitetest opens throwaway stores for tests.
package sqlitetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/prism-results/prism/services/results/internal/sqlite"
)

// New is an empty store in a file of its own, until the test ends.
func New(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(File(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// File is the path of a file with an empty store, which is removed when the test ends.
func File(t testing.TB) string {
	t.Helper()
	content, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "prism.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// empty is the content of a file with an empty store, made once: the migrations take half a second under the race detector.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "prism-sqlitetest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "prism.db")
	if err := sqlite.Migrate(context.Background(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
