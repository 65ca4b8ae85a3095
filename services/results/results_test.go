package results_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results"
	"github.com/prism-results/prism/services/results/operator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

func TestAReplicaThatMayNotMigrateWaitsForTheCommand(t *testing.T) {
	t.Parallel()
	cfg := results.Config{DatabaseURL: pgtest.Shared(t).Database(t, ""), AwaitMigrations: true}
	waits := make(chan struct{}, 1)
	s, err := results.Open(t.Context(), cfg, results.Deps{Log: slog.New(told{waits})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	migrated := make(chan error, 1)
	go func() { migrated <- s.Migrate(t.Context()) }()
	<-waits
	select {
	case err := <-migrated:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	err = results.Operate(t.Context(), cfg, command(t, "account", "create", "acme"), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "run the command migrate") {
		t.Errorf("a command on old tables: %v", err)
	}
	if err := results.Operate(t.Context(), cfg, command(t, "migrate"), io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	if err := results.Operate(t.Context(), cfg, command(t, "account", "create", "acme"), io.Discard); err != nil {
		t.Error(err)
	}
}

func command(t *testing.T, args ...string) operator.Command {
	t.Helper()
	c, err := operator.Parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOnlyMigrateCreatesAnEmbeddedStore tests the commands without a store (spec: operator-commands).
func TestOnlyMigrateCreatesAnEmbeddedStore(t *testing.T) {
	t.Parallel()
	cfg := results.Config{DataDir: filepath.Join(t.TempDir(), "none")}
	for _, c := range []operator.Command{
		command(t, "account", "create", "acme"), command(t, "key", "list", "--account", "acme"), command(t, "key", "create", "--account", "acme"),
	} {
		err := results.Operate(t.Context(), cfg, c, io.Discard)
		if err == nil || !strings.Contains(err.Error(), cfg.DataDir) || !strings.Contains(err.Error(), "PRISM_DATA_DIR") {
			t.Errorf("%s: got %v", c.Name, err)
		}
	}
	if _, err := os.Stat(cfg.DataDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	for _, c := range []operator.Command{command(t, "migrate"), command(t, "account", "create", "acme")} {
		if err := results.Operate(t.Context(), cfg, c, io.Discard); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// spec: one-server-of-a-folder
func TestOneProcessServesAFolder(t *testing.T) {
	t.Parallel()
	cfg := results.Config{DataDir: t.TempDir(), Serves: true}
	open := func() (*results.Service, error) {
		return results.Open(t.Context(), cfg, results.Deps{Log: slog.New(slog.DiscardHandler)})
	}
	first, err := open()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("PRISM_DATA_DIR: another Prism serves this folder: process %d", os.Getpid())
	for range 2 {
		if _, err := open(); err == nil || err.Error() != want {
			t.Errorf("a second one: %v, want %s", err, want)
		}
	}
	if err := results.Operate(t.Context(), cfg, command(t, "account", "list"), io.Discard); err != nil {
		t.Errorf("a command beside it: %v", err)
	}
	first.Close()
	again, err := open()
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	broken := cfg
	broken.FilesURL = "file://host/folder"
	if _, err := results.Open(t.Context(), broken, results.Deps{Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Fatal("a folder of files on a host is taken")
	}
	again, err = open()
	if err != nil {
		t.Fatalf("after a start that failed: %v", err)
	}
	again.Close()
}

// spec: baseline
func TestAStoreFromBeforeTheFirstReleaseIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	const reason = "made by a Prism before 1.0.0"
	for _, waits := range []bool{false, true} {
		cfg := results.Config{DatabaseURL: pgtest.Shared(t).Database(t, ""), AwaitMigrations: waits}
		if err := results.Operate(t.Context(), cfg, command(t, "migrate"), io.Discard); err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(t.Context(), cfg.DatabaseURL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "UPDATE goose_db_version SET version_id = 18 WHERE version_id > 0"); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s, err := results.Open(t.Context(), cfg, results.Deps{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("a start: %v", err)
		}
		s.Close()
		err = results.Operate(t.Context(), cfg, command(t, "account", "create", "acme"), io.Discard)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("a command: %v", err)
		}
	}
}

func TestAReplicaThatWaitsCanBeStopped(t *testing.T) {
	t.Parallel()
	cfg := results.Config{DatabaseURL: pgtest.Shared(t).Database(t, ""), AwaitMigrations: true}
	waits := make(chan struct{}, 1)
	s, err := results.Open(t.Context(), cfg, results.Deps{Log: slog.New(told{waits})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	go func() {
		<-waits
		stop()
	}()
	if err := s.Migrate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// told is a log handler that signals each line.
type told struct{ lines chan struct{} }

func (h told) Enabled(context.Context, slog.Level) bool { return true }

func (h told) Handle(context.Context, slog.Record) error {
	select {
	case h.lines <- struct{}{}:
	default:
	}
	return nil
}

func (h told) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h told) WithGroup(string) slog.Handler      { return h }

// spec: settings
func TestTheAddressOfFilesIsChecked(t *testing.T) {
	t.Parallel()
	for url, right := range map[string]bool{
		"": true, "file:///srv/files": true, "s3://bucket/prefix?region=eu-central-1": true,
		"file://host/files": false, "s3://": false, "s3://bucket?size=1": false,
	} {
		cfg := results.Config{DataDir: t.TempDir(), FilesURL: url}
		s, err := results.Open(t.Context(), cfg, results.Deps{Log: slog.New(slog.DiscardHandler)})
		if (err == nil) != right || err != nil && !strings.HasPrefix(err.Error(), "PRISM_FILES_URL: ") {
			t.Errorf("%q: %v", url, err)
		}
		if err == nil {
			s.Close()
		}
	}
}
