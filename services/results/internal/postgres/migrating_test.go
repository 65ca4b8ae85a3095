package postgres_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// resultsVariable is how many results are stored before the first migration behind the baseline. With it, Postgres waits for its disk, and the
	// locks are held to what they may take.
	resultsVariable = "PRISM_MIGRATION_RESULTS"
	fewResults      = 5000
	// longestLock is how long a migration may keep calls from a table.
	longestLock = 100 * time.Millisecond
)

// Calls go on while a migration is applied, and none fails. The last migration is that of a test. With PRISM_MIGRATION_RESULTS=1000000 this
// is the measured run, which -v shows.
func TestCallsGoOnBesideEachMigration(t *testing.T) {
	t.Parallel()
	results, callers, measured := fewResults, 2, os.Getenv(resultsVariable)
	var url string
	if measured == "" {
		url = pgtest.Shared(t).Database(t, "")
	} else {
		var err error
		if results, err = strconv.Atoi(measured); err != nil {
			t.Fatalf("%s: %v", resultsVariable, err)
		}
		callers = 4
		server, err := pgtest.Start(t.Context(), pgtest.Options{Fsync: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		url = server.Database(t, "")
	}
	baseline(t, url)
	fill(t, url, results)
	exec(t, url, "VACUUM ANALYZE results")

	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "migration\ttook ms\tcalls\tfailed\tslowest call ms\tlongest lock ms, at most\ton\t")
	for number := int64(store.Baseline + 1); number <= postgres.NextMigration; number++ {
		m, found := beside(t, url, number, callers)
		if !found {
			continue
		}
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%.1f\t%s\t\n", number, m.took.Milliseconds(), m.calls, m.failed,
			m.slowest.Milliseconds(), m.lock.Seconds()*1000, m.locked)
		if m.failed > 0 {
			t.Errorf("migration %d: %d of %d calls failed, the first one: %v", number, m.failed, m.calls, m.failure)
		}
		if measured != "" && m.lock > longestLock {
			t.Errorf("migration %d holds %s for up to %s", number, m.locked, m.lock)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("with %d results:\n%s", results, table.String())
	if got := values[int64](t, url, "SELECT max(version_id) FROM goose_db_version")[0]; got != postgres.NextMigration {
		t.Errorf("the database is at %d", got)
	}
}

// A migration gives up waiting for a lock, so that saves do not queue behind it, and tries again.
func TestAMigrationLetsSavesPassWhileItWaitsForALock(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	baseline(t, url)
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A save of another process that takes long: the column waits for it.
	if _, err := tx.Exec(t.Context(), "LOCK TABLE results IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- postgres.MigrateTo(t.Context(), url, postgres.NextMigration) }()
	save, saving := saveOf(columnsOf(t, url)), connect(t, url)
	waits := connect(t, url)
	const query = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'results'::regclass AND NOT granted AND mode = 'AccessExclusiveLock')"
	for range 2 { // the migration waits, saves pass, and it waits again
		for waiting := false; !waiting; {
			if err := waits.QueryRow(t.Context(), query).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			if err := save(t.Context(), saving); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// pass waits until some results were saved.
func pass(t testing.TB, saved <-chan struct{}, results int) {
	t.Helper()
	for range results {
		select {
		case <-saved:
		case <-t.Context().Done():
			t.Fatal("nothing is saved")
		}
	}
}

// baseline makes the schema of the first release, with an account, a key and a prism.
func baseline(t *testing.T, url string) {
	t.Helper()
	migrateTo(t, url, store.Baseline)
	exec(t, url, "INSERT INTO accounts (id, name, created_at) VALUES ($1, 'a', now())", account().UUID)
	exec(t, url, `INSERT INTO api_keys (id, account_id, digest, prefix, name, created_at)
		VALUES (gen_random_uuid(), $1, $2, 'prism_', 'a', now())`, account().UUID, digestBytes())
	exec(t, url, `INSERT INTO prisms (account_id, id, slug, name, lens, latest_version, created_at)
		VALUES ($1, $2, 'triage', 'a', '{}', 1, now())`, account().UUID, prismID().UUID)
	exec(t, url, `INSERT INTO versions (account_id, prism_id, number, definition, created_at) VALUES ($1, $2, 1, '{}', now())`,
		account().UUID, prismID().UUID)
}

func migrateTo(t *testing.T, url string, number int64) {
	t.Helper()
	if err := postgres.MigrateTo(t.Context(), url, number); err != nil {
		t.Fatal(err)
	}
}

// migration is what was seen of one.
type migration struct {
	took          time.Duration
	calls, failed int
	failure       error
	slowest       time.Duration
	lock          time.Duration // no lock that keeps calls from a table was held longer
	locked        string        // that table, and the mode
}

// beside applies the migrations up to a number while half of the callers save and the others read, before
// and after too. found is false if no migration has the number. A migration waits for a lock until the statements before it end
// within lockTimeout, so a machine that is too busy for its callers delays it.
func beside(t *testing.T, url string, number int64, callers int) (m migration, found bool) {
	t.Helper()
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		called = make(chan struct{})
		ctx    = t.Context()
	)
	until, stop := context.WithCancel(ctx)
	defer stop()
	columns := columnsOf(t, url)
	save, read := saveOf(columns), readOf(columns)
	for i := range callers {
		call := save
		if i%2 == 0 {
			call = read
		}
		conn := connect(t, url)
		group.Go(func() {
			for until.Err() == nil {
				began := time.Now()
				err := call(ctx, conn)
				took := time.Since(began)
				mu.Lock()
				m.calls++
				m.slowest = max(m.slowest, took)
				if err != nil {
					m.failed++
					if m.failure == nil {
						m.failure = err
					}
				}
				mu.Unlock()
				select {
				case called <- struct{}{}:
				default:
				}
			}
		})
	}
	watching := connect(t, url)
	group.Go(func() {
		lock, locked, err := longestHeld(ctx, until, watching)
		mu.Lock()
		defer mu.Unlock()
		if m.lock, m.locked = lock, locked; err != nil {
			t.Error(err)
		}
	})
	pass(t, called, 40)
	began := time.Now()
	migrateTo(t, url, number)
	m.took = time.Since(began)
	pass(t, called, 40)
	stop()
	group.Wait()
	return m, values[int64](t, url, "SELECT max(version_id) FROM goose_db_version")[0] == number
}

// columnsOf are the columns of results.
func columnsOf(t *testing.T, url string) []string {
	t.Helper()
	return values[string](t, url, `SELECT attname::text FROM pg_attribute
		WHERE attrelid = 'results'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`)
}

// saveOf saves a result into the columns that there are.
func saveOf(columns []string) func(context.Context, *pgx.Conn) error {
	given := map[string]string{
		"account_id": "v.account_id", "id": "$2::uuid", "prism_id": "v.prism_id", "version": "v.number", "context": "''", "fields": "'[]'",
		"status": "'failed'", "error": "'It failed.'", "took_ms": "1", "created_at": "$4::timestamptz",
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		if list[i] = given[c]; list[i] == "" {
			list[i] = "NULL"
		}
	}
	insert := `INSERT INTO results (` + strings.Join(columns, ", ") + `) SELECT ` + strings.Join(list, ", ") + `
		FROM versions v WHERE v.account_id = $1 AND v.prism_id = $3 AND v.number = 1 ON CONFLICT DO NOTHING`
	return func(ctx context.Context, conn *pgx.Conn) error {
		now := time.Now()
		id, err := prism.NewUUID(now, rand.Reader)
		if err != nil {
			return err
		}
		done, err := conn.Exec(ctx, insert, account().UUID, id, prismID().UUID, now)
		if err == nil && done.RowsAffected() != 1 {
			err = fmt.Errorf("%d results were saved", done.RowsAffected())
		}
		return err
	}
}

// readOf reads the newest results with the columns that there are, and all that a read needs beside them.
func readOf(columns []string) func(context.Context, *pgx.Conn) error {
	query := `SELECT r.` + strings.Join(columns, ", r.") + `, p.slug, p.lens, v.definition
		FROM api_keys k JOIN results r ON r.account_id = k.account_id
		JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
		JOIN versions v ON v.account_id = r.account_id AND v.prism_id = r.prism_id AND v.number = r.version
		WHERE k.digest = $1 AND k.revoked_at IS NULL AND r.account_id = $2 ORDER BY r.id DESC LIMIT 20`
	return func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, digestBytes(), account().UUID)
		if err != nil {
			return err
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if n != 20 {
			return fmt.Errorf("%d results were read", n)
		}
		return nil
	}
}

func digestBytes() []byte { d := digest(); return d[:] }

// longestHeld watches locks that keep saves or reads from a table until a context ends, and returns the longest time that one may
// have been held: from the last look without it to the first one that does not find it any more.
func longestHeld(ctx, until context.Context, conn *pgx.Conn) (longest time.Duration, locked string, err error) {
	const query = `SELECT l.pid, l.virtualtransaction, c.relname || ' ' || l.mode FROM pg_locks l
		JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
		JOIN pg_stat_activity a ON a.pid = l.pid AND a.backend_type = 'client backend'
		WHERE l.locktype = 'relation' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`
	type lock struct {
		PID               int32
		Transaction, Kind string
	}
	held, last := map[lock]time.Time{}, time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-until.Done():
			ended = true
		}
		began := time.Now()
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return 0, "", err
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[lock])
		if err != nil {
			return 0, "", err
		}
		still := map[lock]time.Time{}
		for _, l := range found {
			still[l] = last
			if since, known := held[l]; known {
				still[l] = since
			}
		}
		now := time.Now()
		for l, since := range held {
			if _, holds := still[l]; !holds && now.Sub(since) > longest {
				longest, locked = now.Sub(since), l.Kind
			}
		}
		held, last = still, began
	}
	return longest, locked, nil
}
