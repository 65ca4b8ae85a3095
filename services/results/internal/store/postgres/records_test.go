package postgres_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/postgres"
)

// before7 is the schema before migration 7, with an account and a prism.
func before7(t testing.TB, server *pgtest.Server) string {
	t.Helper()
	server.Template(t, "store", postgres.Migrate)
	url := server.Database(t, "store")
	traced(t, url)
	if err := script(t.Context(), url,
		"DROP TRIGGER store_result ON results", "DROP TRIGGER remove_results ON results", "ALTER TABLE results DROP COLUMN bytes",
		"DROP VIEW stored_bytes_now", "DROP TRIGGER count_result ON results", "DROP VIEW usage_now", "DROP TABLE usage, usage_tail", "DROP FUNCTION count_result",
		"ALTER TABLE results DROP COLUMN key_id, DROP COLUMN model, DROP COLUMN input_tokens, DROP COLUMN output_tokens, "+
			"DROP COLUMN cost, DROP COLUMN currency, DROP COLUMN call",
		"DELETE FROM goose_db_version WHERE version_id >= 7",
	); err != nil {
		t.Fatal(err)
	}
	return url
}

// previousInsert is what the release before migration 7 executes to save a result.
//
//nolint:dupword // two columns are null
const previousInsert = `
WITH inserted AS (
	INSERT INTO results (account_id, id, prism_id, version, ref, context, fields, status, error, took_ms, created_at, answers,
		idempotency_key, retry_of)
	SELECT v.account_id, $2::uuid, v.prism_id, v.number, NULL, '', '[]', 'failed', 'It failed.', 1, $4::timestamptz, NULL, NULL, NULL
	FROM versions v
	WHERE v.account_id = $1 AND v.prism_id = $3 AND v.number = 1
	ON CONFLICT DO NOTHING
	RETURNING id
)
SELECT EXISTS (SELECT 1 FROM inserted)`

// inserter saves results as the previous release does until done is closed, and returns how long the slowest save took. It tells
// saved of each, if anybody listens.
func inserter(ctx context.Context, url string, done <-chan struct{}, saved chan<- struct{}) (slowest time.Duration, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	for {
		select {
		case <-done:
			return slowest, nil
		default:
		}
		now := time.Now()
		id, err := prism.NewUUID(now, rand.Reader)
		if err != nil {
			return 0, err
		}
		var inserted bool
		err = conn.QueryRow(ctx, previousInsert, account().UUID, id, prismID().UUID, now).Scan(&inserted)
		if err != nil || !inserted {
			return 0, fmt.Errorf("inserted %t: %w", inserted, err)
		}
		slowest = max(slowest, time.Since(now))
		select {
		case saved <- struct{}{}:
		default:
		}
	}
}

