package sqlite_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	modernc "modernc.org/sqlite"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// The settings of a process that migrates a file for TestAMigrationThatIsKilledIsCompletedByTheNextStarts.
const (
	migratedVariable = "PRISM_TEST_MIGRATED"
	numberVariable   = "PRISM_TEST_NUMBER"
	killVariable     = "PRISM_TEST_KILL"
)

// Each migration is killed at each of its statements and as it is committed. Then two processes start at once: both complete the
// migration, and nothing of what was stored has changed.
// spec: killed-migration
func TestAMigrationThatIsKilledIsCompletedByTheNextStarts(t *testing.T) {
	t.Parallel()
	files, numbers := listedMigrations(t)
	state := filepath.Join(t.TempDir(), "prism.db") // before the migration
	seeded := map[int]bool{}
	for i, number := range numbers {
		before := state
		after := copied(t, before)
		migrateTo(t, after, number)
		want := contents(t, after)
		statements := strings.Count(killing(t, files, number, -1), killMark)
		if statements == 0 {
			t.Errorf("migration %d has no statements", number)
		}
		for at := range statements + 1 { // the last one is at the commit
			if !storetest.KillAt(at, statements) {
				continue
			}
			t.Run(fmt.Sprintf("migration %d, statement %d of %d", number, at+1, statements), func(t *testing.T) {
				t.Parallel()
				isKilled(t, before, number, at, want)
			})
		}
		if i == 0 {
			t.Run("the table of migrations", func(t *testing.T) {
				t.Parallel()
				isKilled(t, before, number, -1, want)
			})
		}
		seed(t, after, seeded)
		state = after
	}
	for i, row := range storetest.TableRows() {
		if !seeded[i] && !onlyInPostgres.MatchString(row.Table) {
			t.Errorf("there is no table %s for a row of storetest.TableRows", row.Table)
		}
	}
	tables := values(t, state, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
		AND name NOT LIKE 'term_index%' AND name <> 'goose_db_version'`)
	for _, table := range tables {
		if !slices.ContainsFunc(storetest.TableRows(), func(r storetest.TableRow) bool { return r.Table == table }) {
			t.Errorf("storetest.TableRows has no row of %s", table)
		}
	}
}

var onlyInPostgres = regexp.MustCompile("tail$|^directory_|^ending_|^revocation|^arriving_|^moves$")

// isKilled kills a process that migrates a copy of a file at a statement of a migration, and completes the migration.
func isKilled(t *testing.T, state string, number int64, at int, want []string) {
	t.Helper()
	path := copied(t, state)
	killed := migrating(t, path, number, strconv.Itoa(at))
	out, err := killed.CombinedOutput()
	if status, ok := killed.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended with %v: %s", err, out)
	}
	var starts sync.WaitGroup
	starts.Go(func() { migrateTo(t, path, number) })
	if out, err := migrating(t, path, number, "").CombinedOutput(); err != nil {
		t.Errorf("the second process: %v: %s", err, out)
	}
	starts.Wait()
	storetest.SameLines(t, contents(t, path), want)
	if verdict := values(t, path, "PRAGMA integrity_check"); len(verdict) != 1 || verdict[0] != "ok" {
		t.Errorf("the file is damaged: %v", verdict)
	}
}

// nextMigration is the number of a migration as a release to come may have it.
const nextMigration = 999

const nextMigrationText = `-- +goose Up
ALTER TABLE results ADD COLUMN mood TEXT;
ALTER TABLE prisms ADD COLUMN moods INTEGER NOT NULL DEFAULT 7;
DROP INDEX results_by_ref;
CREATE INDEX results_by_mood ON results (account_id, mood, id) WHERE mood IS NOT NULL;
-- +goose StatementBegin
CREATE TRIGGER count_moods AFTER UPDATE OF mood ON results BEGIN
    UPDATE prisms SET moods = moods + 1 WHERE account_id = NEW.account_id AND id = NEW.prism_id;
END;
-- +goose StatementEnd
UPDATE results SET mood = status;
`

// listedMigrations are the files of all migrations and nextMigration, and their numbers in order.
func listedMigrations(t *testing.T) (files fstest.MapFS, numbers []int64) {
	t.Helper()
	files = fstest.MapFS{fmt.Sprintf("%05d_next.sql", nextMigration): {Data: []byte(nextMigrationText)}}
	entries, err := fs.ReadDir(sqlite.Migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := fs.ReadFile(sqlite.Migrations, "migrations/"+e.Name())
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.ParseInt(e.Name()[:5], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = &fstest.MapFile{Data: content}
		numbers = append(numbers, number)
	}
	return files, append(numbers, nextMigration)
}

const (
	killMark   = "-- here"
	killHere   = "SELECT kill_this_process();"
	killCommit = "SELECT kill_this_process_at_its_next_commit();"
)

// killing is the text of a migration with a mark before each of its statements. In place of one mark is a statement that kills the
// process; if there are fewer marks, one that kills it at its commit is behind the last statement.
func killing(t *testing.T, files fstest.MapFS, number int64, at int) string {
	t.Helper()
	text := files[fileOf(t, files, number)].Data
	var b strings.Builder
	whole, within, begun, n := false, false, false, 0 // whole: between StatementBegin and StatementEnd
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimSpace(line)
		switch comment := strings.HasPrefix(trimmed, "--"); {
		case trimmed == "-- +goose Up":
			begun = true
		case !begun:
		case trimmed == "-- +goose StatementEnd":
			whole, within = false, false
		case within || comment && trimmed != "-- +goose StatementBegin" || trimmed == "":
		default:
			mark := killMark
			if n == at {
				mark = killHere
			}
			fmt.Fprintln(&b, mark)
			whole, within = comment, true
			n++
		}
		b.WriteString(line)
		if within && !whole && strings.HasSuffix(trimmed, ";") {
			within = false
		}
	}
	if at >= n {
		fmt.Fprintln(&b, killCommit)
	}
	return b.String()
}

// fileOf is the name of the file of a migration.
func fileOf(t *testing.T, files fstest.MapFS, number int64) string {
	t.Helper()
	found, err := fs.Glob(files, fmt.Sprintf("%05d_*.sql", number))
	if err != nil || len(found) != 1 {
		t.Fatalf("migration %d: %v, %v", number, found, err)
	}
	return found[0]
}

// migrating is a process that migrates a file up to a number. kill is the statement at which the process kills itself: "-1" is the
// first commit, and "" none.
func migrating(t *testing.T, path string, number int64, kill string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestMigratesForAnotherTest$")
	cmd.Env = append(os.Environ(), migratedVariable+"="+path, fmt.Sprintf("%s=%d", numberVariable, number), killVariable+"="+kill)
	return cmd
}

// TestMigratesForAnotherTest is the process of migrating.
func TestMigratesForAnotherTest(t *testing.T) {
	path := os.Getenv(migratedVariable)
	if path == "" {
		return
	}
	files, _ := listedMigrations(t)
	number, err := strconv.ParseInt(os.Getenv(numberVariable), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if kill := os.Getenv(killVariable); kill != "" {
		at, err := strconv.Atoi(kill)
		if err != nil {
			t.Fatal(err)
		}
		armed := at < 0 // for the next commit
		die := func() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		function := func(call func()) func(*modernc.FunctionContext, []driver.Value) (driver.Value, error) {
			return func(*modernc.FunctionContext, []driver.Value) (driver.Value, error) { call(); return int64(0), nil }
		}
		modernc.MustRegisterScalarFunction("kill_this_process", 0, function(die))
		modernc.MustRegisterScalarFunction("kill_this_process_at_its_next_commit", 0, function(func() { armed = true }))
		modernc.RegisterConnectionHook(func(conn modernc.ExecQuerierContext, _ string) error {
			conn.(modernc.HookRegisterer).RegisterCommitHook(func() int32 {
				if armed {
					die()
				}
				return 0
			})
			return nil
		})
		if at >= 0 {
			text := killing(t, files, number, at)
			files[fileOf(t, files, number)] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	if err := sqlite.MigrateTo(t.Context(), path, files, number); err != nil {
		t.Fatal(err)
	}
}

func migrateTo(t *testing.T, path string, number int64) {
	t.Helper()
	files, _ := listedMigrations(t)
	if err := sqlite.MigrateTo(t.Context(), path, files, number); err != nil {
		t.Error(err)
	}
}

// copied is a copy of a file that nobody uses, or the path of a new one if there is none.
func copied(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "prism.db")
	content, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return to
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// seed inserts the rows of storetest.TableRows whose tables are there, once.
func seed(t *testing.T, path string, seeded map[int]bool) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables := values(t, path, "SELECT name FROM sqlite_master WHERE type = 'table'")
	for i, row := range storetest.TableRows() {
		if seeded[i] || !slices.Contains(tables, any(row.Table)) {
			continue
		}
		columns := slices.Sorted(maps.Keys(row.Values))
		var args []any
		for _, c := range columns {
			args = append(args, argument(row.Values[c]))
		}
		statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", row.Table, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		seeded[i] = true
	}
}

func argument(value any) any {
	switch v := value.(type) {
	case prism.UUID:
		return v[:]
	case time.Time:
		return v.UnixMilli()
	case json.RawMessage:
		return []byte(v)
	}
	return value
}

// contents is the schema of a file and all rows.
func contents(t *testing.T, path string) (all []string) {
	t.Helper()
	const tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'goose_db_version' ORDER BY name"
	queries := []string{
		"SELECT coalesce(sql, name) FROM sqlite_master ORDER BY type, name",
		"SELECT version_id || ' ' || is_applied FROM goose_db_version ORDER BY id",
	}
	for _, table := range values(t, path, tables) {
		columns := values(t, path, fmt.Sprintf("SELECT group_concat('quote(' || name || ')', ' || '','' || ') FROM pragma_table_info('%s')", table))
		queries = append(queries, fmt.Sprintf("SELECT '%s ' || %s FROM %q ORDER BY 1", table, columns[0], table))
	}
	for _, query := range queries {
		for _, line := range values(t, path, query) {
			all = append(all, fmt.Sprint(line))
		}
	}
	return all
}
