package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: audit-append-only
func TestTheDatabaseRefusesToChangeTheAudit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prism.db")
	if err := Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	account, by := prism.AccountID{UUID: prism.UUID{1}}, storetest.By()
	if err := s.CreateAccount(t.Context(), account, "a", by); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"UPDATE audit SET actor_name = 'nobody'", "DELETE FROM audit"} {
		err := s.Database.(*database).write(t.Context(), fair.Yielding, "change", func(conn *sqlite.Conn) error { return execute(conn, statement) })
		if code, known := errors.AsType[codeError](err); !known || code.ResultCode != sqlite.ResultConstraintTrigger {
			t.Errorf("%s: %v", statement, err)
		}
	}
	entries, _, err := s.ListAudit(t.Context(), account, audit.Filter{}, store.Page{Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].Actor != by.Actor {
		t.Errorf("got %+v, %v", entries, err)
	}
}