// migratedUnderSaves migrates while two connections save as the previous release, before and after too, and returns the time of
// the slowest save.
func migratedUnderSaves(t testing.TB, url string) (slowest time.Duration) {
	t.Helper()
	var (
		saves sync.WaitGroup
		mu    sync.Mutex
		saved = make(chan struct{})
		done  = make(chan struct{})
	)
	for range 2 {
		saves.Go(func() {
			took, err := inserter(t.Context(), url, done, saved)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			slowest = max(slowest, took)
		})
	}
	pass(t, saved, 20)
	migrate(t, url)
	pass(t, saved, 20)
	close(done)
	saves.Wait()
	return slowest
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

// counted fails the test unless usage is a scan of the results, and stored bytes one of results and files.
func counted(t testing.TB, url string) {
	t.Helper()
	s := open(t, url)
	for range 2 {
		sums, _, err := s.ReadUsage(t.Context(), account(), store.UsageFilter{By: api.ByDay, To: math.MaxInt32})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range sums {
			got = append(got, fmt.Sprintf("%s %d %d", s.Day, s.Results, s.Failed))
		}
		want := values[string](t, url, `SELECT (created_at AT TIME ZONE 'UTC')::date || ' ' || count(*) || ' ' ||
			count(*) FILTER (WHERE status = 'failed') FROM results GROUP BY (created_at AT TIME ZONE 'UTC')::date ORDER BY 1`)
		if len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("usage is %v, want %v", got, want)
		}
		stored, err := s.Storage(t.Context(), account())
		if err != nil {
			t.Fatal(err)
		}
		bytes := values[int64](t, url, `SELECT (coalesce(sum(octet_length(context) + octet_length(fields::text) + coalesce(octet_length(ref), 0) +
			coalesce(octet_length(error), 0) + coalesce(octet_length(answers::text), 0) + coalesce(octet_length(call::text), 0) + 256), 0) +
			(SELECT coalesce(sum(bytes + copy_bytes), 0) FROM files WHERE status <> 'deleted'))::bigint FROM results`)[0]
		if stored.Bytes != bytes {
			t.Errorf("%d bytes are stored, want %d", stored.Bytes, bytes)
		}
		if err := s.FoldUsage(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"usage_tail", "stored_bytes_tail"} {
		if tail := values[int64](t, url, "SELECT count(*) FROM "+table)[0]; tail != 0 {
			t.Errorf("%s has %d rows behind a fold", table, tail)
		}
	}
}

// fill stores results of many days.
func fill(t testing.TB, url string, results int) {
	t.Helper()
	exec(t, url, `INSERT INTO results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at, answers)
		SELECT $1, gen_random_uuid(), $2, 1, repeat('x', 200), '[]', CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'ok' END,
			CASE WHEN n % 3 = 0 THEN 'It failed.' END, 1, '2026-01-01 23:00 UTC'::timestamptz + n * interval '1 minute',
			CASE WHEN n % 3 > 0 THEN '{}'::json END
		FROM generate_series(1, $3::int) n`, account().UUID, prismID().UUID, results)
}

// spec: usage-is-exact
func TestAMigrationCountsWhatIsSavedBeforeAndMeanwhile(t *testing.T) {
	t.Parallel()
	url := before7(t, pgtest.Shared(t))
	fill(t, url, 20_000)
	migratedUnderSaves(t, url)
	counted(t, url)
}

// spec: usage-is-exact
func TestAMigrationThatIsRepeatedCountsEachResultOnce(t *testing.T) {
	t.Parallel()
	url := before7(t, pgtest.Shared(t))
	fill(t, url, 3000)
	for range 2 { // the first was interrupted before it was recorded
		migratedUnderSaves(t, url)
		exec(t, url, "DROP VIEW stored_bytes_now; DELETE FROM goose_db_version WHERE version_id >= 7")
	}
	migratedUnderSaves(t, url)
	counted(t, url)
}

// spec: usage-is-exact
func TestAMigrationCountsOnPartitionedTablesToo(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	server.Template(t, "by account", byAccount)
	url := server.Database(t, "by account")
	traced(t, url)
	exec(t, url, "DROP VIEW stored_bytes_now; DELETE FROM goose_db_version WHERE version_id >= 7")
	fill(t, url, 3000)
	migratedUnderSaves(t, url)
	counted(t, url)
}

// A migration gives up waiting for a lock, so that saves do not queue behind it, and tries again.
func TestAMigrationLetsSavesPassWhileItWaitsForALock(t *testing.T) {
	t.Parallel()
	url := before7(t, pgtest.Shared(t))
	fill(t, url, 3000)
	conn := connect(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A save of another process that takes long: the columns wait for it, and then the trigger.
	if _, err := tx.Exec(t.Context(), "LOCK TABLE results IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- postgres.Migrate(t.Context(), url) }()
	saved, done, passed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { _, err := inserter(t.Context(), url, done, saved); passed <- err }()
	waits := connect(t, url)
	const query = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'results'::regclass AND NOT granted AND mode = 'AccessExclusiveLock')"
	for range 2 { // the migration waits, saves pass, and it waits again
		for waiting := false; !waiting; {
			if err := waits.QueryRow(t.Context(), query).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
		pass(t, saved, 3)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	close(done)
	if err := <-passed; err != nil {
		t.Fatal(err)
	}
	counted(t, url)
}

// The statement of the previous release works on the newest schema.
// spec: usage-is-exact
func TestASaveOfThePreviousReleaseIsCounted(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	_, s, _ := traced(t, url)
	conn := connect(t, url)
	for range 2 { // the second is a repeat
		if _, err := conn.Exec(t.Context(), previousInsert, account().UUID, prism.UUID{9}, prismID().UUID, time.UnixMilli(0)); err != nil {
			t.Fatal(err)
		}
	}
	sums, _, err := s.ReadUsage(t.Context(), account(), store.UsageFilter{By: api.ByDay, To: 1})
	if want := []store.UsageSum{{Results: 1, Failed: 1}}; err != nil || !slices.Equal(sums, want) {
		t.Errorf("usage is %+v, %v, want %+v", sums, err, want)
	}
	if record, err := s.Record(t.Context(), account(), prism.ResultID{UUID: prism.UUID{9}}); err != nil || record.Result.Call != nil {
		t.Errorf("the record is %+v, %v", record, err)
	}
}

// A role that may save may have no right to the new tables yet.
func TestASaveNeedsNoRightToTheTablesOfUsage(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	_, s, _ := traced(t, url)
	conn := connect(t, url)
	role := "saver_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	for _, statement := range []string{
		"CREATE ROLE " + role, "GRANT SELECT, INSERT ON results TO " + role, "GRANT SELECT ON versions TO " + role, "SET ROLE " + role,
		"SET search_path = pg_catalog",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	const insert = `INSERT INTO public.results (account_id, id, prism_id, version, context, fields, status, error, took_ms, created_at)
		VALUES ($1, $2, $3, 1, '', '[]', 'failed', 'It failed.', 1, now())`
	_, err := conn.Exec(t.Context(), insert, account().UUID, prism.UUID{9}, prismID().UUID)
	for _, statement := range []string{"RESET ROLE", "RESET search_path", "DROP OWNED BY " + role, "DROP ROLE " + role} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	sums, _, err := s.ReadUsage(t.Context(), account(), store.UsageFilter{By: api.ByModel, To: math.MaxInt32})
	if err != nil || len(sums) != 1 || sums[0].Results != 1 {
		t.Errorf("usage is %+v, %v", sums, err)
	}
}

// BenchmarkMigrationBesideSaves counts a million results while saves go on. Besides its time, it reports the slowest save.
func BenchmarkMigrationBesideSaves(b *testing.B) {
	server, err := pgtest.Start(b.Context(), pgtest.Options{Fsync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	for b.Loop() {
		b.StopTimer()
		url := before7(b, server)
		fill(b, url, 1_000_000)
		b.StartTimer()
		slowest := migratedUnderSaves(b, url)
		b.StopTimer()
		b.ReportMetric(float64(slowest.Milliseconds()), "slowest-save-ms")
		counted(b, url)
		b.StartTimer()
	}
}
