package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// answered is a store with one result, the path of its file, and the key and id to look the result up.
func answered(tb testing.TB) (s *sqlite.Store, path string, digest contract.KeyDigest, id prism.ResultID) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "prism.db")
	var err error
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	must(sqlite.Migrate(tb.Context(), path))
	s, err = sqlite.Open(path)
	must(err)
	tb.Cleanup(s.Close)
	account := prism.AccountID{UUID: prism.UUID{1}}
	digest, id = contract.KeyDigest{2}, prism.ResultID{UUID: prism.UUID{4}}
	must(s.CreateAccount(tb.Context(), account, "a", storetest.By()))
	must(s.CreateKey(tb.Context(), account, keys.APIKey{}, digest, 9, storetest.By()))
	p := prism.Prism{ID: prism.PrismID{UUID: prism.UUID{3}}, Slug: "triage", Latest: prism.Version{Number: 1}}
	must(s.CreatePrism(tb.Context(), account, p, storetest.By()))
	_, err = s.SaveResult(tb.Context(), account, prism.Result{ID: id, Prism: p.ID, Version: 1, Status: prism.Failed, Error: "e"})
	must(err)
	return s, path, digest, id
}

// A prepared statement that is not reset keeps its snapshot. A snapshot stops SQLite from moving the log into the file, so
// the log would grow for ever.
func TestALookUpLeavesNoSnapshotOpen(t *testing.T) {
	t.Parallel()
	s, path, digest, id := answered(t)
	query := contract.CreateQuery{Key: digest, Prism: prism.Ref{Slug: "triage"}, IdempotencyKey: "k"}
	for range 2 { // the second time from what is prepared
		if facts, err := s.ResultFacts(t.Context(), digest, id, store.WithInput); err != nil || facts.Result == nil {
			t.Fatal(facts, err)
		}
		if facts, err := s.CreateFacts(t.Context(), query); err != nil || facts.Prism == nil {
			t.Fatal(facts, err)
		}
		if facts, err := s.ResultFacts(t.Context(), contract.KeyDigest{9}, id, store.WithInput); err != nil || facts.Result != nil {
			t.Fatal("an unknown key finds a result", err)
		}
	}
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	var busy, log, moved int
	if err := other.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
		t.Fatal(err)
	}
	if busy != 0 || log != 0 {
		t.Errorf("the log can't be emptied: busy %d, %d pages, %d of them moved", busy, log, moved)
	}
}

// The look-ups fail on every connection before the tables exist, and succeed afterwards.
func TestAFailedLookUpDoesNotBreakTheNext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prism.db")
	s := open(t, path)
	for range 64 {
		_, err := s.ResultFacts(t.Context(), contract.KeyDigest{1}, prism.ResultID{}, store.WithInput)
		if err == nil || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNotFound) {
			t.Fatalf("got %v, want a fault", err)
		}
	}
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if facts, err := s.ResultFacts(t.Context(), contract.KeyDigest{1}, prism.ResultID{}, store.WithInput); err != nil || facts.Result != nil {
			t.Fatal(facts, err)
		}
	}
}

func TestALookUpWithACancelledContextIsNotStarted(t *testing.T) {
	t.Parallel()
	s, _, digest, id := answered(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ResultFacts(ctx, digest, id, store.WithInput); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// Arguments of any length are passed to the same prepared statement.
func TestLookUpsTakeArgumentsOfAnyLength(t *testing.T) {
	t.Parallel()
	s, _, digest, _ := answered(t)
	for _, n := range []int{0, 1, 10, 10_000, 3, 100_000} {
		query := contract.CreateQuery{Key: digest, Prism: prism.Ref{Slug: "triage" + strings.Repeat("\x00", n)}, IdempotencyKey: "k"}
		facts, err := s.CreateFacts(t.Context(), query)
		if err != nil || (facts.Prism != nil) != (n == 0) {
			t.Errorf("%d: found %v, %v", n, facts.Prism, err)
		}
	}
}

func BenchmarkResultFacts(b *testing.B) {
	s, _, digest, id := answered(b)
	b.ReportAllocs()
	for b.Loop() {
		if facts, err := s.ResultFacts(b.Context(), digest, id, store.WithInput); err != nil || facts.Result == nil {
			b.Fatal(facts, err)
		}
	}
}

func BenchmarkCreateFacts(b *testing.B) {
	s, _, digest, _ := answered(b)
	query := contract.CreateQuery{Key: digest, Prism: prism.Ref{Slug: "triage"}, IdempotencyKey: "k"}
	b.ReportAllocs()
	for b.Loop() {
		if facts, err := s.CreateFacts(b.Context(), query); err != nil || facts.Prism == nil {
			b.Fatal(facts, err)
		}
	}
}
