package postgres_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func BenchmarkSaveRows(b *testing.B) {
	server := pgtest.Shared(b)
	server.Template(b, "store", postgres.Migrate)
	storetest.BenchmarkSaveRows(b, open(b, server.Database(b, "store")))
}

func BenchmarkReadDistribution(b *testing.B) {
	server := pgtest.Shared(b)
	server.Template(b, "store", postgres.Migrate)
	storetest.BenchmarkReadDistribution(b, open(b, server.Database(b, "store")))
}

const (
	manyRuns = `INSERT INTO runs (account_id, id, prism_id, version, file_id, name, mapping, status, reason,
	key_id, pause_at, rows_per_second, concurrency, row_count, chunks, attempt, created_at, leased_at, watched_from)
SELECT account_id, ('10000000-0000-0000-0000-00000000000' || n)::uuid, id, 1, id, '', '{}', 'running', '', id, 1, 0, 0, 1000000, 5000,
	1, now(), now() + n * interval '1 second', now()
FROM prisms, generate_series(1, 4) n`
	manyChunks = `INSERT INTO run_chunks (account_id, run_id, number, first_row, row_count, attempt, states, pending,
	ok, failed, invalid, cancelled, outcomes, granted, input_tokens, output_tokens, cost, cost_rest, currency)
SELECT account_id, id, n, 1 + n * 200, 200, 1, repeat('p', 200), 200, 0, 0, 0, 0, '', 0, 0, 0, 0, 0, ''
FROM runs, generate_series(0, 4999) n`
	leaseThem = `UPDATE run_chunks SET token = gen_random_uuid(), leased_until = now() + interval '1 hour', begun_at = now()
WHERE number < 4900`
	endThem = `UPDATE run_chunks SET token = NULL, leased_until = NULL, states = repeat('o', 200), pending = 0, ok = 200,
	saved_at = now(), input_tokens = 7
WHERE number < 4900`
)

// TestLeasesAndReadsOfRunsSeek checks that neither passes over the chunks that are done: in tables without statistics, while an
// old snapshot keeps each dead version of each chunk and its entries of the indexes, and then with statistics.
func TestLeasesAndReadsOfRunsSeek(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	ctx, s, spans := traced(t, u)
	exec(t, u, manyRuns)
	exec(t, u, manyChunks)
	old := connect(t, u)
	if _, err := old.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM runs"); err != nil {
		t.Fatal(err)
	}
	exec(t, u, leaseThem)
	exec(t, u, endThem)
	now := time.Now()
	if _, err := s.TendRuns(ctx, now); err != nil {
		t.Fatal(err)
	}
	leased, err := s.LeaseChunk(ctx, prism.UUID{9}, now, now.Add(time.Minute))
	if err != nil || leased == nil || leased.Chunk.Number != 4900 {
		t.Fatalf("leased %+v, %v", leased, err)
	}
	run, err := s.ReadRun(ctx, account(), leased.Run.ID)
	if err != nil || run.OK != 4900*200 || run.Usage.InputTokens != 4900*7 {
		t.Fatalf("read %+v, %v", run, err)
	}
	of := "'" + account().String() + "', '" + leased.Run.ID.String() + "'"
	arguments := map[string]string{
		"WaitingRuns": "(now())", "LeasesOfRun": "(" + of + ")", "Runs": "(" + of + ")", "ExpiredLeases": "(now())", "UnfoldedRuns": "",
		"TendedRuns": "(now() - interval '1 minute', now())", "LeaseChunk": "(" + of + ", gen_random_uuid(), now(), 0, now(), now())",
	}
	statements := map[string]string{}
	for _, span := range spans.Ended() {
		for _, a := range span.Attributes() {
			name, _, _ := strings.Cut(strings.TrimPrefix(a.Value.String(), "-- name: "), " ")
			if _, seeks := arguments[name]; a.Key == queryText && seeks {
				statements[name] = a.Value.String()
			}
		}
	}
	if len(statements) != len(arguments) {
		t.Errorf("%d statements were seen, want %d", len(statements), len(arguments))
	}
	conn := connect(t, u)
	if _, err := conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan"); err != nil {
		t.Fatal(err)
	}
	for _, statistics := range []string{"", "ANALYZE"} {
		exec(t, u, statistics)
		for name, statement := range statements {
			plan := buffers(t, conn, statement, arguments[name])
			// What a statement touches is what the first line of buffers says: those of its whole plan.
			touched := 0
			_, line, _ := strings.Cut(plan, "Buffers: shared ")
			line, _, _ = strings.Cut(line, "\n")
			for _, n := range regexp.MustCompile(`(?:hit|read)=(\d+)`).FindAllStringSubmatch(line, -1) {
				pages, err := strconv.Atoi(n[1])
				if err != nil {
					t.Fatal(err)
				}
				touched += pages
			}
			if touched == 0 || touched > 150 || strings.Contains(plan, "Seq Scan on run_chunks") {
				t.Errorf("%s touches %d pages (%s):\n%s", name, touched, statistics, plan)
			}
		}
	}
}

// buffers is the generic plan of a statement with the pages that it touched, without what it wrote.
func buffers(t *testing.T, conn *pgx.Conn, statement, arguments string) string {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := conn.Prepare(t.Context(), "touching", statement); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE touching"+arguments,
		pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Deallocate(t.Context(), "touching"); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
