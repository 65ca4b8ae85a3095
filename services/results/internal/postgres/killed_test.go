package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	osexec "os/exec" // the package has a function exec
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// Each migration is killed before and after each of its statements is sent. Then two processes start at once: both complete the
// migration, and nothing of what was stored has changed.
// spec: killed-migration
func TestAMigrationThatIsKilledIsCompletedByTheNextStarts(t *testing.T) {
	t.Parallel()
	var cases sync.WaitGroup
	defer cases.Wait()
	places := make(chan struct{}, 16) // a start waits for another one's turn most of its time
	eachMigration(t, "killed", func(m migrationOf) {
		for at := range m.statements {
			if !storetest.KillAt(at, len(m.statements)-1) {
				continue
			}
			for when, executed := range map[string]bool{"before": false, "after": true} {
				cases.Go(func() {
					places <- struct{}{}
					defer func() { <-places }()
					t.Run(fmt.Sprintf("migration %d, %s statement %d of %d", m.number, when, at+1, len(m.statements)), func(t *testing.T) {
						url := database(t, fmt.Sprintf("%s_%d_%s", m.name, at, when), m.before)
						isKilled(t, url, m.number, &statements{at: at + 1, executed: executed}, m.after)
					})
				})
			}
		}
	})
}

// A transaction that has written to every table, and does not end, delays a migration at each of its locks but does not make it fail.
func TestAMigrationThatDoesNotGetALockTriesAgain(t *testing.T) {
	t.Parallel()
	var cases sync.WaitGroup
	defer cases.Wait()
	eachMigration(t, "locked", func(m migrationOf) {
		for at, text := range m.statements {
			if !strings.Contains(text, "lock_timeout") && !strings.Contains(text, "LOCK TABLE") {
				continue
			}
			cases.Go(func() {
				t.Run(fmt.Sprintf("migration %d, statement %d", m.number, at+1), func(t *testing.T) {
					url := database(t, fmt.Sprintf("%s_%d", m.name, at), m.before)
					isDelayed(t, url, m.number, at+1)
					storetest.SameLines(t, contents(t, url), m.after)
				})
			})
		}
	})
}

// A statement of a process that was killed goes on in Postgres, where its session shares a lock.
// spec: killed-migration
func TestAMigrationWaitsForStatementsOfAProcessThatWasKilled(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	exec(t, url, "SELECT pg_advisory_lock_shared($1)", postgres.WorkLock)
	s := &statements{}
	migrated := make(chan error, 1)
	proxy := s.through(t, url)
	go func() { migrated <- postgres.MigrateTo(t.Context(), proxy, store.Baseline) }()
	until := time.NewTicker(time.Millisecond)
	defer until.Stop()
	for asked, changed := s.counted(); asked < 3; asked, changed = s.counted() { // for its turn, and twice for what goes on
		select {
		case err := <-migrated:
			t.Fatalf("the migration has ended: %v", err)
		case <-until.C:
		}
		if changed > 0 {
			t.Fatal("the migration has begun")
		}
	}
	exec(t, url, `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database
		WHERE datname = current_database() AND locktype = 'advisory' AND mode = 'ShareLock'`)
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}

