package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/pgbouncer"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// unprepared makes the driver prepare no named statements, for a PgBouncer that does not support them (docs/scaling.md).
const unprepared = "&default_query_exec_mode=cache_describe"

// In transaction mode, PgBouncer may give each statement another connection.
func TestTheStorePassesTheSuiteThroughPgBouncerDividedByAccount(t *testing.T) {
	t.Parallel()
	bouncer := lender(t, pgtest.Shared(t), "3")
	database := reused(t, "by account", byAccount)
	storetest.Run(t, func(t *testing.T) sqlstore.Store {
		t.Helper()
		return open(t, through(t, bouncer, database(t))+unprepared)
	})
}

// docs/scaling.md says that the driver's default mode works from PgBouncer 1.21 on, and that older ones need the other mode.
func TestPreparedStatementsNeedAPgBouncerThatKeepsThem(t *testing.T) {
	t.Parallel()
	bouncer := lender(t, pgtest.Shared(t), "1")
	url := through(t, bouncer, migrated(t))
	read := func(url string) error {
		_, err := open(t, url).AccountByName(t.Context(), "nobody")
		return err
	}
	// Two replicas prepare the same statement, under the same name, on the one connection.
	for i, works := range []bool{true, bouncer.KeepsPrepared()} {
		if err := read(url); errors.Is(err, store.ErrNotFound) != works {
			t.Errorf("replica %d through PgBouncer %s: got %v", i+1, bouncer.Version, err)
		}
	}
	for range 2 {
		if err := read(url + unprepared); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("unprepared: got %v", err)
		}
	}
}

// The migration itself locks a session, so it does not go through PgBouncer.
func TestAReplicaSeesThroughPgBouncerThatSomebodyElseHasMigrated(t *testing.T) {
	t.Parallel()
	direct := pgtest.Shared(t).Database(t, "")
	s := open(t, through(t, lender(t, pgtest.Shared(t), "1"), direct)+unprepared)
	if err := s.Migrated(t.Context()); !errors.Is(err, store.ErrOutdated) {
		t.Errorf("got %v before the migration", err)
	}
	migrate(t, direct)
	if err := s.Migrated(t.Context()); err != nil {
		t.Errorf("got %v after the migration", err)
	}
}

// A statement that PgBouncer never sent has changed nothing, so the error is store.ErrUnavailable, not a fault.
func TestAPgBouncerThatHasNoConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	direct := migrated(t)
	bouncer := pgbouncer.New(t, pgbouncer.Options{Upstream: direct, Settings: map[string]string{
		"default_pool_size": "1", "query_wait_timeout": "5",
	}})
	url := through(t, bouncer, direct) + unprepared
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, AcquireWait: time.Minute, StatementWait: time.Minute}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A transaction that stays open keeps the only connection.
	hog, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hog.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	_, err = s.AccountByName(t.Context(), "nobody")
	unavailable(t, err)
	if err := hog.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("with the connection free again: %v", err)
	}
}

// lender starts a PgBouncer with this number of connections to each database.
func lender(t *testing.T, server *pgtest.Server, connections string) *pgbouncer.Server {
	t.Helper()
	return pgbouncer.New(t, pgbouncer.Options{
		Upstream: server.URL("postgres"), Settings: map[string]string{"default_pool_size": connections},
	})
}

// through is the URL of a database through PgBouncer.
func through(t *testing.T, bouncer *pgbouncer.Server, direct string) string {
	t.Helper()
	url, err := bouncer.Through(direct)
	if err != nil {
		t.Fatal(err)
	}
	return url
}
