package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// These tests check what docs/scaling.md says about the schema, with the statements of that page.

// Every key and index begins with the account, except those that find the account.
func TestEveryKeyAndIndexBeginsWithTheAccount(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	const ours = `c.relnamespace = 'public'::regnamespace AND c.relname <> 'goose_db_version'`
	others := values[string](t, url, `
SELECT i.indexrelid::regclass::text
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE `+ours+` AND a.attname <> 'account_id'
ORDER BY 1`)
	// An account is found by its id or name, or by the object that declared it, an API key by its digest. Operators revoke a key by its id alone. What deletes
	// results, reads files, tends runs, sends events, tells of keys that end or follows moves looks for those of any account. Who signs in shows a link, a session or an identity. Terms differ
	// between accounts.
	want := []string{
		"accounts_name_key", "accounts_pkey", "api_keys_digest_key", "api_keys_expiring", "api_keys_of_session", "api_keys_of_sessions_expiring",
		"api_keys_pkey", "declared_accounts_object_key", "deletions_due", "deletions_search_due", "deliveries_ended", "directory_accounts_name_key", "directory_accounts_object_key", "directory_identities_pkey", "directory_keys_pkey", "ending_sessions_of_digest", "files_expiring", "files_reading", "members_claim", "members_identity", "moved_accounts_by_time",
		"result_index_terms", "revocation_mark_pkey", "revocation_numbers_pkey", "revocations_ending", "revocations_pkey",
		"runs_under_way", "session_members_pkey", "sessions_digest_key", "sessions_expiring", "sessions_pkey", "sign_in_links_expiring",
		"sign_in_links_pkey", "webhooks_due",
	}
	if !slices.Equal(others, want) {
		t.Errorf("indexes that begin with something else: %v, want %v", others, want)
	}
	unkeyed := values[string](t, url, `
SELECT c.relname FROM pg_class c
WHERE `+ours+` AND c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
ORDER BY c.relname`)
	// A row of a tail is deleted with all others of its time, and never looked up.
	if want := []string{"event_tail", "stored_bytes_tail", "tail", "usage_tail"}; !slices.Equal(unkeyed, want) {
		t.Errorf("tables without a primary key: %v, want %v", unkeyed, want)
	}
	// A row refers only to rows of its account, so that the rows of an account can be stored together.
	references := values[string](t, url, `
SELECT k.conname::text || ': ' || a.attname || ' -> ' || k.confrelid::regclass || '.' || b.attname
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
WHERE `+ours+` AND k.contype = 'f'
ORDER BY 1`)
	want = []string{
		"account_limits_account_fkey: account_id -> accounts.id",
		"api_keys_account_fkey: account_id -> accounts.id",
		"declared_accounts_account_fkey: account_id -> accounts.id",
		"prisms_account_fkey: account_id -> accounts.id",
		"versions_prism_fkey: account_id -> prisms.account_id",
	}
	if !slices.Equal(references, want) {
		t.Errorf("foreign keys: %v, want %v", references, want)
	}
}

// A table is on every node of Citus, or its rows lie where those of their account are: then an account is in each of its unique indexes.
//
// spec: citus-layout
func TestEveryTableIsOnAllNodesOrDistributedByAccount(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	tables := values[string](t, url, `
SELECT c.relname::text FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT EXISTS (
	SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND a.attnotnull AND NOT EXISTS (
		SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND NOT a.attnum = ANY (i.indkey)
	)
)
ORDER BY 1`)
	for _, table := range tables {
		if !slices.Contains(postgres.ReferenceTables, table) {
			t.Errorf("%s cannot be distributed by account, and is not among the tables that all nodes have", table)
		}
	}
	all := values[string](t, url, "SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'")
	for _, table := range postgres.ReferenceTables {
		if !slices.Contains(all, table) {
			t.Errorf("%s, which all nodes have, is no table", table)
		}
	}
}

func byAccount(ctx context.Context, url string) error {
	return divided(ctx, url, recipe("divide"), recipe("by account"), recipe("vacuum"))
}

