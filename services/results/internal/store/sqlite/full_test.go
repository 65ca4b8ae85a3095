package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/storetest"
)

// spec: unwritable-store
func TestAFullFileIsUnwritableUntilItHasRoom(t *testing.T) {
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
	account, id := prism.AccountID{UUID: prism.UUID{1}}, prism.PrismID{UUID: prism.UUID{2}}
	if err := errors.Join(
		s.CreateAccount(t.Context(), account, "a", storetest.By()),
		s.CreatePrism(t.Context(), account, prism.Prism{ID: id, Slug: "triage", Latest: prism.Version{Number: 1}}, storetest.By()),
	); err != nil {
		t.Fatal(err)
	}
	ids := byte(0)
	save := func() error {
		ids++
		_, err := s.SaveResult(t.Context(), account, prism.Result{
			ID: prism.ResultID{UUID: prism.UUID{3, ids}}, Prism: id, Version: 1, Status: prism.Failed, Error: "no answer",
			Context: strings.Repeat("x", 50_000),
		})
		return err
	}
	limit := func(pages int) {
		t.Helper()
		// The writer has one connection, to which the pragma applies.
		err := s.Database.(*database).writer.use(t.Context(), fair.Yielding, "limit", func(conn *sqlite.Conn) error {
			return execute(conn, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(save(), s.ProbeWrite(t.Context())); err != nil {
		t.Fatal(err)
	}
	limit(1) // not less than the file has
	for err = save(); err == nil; err = save() {
	}
	if !errors.Is(err, store.ErrUnwritable) || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a save in a full file: %v", err)
	}
	if err := s.ProbeWrite(t.Context()); !errors.Is(err, store.ErrUnwritable) {
		t.Errorf("a probe of a full file: %v", err)
	}
	limit(1 << 20)
	if err := errors.Join(s.ProbeWrite(t.Context()), save()); err != nil {
		t.Errorf("with room: %v", err)
	}
}
