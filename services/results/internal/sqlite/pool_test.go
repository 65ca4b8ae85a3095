package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: fair-connections
func TestAccountsShareTheConnections(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "prism.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	reader := s.Database.(*database).reader
	storetest.Share(t, s, cap(reader.free), reader.places.Waiting)
}
