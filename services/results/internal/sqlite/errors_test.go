package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestAFileThatCanNotBeOpenedIsAnErrorAtTheStart(t *testing.T) {
	t.Parallel()
	if _, err := sqlite.Open(filepath.Join(t.TempDir(), "no such folder", "prism.db")); err == nil {
		t.Error("no error")
	}
}

func TestAFileThatIsNoDatabaseIsAFault(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "prism.db")) // without its tables
	_, err := s.AccountByName(t.Context(), "a value that is nobody's business")
	if err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("got %v, want a fault", err)
	}
	if strings.Contains(err.Error(), "business") {
		t.Errorf("%q tells a value", err)
	}
}

func TestAWriteThatWaitsInVainHasDoneNothing(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	s := open(t, path)
	blocker, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	// The test's context would end before the cleanups and roll the transaction back too early.
	tx, err := blocker.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(tx.Rollback(), blocker.Close()); err != nil {
			t.Error(err)
		}
	})
	account := prism.AccountID{UUID: prism.UUID{1}}
	if err := s.CreateAccount(t.Context(), account, "a", storetest.By()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, store.ErrUnavailable)
	}
	if _, err := s.AccountByName(t.Context(), "a"); !errors.Is(err, store.ErrNotFound) { // readers don't wait for writers
		t.Errorf("got %v, want %v", err, store.ErrNotFound)
	}
}

func TestAWriteThatDoesNotGetItsTurnHasDoneNothing(t *testing.T) {
	t.Parallel()
	s := open(t, sqlitetest.File(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.CreateAccount(ctx, prism.AccountID{UUID: prism.UUID{1}}, "a", storetest.By())
	if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v and %v", err, store.ErrUnavailable, context.Canceled)
	}
}

// ending is a context that ends when it was looked at once.
type ending struct {
	context.Context
	looked atomic.Bool
}

func (e *ending) Err() error {
	if e.looked.Swap(true) {
		return context.DeadlineExceeded
	}
	return nil
}

func TestAReadThatIsCutOffIsUnavailable(t *testing.T) {
	t.Parallel()
	s := open(t, sqlitetest.File(t))
	_, err := s.ListAccounts(&ending{Context: t.Context()})
	if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v and %v", err, store.ErrUnavailable, context.DeadlineExceeded)
	}
}