// isDelayed migrates while a transaction locks every table from a statement on, until the migration has been refused a lock.
func isDelayed(t *testing.T, url string, number int64, at int) {
	t.Helper()
	holder, watcher := connect(t, url), connect(t, url)
	locked, migrated := make(chan pgx.Tx, 1), make(chan error, 1)
	s := &statements{at: at, then: func() bool {
		tx, err := holder.Begin(t.Context())
		for _, table := range lines(t, url, tableNames) {
			if err == nil {
				_, err = tx.Exec(t.Context(), "LOCK TABLE "+table+" IN ROW EXCLUSIVE MODE")
			}
		}
		if err != nil {
			t.Error(err)
		}
		locked <- tx
		return true
	}}
	proxy := s.through(t, url)
	go func() { migrated <- postgres.MigrateTo(t.Context(), proxy, number) }()
	tx := <-locked
	const waits = `SELECT count(*) > 0 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var since time.Time
	// What waits without a limit, as for the index that is built concurrently, is not refused.
	for waiting, ended := true, false; !ended && (since.IsZero() || waiting && time.Since(since) < time.Second); {
		select {
		case err := <-migrated:
			ended = true
			migrated <- err
		case <-tick.C:
		}
		if err := watcher.QueryRow(t.Context(), waits).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting && since.IsZero() {
			since = time.Now()
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}

// migrationOf is a migration, with rows in every table that is there before.
type migrationOf struct {
	number     int64
	name       string   // a prefix for databases
	before     string   // the URL of a database, or "" for an empty one
	after      []string // the contents of one that was migrated
	statements []string // that the migration executes
}

// eachMigration calls fn for each migration in order.
func eachMigration(t *testing.T, prefix string, fn func(migrationOf)) {
	t.Helper()
	seeded, before := map[int]bool{}, ""
	for number := int64(store.Baseline); number <= postgres.NextMigration; number++ {
		m := migrationOf{number: number, name: fmt.Sprintf("%s_%d", prefix, number), before: before}
		url, all := database(t, m.name, before), &statements{}
		migrateTo(t, all.through(t, url), number)
		if m.statements = all.seen; len(m.statements) == 0 {
			continue // no migration has this number
		}
		m.after = contents(t, url)
		fn(m)
		seed(t, url, seeded)
		before = url
	}
	for i, row := range storetest.TableRows() {
		if !seeded[i] {
			t.Errorf("there is no table %s for a row of storetest.TableRows", row.Table)
		}
	}
	for _, table := range lines(t, before, tableNames) {
		if !slices.ContainsFunc(storetest.TableRows(), func(r storetest.TableRow) bool { return r.Table == table }) {
			t.Errorf("storetest.TableRows has no row of %s", table)
		}
	}
}

// isKilled kills a process at a statement of a migration, and completes the migration.
func isKilled(t *testing.T, url string, number int64, s *statements, want []string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed := osexec.CommandContext(t.Context(), program, "-test.run=^TestMigratesForAnotherTest$")
	started := make(chan struct{})
	s.then = func() bool {
		<-started
		_ = killed.Process.Kill()
		return false
	}
	killed.Env = append(os.Environ(), migratedVariable+"="+s.through(t, url), fmt.Sprintf("%s=%d", numberVariable, number))
	var out strings.Builder
	killed.Stdout, killed.Stderr = &out, &out
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	err = killed.Wait()
	if status, ok := killed.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended with %v: %s", err, &out)
	}
	var starts sync.WaitGroup
	for range 2 {
		starts.Go(func() {
			if err := postgres.MigrateTo(t.Context(), url, number); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	storetest.SameLines(t, contents(t, url), want)
}

// The settings of the process that is killed.
const (
	migratedVariable = "PRISM_TEST_MIGRATED"
	numberVariable   = "PRISM_TEST_NUMBER"
)

// TestMigratesForAnotherTest is the process that is killed.
func TestMigratesForAnotherTest(t *testing.T) {
	url := os.Getenv(migratedVariable)
	if url == "" {
		return
	}
	number, err := strconv.ParseInt(os.Getenv(numberVariable), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	migrateTo(t, url, number)
}

// database makes a database that is a copy of another one, or is empty, and returns its URL.
func database(t *testing.T, name, from string) string {
	t.Helper()
	server := pgtest.Shared(t)
	statement := "CREATE DATABASE " + name
	if from != "" {
		config, err := pgx.ParseConfig(from)
		if err != nil {
			t.Fatal(err)
		}
		statement += " TEMPLATE " + config.Database
	}
	if err := server.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.DropDatabase(context.WithoutCancel(t.Context()), name); err != nil {
			t.Error(err)
		}
	})
	return server.URL(name)
}

// seed inserts the rows of storetest.TableRows whose tables are there, once.
func seed(t *testing.T, url string, seeded map[int]bool) {
	t.Helper()
	tables := lines(t, url, tableNames)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) // a database with connections is not copied
	for i, row := range storetest.TableRows() {
		if seeded[i] || !slices.Contains(tables, row.Table) {
			continue
		}
		columns := slices.Sorted(maps.Keys(row.Values))
		var args []any
		var places []string
		for _, c := range columns {
			switch value := row.Values[c].(type) {
			case prism.UUID:
				args = append(args, [16]byte(value))
			case json.RawMessage:
				args = append(args, string(value))
			default:
				args = append(args, value)
			}
			places = append(places, fmt.Sprintf("$%d", len(args)))
		}
		statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", row.Table, strings.Join(columns, ", "), strings.Join(places, ", "))
		if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		seeded[i] = true
	}
}

const (
	tableNames = `SELECT relname::text FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'goose_db_version' ORDER BY relname`
	// schema is a line for each thing in the schema.
	schema = `WITH r AS (SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace)
		SELECT concat_ws(' ', relname, relkind, reloptions::text, relreplident, obj_description(oid, 'pg_class')) AS line FROM r
		UNION ALL SELECT concat_ws(' ', r.relname, attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attcollation::regcollation,
			pg_get_expr(adbin, adrelid), col_description(attrelid, attnum))
			FROM r JOIN pg_attribute ON attrelid = r.oid AND attnum > 0 LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
			WHERE r.relkind <> 'S'
		UNION ALL SELECT concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid, indisready) FROM pg_index JOIN r ON r.oid = indexrelid
		UNION ALL SELECT concat_ws(' ', r.relname, conname, pg_get_constraintdef(c.oid), convalidated) FROM pg_constraint c JOIN r ON r.oid = conrelid
		UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(g.oid), tgenabled) FROM pg_trigger g JOIN r ON r.oid = tgrelid AND NOT tgisinternal
		UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL SELECT pg_get_viewdef(oid) FROM r WHERE relkind = 'v'
		ORDER BY 1`
)

// contents is the schema of a database and all rows, sorted.
func contents(t *testing.T, url string) []string {
	t.Helper()
	queries := []string{schema, "SELECT concat(version_id, is_applied) FROM goose_db_version ORDER BY version_id"}
	for _, table := range lines(t, url, tableNames) {
		queries = append(queries, fmt.Sprintf("SELECT t::text FROM %s t ORDER BY 1", table))
	}
	return lines(t, url, queries...)
}

// lines is the first column of the rows that queries select. It leaves no connection, with which a database would not be copied.
func lines(t *testing.T, url string, queries ...string) (all []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, query := range queries {
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}
