package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestRacingMigrationsApplyEachOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "prism.db")
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if err := sqlite.Migrate(t.Context(), path); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		applied(t, path)
	}
}

func TestMigratingTwiceIsMigratingOnce(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	applied(t, path)
}

// applied fails the test unless each migration is recorded once.
func applied(t *testing.T, path string) {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var want []any
	for _, file := range files {
		var number int64
		if _, err := fmt.Sscanf(filepath.Base(file), "%05d_", &number); err != nil {
			t.Fatal(err)
		}
		want = append(want, number)
	}
	got := values(t, path, "SELECT version_id FROM goose_db_version WHERE version_id > 0 ORDER BY id")
	if !slices.Equal(got, want) {
		t.Errorf("the migrations applied are %v, want %v", got, want)
	}
}

func TestTheFileIsNobodyElsesToRead(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	s := open(t, path) // its log is there while it is open
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatalf("the files are %v, %v", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %s", filepath.Base(file), info.Mode())
		}
	}
}

func TestAPathMayHoldAnyCharacter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%20é&_txlock=deferred;.db")
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestEveryKeyBeginsWithTheAccount(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	first := values(t, path, `
SELECT t.name || '.' || i.name || ': ' || c.name
FROM sqlite_master t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
WHERE t.type = 'table' AND t.name IN ('prisms', 'versions', 'results', 'audit', 'runs', 'run_chunks', 'retries', 'retry_chunks', 'labels', 'drift_watches', 'drift_versions', 'drift_counts')
	AND i."unique" AND c.seqno = 0 AND c.name <> 'account_id'`)
	if len(first) > 0 {
		t.Errorf("keys that begin with something else: %v", first)
	}
	keys := values(t, path, `
SELECT count(*) FROM sqlite_master t, pragma_index_list(t.name) i
WHERE t.type = 'table' AND t.name IN ('prisms', 'versions', 'results', 'audit', 'runs', 'run_chunks', 'retries', 'retry_chunks', 'labels', 'drift_watches', 'drift_versions', 'drift_counts') AND i."unique"`)
	if keys[0] != int64(17) {
		t.Errorf("there are %v keys, want 17", keys)
	}
}

// The next release migrated the file, and was rolled back.
// spec: newer-schema
func TestAFileOfTheNextReleaseIsServed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prism.db")
	migrateTo(t, path, nextMigration)
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path).CreateAccount(t.Context(), prism.AccountID{UUID: prism.UUID{1}}, "a", storetest.By()); err != nil {
		t.Error(err)
	}
}

// spec: baseline
func TestAFileFromBeforeTheFirstReleaseIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prism.db")
	values(t, path, `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1), (18, 1)`)
	before := contents(t, path)
	if err := sqlite.Migrate(t.Context(), path); !errors.Is(err, store.ErrPredates) {
		t.Errorf("got %v, want %v", err, store.ErrPredates)
	}
	storetest.SameLines(t, contents(t, path), before)
}

// values is the first column of the rows that query selects.
func values(t *testing.T, path, query string) (found []any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		found = append(found, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
