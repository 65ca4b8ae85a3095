package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestRacingMigrationsApplyEachOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := postgres.Migrate(t.Context(), url); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	applied(t, url)
}

func TestMigratingTwiceIsMigratingOnce(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	applied(t, url)
}

func TestMigratingADatabaseThatIsAwaySaysSo(t *testing.T) {
	t.Parallel()
	err := postgres.Migrate(t.Context(), "postgres://prism:secret@127.0.0.1:1/prism?connect_timeout=2")
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, store.ErrUnavailable)
	}
}

func TestMigratedTellsWhetherTheTablesAreNewEnough(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	s := open(t, url)
	if err := s.Migrated(t.Context()); !errors.Is(err, store.ErrOutdated) {
		t.Errorf("without tables: got %v, want %v", err, store.ErrOutdated)
	}
	migrate(t, url)
	if err := s.Migrated(t.Context()); err != nil {
		t.Errorf("with them: %v", err)
	}
	exec(t, url, "DELETE FROM goose_db_version WHERE version_id > 0")
	if err := s.Migrated(t.Context()); !errors.Is(err, store.ErrOutdated) {
		t.Errorf("with older ones: got %v, want %v", err, store.ErrOutdated)
	}
	away := open(t, "postgres://prism:secret@127.0.0.1:1/prism?connect_timeout=2")
	if err := away.Migrated(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("without a database: got %v, want %v", err, store.ErrUnavailable)
	}
}

// The next release migrated the database, and was rolled back.
// spec: newer-schema
func TestADatabaseOfTheNextReleaseIsServed(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	migrateTo(t, url, postgres.NextMigration)
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Errorf("a replica that migrates: %v", err)
	}
	_, s, _ := traced(t, url)
	if err := s.Migrated(t.Context()); err != nil {
		t.Errorf("a replica that waits: %v", err)
	}
	if _, err := s.SaveResult(t.Context(), account(), failed(1)); err != nil {
		t.Errorf("a save: %v", err)
	}
}

// spec: baseline
func TestADatabaseFromBeforeTheFirstReleaseIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	exec(t, url, `CREATE TABLE goose_db_version (id serial PRIMARY KEY, version_id bigint NOT NULL, is_applied boolean NOT NULL,
		tstamp timestamp NOT NULL DEFAULT now());
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, true), (1, true), (18, true);
		CREATE TABLE accounts (id uuid PRIMARY KEY)`)
	before := contents(t, url)
	if err := postgres.Migrate(t.Context(), url); !errors.Is(err, store.ErrPredates) {
		t.Errorf("a replica that migrates: got %v, want %v", err, store.ErrPredates)
	}
	if err := open(t, url).Migrated(t.Context()); !errors.Is(err, store.ErrPredates) {
		t.Errorf("a replica that waits: got %v, want %v", err, store.ErrPredates)
	}
	storetest.SameLines(t, contents(t, url), before)
}

// applied fails the test unless each migration is recorded once, and Migrated expects the last one.
func applied(t *testing.T, url string) {
	t.Helper()
	got := values[int64](t, url, "SELECT version_id FROM goose_db_version WHERE version_id > 0 ORDER BY id")
	var want []int64
	for n := int64(store.Baseline); n < postgres.NextMigration; n++ {
		want = append(want, n)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the migrations applied are %v, want %v", got, want)
	}
	if err := open(t, url).Migrated(t.Context()); err != nil {
		t.Error(err)
	}
	exec(t, url, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	if err := open(t, url).Migrated(t.Context()); !errors.Is(err, store.ErrOutdated) {
		t.Errorf("without the last migration: got %v, want %v", err, store.ErrOutdated)
	}
}

func migrate(t testing.TB, url string) {
	t.Helper()
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func exec(t testing.TB, url, statement string, args ...any) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// values is the first column of the rows that query selects.
func values[T any](t testing.TB, url, query string) []T {
	t.Helper()
	conn := connect(t, url)
	defer func() { _ = conn.Close(t.Context()) }() // some tests ask a thousand times
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAMigrationThatIsCutOffSaysThatTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	direct := pgtest.Shared(t).Database(t, "")
	cuts := 0
	for sent := int64(100); ; sent += sent / 3 {
		err := postgres.Migrate(t.Context(), cutAfter(t, direct, sent))
		if err == nil {
			break
		}
		if cuts++; !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("cut after %d bytes: got %v, want %v", sent, err, store.ErrUnavailable)
		}
		if sent > 1<<20 {
			t.Fatal("the migration never ends")
		}
	}
	if cuts < 5 {
		t.Errorf("only %d migrations were cut off", cuts)
	}
	applied(t, direct)
}

// cutAfter is the URL of a proxy to the database that closes each connection after this number of bytes was sent.
func cutAfter(t *testing.T, direct string, sent int64) string {
	t.Helper()
	config, err := pgx.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(config.Host, fmt.Sprintf(".s.PGSQL.%d", config.Port))
	link, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	go func() {
		for {
			near, err := link.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", socket)
			if err != nil {
				_ = near.Close()
				continue
			}
			end := func() { _, _ = near.Close(), far.Close() }
			go func() { defer end(); _, _ = io.Copy(near, far) }()
			go func() { defer end(); _, _ = io.CopyN(far, near, sent) }()
		}
	}()
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", config.User, link.Addr(), config.Database)
}
