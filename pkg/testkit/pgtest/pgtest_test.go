package pgtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/testkit/internal/orphan"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
)

func TestMain(m *testing.M) {
	orphan.Main(start)
	goleak.VerifyTestMain(pgtest.Runner(m))
}

// start is what the process that is killed does.
func start() (socket string, err error) {
	server, err := pgtest.Start(context.Background(), pgtest.Options{})
	if err != nil {
		return "", err
	}
	config, err := pgconn.ParseConfig(server.URL("postgres"))
	if err != nil {
		return "", err
	}
	return filepath.Join(config.Host, fmt.Sprintf(".s.PGSQL.%d", config.Port)), nil
}

func TestAServerDiesWithTheProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	orphan.Check(t)
}

func TestEachTestHasItsOwnCloneOfTheTemplate(t *testing.T) {
	t.Parallel()
	server, template := pgtest.Shared(t), templateName(t)
	var migrations atomic.Int32
	migrate := func(ctx context.Context, url string) error {
		migrations.Add(1)
		return exec(ctx, url, "CREATE TABLE things (name text); INSERT INTO things VALUES ('made by the template')")
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			// FailNow is for the test's own goroutine only, hence the methods that return errors.
			if err := server.MakeTemplate(t.Context(), template, migrate); err != nil {
				t.Error(err)
				return
			}
			name, err := server.CreateDatabase(t.Context(), template)
			if err != nil {
				t.Error(err)
				return
			}
			url := server.URL(name)
			if err := exec(t.Context(), url, "INSERT INTO things VALUES ('made by the test')"); err != nil {
				t.Error(err)
			}
			if got := query(t, url, "SELECT count(*) FROM things"); got != "2" {
				t.Errorf("a clone has %s rows, want the template's and its own", got)
			}
			if err := server.DropDatabase(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := migrations.Load(); n != 1 {
		t.Errorf("the template was migrated %d times", n)
	}
}

func TestADatabaseIsDroppedWithItsTestThoughConnectionsAreLeft(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	var url string
	t.Run("a test that leaves a connection", func(t *testing.T) {
		url = server.Database(t, "")
		conn, err := pgconn.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	})
	_, err := pgconn.Connect(t.Context(), url)
	if pgErr := (*pgconn.PgError)(nil); !errors.As(err, &pgErr) || pgErr.Code != "3D000" { // invalid_catalog_name
		t.Errorf("connecting to a dropped database: %v", err)
	}
}

func TestCommittedDataSurvivesACrashAndARestartKeepsTheAddress(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), pgtest.Options{Fsync: true, TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if config, err := pgconn.ParseConfig(server.URL("")); err != nil {
			t.Error(err)
		} else if _, err := os.Stat(config.Host); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is left: %v", err)
		}
	})
	if got := query(t, server.URL("postgres"), "SHOW fsync"); got != "on" {
		t.Errorf("fsync is %s", got)
	}
	byTCP := server.TCPURL(server.TCPAddr(), "postgres")
	if err := exec(t.Context(), byTCP, "CREATE TABLE kept AS SELECT 42 AS answer"); err != nil {
		t.Fatal(err)
	}
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := exec(t.Context(), byTCP, "SELECT 1"); err == nil {
		t.Error("a crashed server answered")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, byTCP, "SELECT answer FROM kept"); got != "42" {
		t.Errorf("got %q after the crash", got)
	}
}

func TestACommandIsOfTheServersPostgresAndConnectsToIt(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for _, script := range []string{"psql -Atc 'SHOW data_directory'", "readlink -f data"} {
		out, err := server.Command(t.Context(), "sh", "-c", script+"; [ $(dirname $(command -v pg_dump)) = $(dirname $(command -v initdb)) ]").CombinedOutput()
		if got, want := strings.TrimSpace(string(out)), filepath.Join(server.Command(t.Context(), "true").Dir, "data"); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", script, err, got, want)
		}
	}
}

// templateName is a new name each time, so that the tests can be repeated in one process.
func templateName(t *testing.T) string { return fmt.Sprintf("%s_%d", t.Name(), sequence.Add(1)) }

var sequence atomic.Int32

func exec(ctx context.Context, url, sql string) (err error) {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.Exec(ctx, sql).ReadAll()
	return err
}

func query(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = conn.Close(t.Context()) }()
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Error(err)
		return ""
	}
	return string(results[0].Rows[0][0])
}