func TestTheStorePassesTheSuiteDividedByMonth(t *testing.T) {
	t.Parallel()
	database := reused(t, "by month", func(ctx context.Context, url string) error {
		// The suite counts its ids up from 1. Here a test's results lie in several partitions.
		parts := "DO $$ DECLARE part text; BEGIN FOR part IN SELECT inhrelid::regclass FROM pg_inherits " +
			"WHERE inhparent = 'results'::regclass LOOP EXECUTE 'DROP TABLE ' || part; END LOOP; END $$;\n"
		from := "MINVALUE"
		for n, last := range []int{0x07, 0x09, 0x0b, 0x0e, 0xff} {
			to := "'" + storetest.NumberedID(last).String() + "'"
			parts += fmt.Sprintf("CREATE TABLE results_%d PARTITION OF results FOR VALUES FROM (%s) TO (%s);\n", n, from, to)
			from = to
		}
		parts += fmt.Sprintf("CREATE TABLE results_rest PARTITION OF results FOR VALUES FROM (%s) TO (MAXVALUE)", from)
		return divided(ctx, url, recipe("divide"), recipe("by month"), parts)
	})
	storetest.Run(t, func(t *testing.T) sqlstore.Store {
		t.Helper()
		return open(t, database(t))
	})
}

// No statement of a look-up names the account, and still it reads only the partitions of the account.
func TestACallTouchesOnePartitionOfEachTable(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	server.Template(t, "by account", byAccount)
	url := server.Database(t, "by account")
	ctx, s, spans := traced(t, url)
	operations := hotPath(ctx, s, 30)
	for _, name := range []string{"SaveResult", "CreateFacts", "ResultFacts"} {
		if err := operations[name](); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	conn := connect(t, url)
	const settings = `SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
		SET plan_cache_mode = force_generic_plan`
	if _, err := conn.Exec(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("'\\x%x'", digest())
	arguments := map[string]string{
		"CreateFacts": key + ", 'triage', '" + strings.ReplaceAll(secret, "'", "''") + "', false",
		"ResultFacts": key + ", '" + prism.UUID{30}.String() + "'",
	}
	scan := regexp.MustCompile(`Scan using \w+ on (prisms|versions|results)_\d \w+ \(actual rows=[1-9]`)
	never := regexp.MustCompile(`on (prisms|versions|results)_\d .*\(never executed\)`)
	idle := regexp.MustCompile(`on (prisms|versions|results)_\d .*\(actual rows=0`)
	for _, span := range spans.Ended() {
		for _, a := range span.Attributes() {
			statement := a.Value.String()
			name, _, _ := strings.Cut(strings.TrimPrefix(statement, "-- name: "), " ")
			if a.Key != queryText || arguments[name] == "" {
				continue
			}
			plan := analyze(t, conn, statement, arguments[name])
			delete(arguments, name)
			touched := map[string]int{}
			for _, found := range scan.FindAllStringSubmatch(plan, -1) {
				touched[found[1]]++
			}
			// The result's prism is looked up beside the one that was asked for, so prisms are touched twice by one of them.
			if touched["results"] != 1 || !never.MatchString(plan) || idle.MatchString(plan) {
				t.Errorf("%s touches %v:\n%s", name, touched, plan)
			}
		}
	}
	if len(arguments) > 0 {
		t.Errorf("statements that were not seen: %v", arguments)
	}
}

// analyze is the generic plan of a statement, with the rows that it read for these arguments.
func analyze(t *testing.T, conn *pgx.Conn, statement, arguments string) string {
	t.Helper()
	if _, err := conn.Prepare(t.Context(), "analyzed", statement); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE analyzed("+arguments+")",
		pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Deallocate(t.Context(), "analyzed"); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// TestOldResultsAreForgottenWithTheirMonth runs the statements that forget a month, for December 2025.
func TestOldResultsAreForgottenWithTheirMonth(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	december := `CREATE TABLE results_2025_12 PARTITION OF results
		FOR VALUES FROM (first_id('2025-12-01 UTC')) TO (first_id('2026-01-01 UTC'))`
	older := `DROP TABLE results_older; CREATE TABLE results_older PARTITION OF results
		FOR VALUES FROM (MINVALUE) TO (first_id('2025-12-01 UTC'));
		CREATE TABLE results_2026 PARTITION OF results FOR VALUES FROM (first_id('2026-01-01 UTC'))
		TO (first_id(date_trunc('month', now(), 'UTC')))`
	if err := divided(t.Context(), url, recipe("divide"), recipe("by month"), older, december); err != nil {
		t.Fatal(err)
	}
	_, s, _ := traced(t, url)
	newYear := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	save := func(at time.Time, key string) (prism.ResultID, error) {
		id, err := prism.NewUUID(at, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		r := failed(0)
		r.ID, r.CreatedAt, r.IdempotencyKey = prism.ResultID{UUID: id}, at, key
		_, err = s.SaveResult(t.Context(), account(), r)
		return r.ID, err
	}
	saved := func(at time.Time, key string) prism.ResultID {
		id, err := save(at, key)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	last, first := saved(newYear.Add(-time.Millisecond), "old"), saved(newYear, "new")
	unkeyed := saved(newYear.Add(-time.Hour), "")
	if rows := values[int64](t, url, "SELECT count(*) FROM results_2025_12")[0]; rows != 2 {
		t.Errorf("December has %d results, want 2", rows)
	}
	// No two results have the same key, in whichever months they are.
	if _, err := save(time.Now(), "old"); !errors.Is(err, contract.ErrKeyTaken) {
		t.Errorf("a key of another month: %v", err)
	}
	if err := script(t.Context(), url, "UPDATE results SET bytes = NULL WHERE idempotency_key IS NULL", recipe("forget")); err != nil {
		t.Fatal(err)
	}
	stored, err := s.Storage(t.Context(), account())
	if err != nil {
		t.Fatal(err)
	}
	if rows := values[int64](t, url, "SELECT sum(bytes)::bigint FROM results")[0]; stored.Bytes != rows { // spec: stored-bytes
		t.Errorf("%d bytes are stored, want %d", stored.Bytes, rows)
	}
	for id, want := range map[prism.ResultID]bool{last: false, unkeyed: false, first: true} {
		facts, err := s.ResultFacts(t.Context(), digest(), id, store.WithInput)
		if err != nil || (facts.Result != nil) != want {
			t.Errorf("%s is there: %v, %v, want %v", id, facts.Result != nil, err, want)
		}
	}
	if _, err := save(time.Now(), "new"); !errors.Is(err, contract.ErrKeyTaken) {
		t.Errorf("a key that is still held: %v", err)
	}
	if _, err := save(time.Now(), "old"); err != nil {
		t.Errorf("a key that was forgotten with its result: %v", err)
	}
}

// divided migrates a database and executes statements on it.
func divided(ctx context.Context, url string, statements ...string) error {
	if err := postgres.Migrate(ctx, url); err != nil {
		return err
	}
	return script(ctx, url, statements...)
}

// recipe is the block of statements in docs/scaling.md that begins with this comment.
func recipe(name string) string {
	text, err := os.ReadFile("../../../../docs/scaling.md")
	if err != nil {
		panic(err)
	}
	_, block, found := strings.Cut(string(text), "\n```sql\n-- "+name+"\n")
	block, _, ended := strings.Cut(block, "\n```\n")
	if !found || !ended {
		panic("docs/scaling.md has no statements called " + name)
	}
	return block
}

// reused gives an empty database of a template to each subtest of t.
func reused(t *testing.T, template string, migrate func(ctx context.Context, url string) error) func(testing.TB) string {
	t.Helper()
	server := pgtest.Shared(t)
	server.Template(t, template, migrate)
	return server.Reused(t, template)
}

// script runs statements on one connection.
func script(ctx context.Context, url string, statements ...string) (err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.PgConn().Exec(ctx, strings.Join(statements, ";\n")).ReadAll()
	return err
}
