package mover_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
	"github.com/prism-results/prism/services/results/internal/service"
)

// settings are those that moves need, and more workers than a server has by default, as tests move many accounts at once.
func settings() pgtest.Options {
	return pgtest.Options{Settings: map[string]string{
		"wal_level": "logical", "max_logical_replication_workers": "60", "max_worker_processes": "80", "max_replication_slots": "100",
		"max_wal_senders": "100", "max_sync_workers_per_subscription": "4", "wal_retrieve_retry_interval": "100ms",
	}}
}

// logical are servers that the tests of this process share.
var logical struct { //nolint:gochecknoglobals // as pgtest has one
	sync.Once
	home, other *pgtest.Server
	err         error
}

// servers ends them.
type servers struct{ tests *testing.M }

func (s servers) Run() int {
	code := s.tests.Run()
	for _, server := range []*pgtest.Server{logical.home, logical.other} {
		if server != nil {
			_ = server.Close()
		}
	}
	return code
}

func start(t *testing.T) *pgtest.Server {
	t.Helper()
	server, err := pgtest.Start(context.WithoutCancel(t.Context()), settings())
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func shared(t *testing.T) map[string]*pgtest.Server {
	t.Helper()
	logical.Do(func() { logical.home, logical.other = start(t), start(t) })
	if logical.other == nil {
		t.Fatal("the servers did not start")
	}
	return map[string]*pgtest.Server{"home": logical.home, "b": logical.other}
}

// world is two databases, of which the first is home.
type world struct {
	urls map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldIn(t, shared(t))
}

// newWorldIn is newWorld in servers by name.
func newWorldIn(t *testing.T, in map[string]*pgtest.Server) *world {
	t.Helper()
	w := &world{urls: map[string]string{}}
	for name, server := range in {
		server.Template(t, "store", postgres.Migrate)
		w.urls[name] = server.Database(t, "store")
	}
	t.Cleanup(func() { // a database with slots or subscriptions is not dropped
		for _, url := range w.urls {
			exec(t, context.WithoutCancel(t.Context()), url, `DO $$ DECLARE s text; BEGIN
	FOR s IN SELECT subname FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()) LOOP
		EXECUTE 'ALTER SUBSCRIPTION ' || s || ' DISABLE'; EXECUTE 'ALTER SUBSCRIPTION ' || s || ' SET (slot_name = NONE)';
		EXECUTE 'DROP SUBSCRIPTION ' || s; END LOOP; END $$`)
		}
		for _, url := range w.urls {
			exec(t, context.WithoutCancel(t.Context()), url, `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
WHERE database = current_database() AND active_pid IS NOT NULL`)
		}
	})
	return w
}

// deps are those of a mover, whose statements traced may see; nil: nobody sees them.
func (w *world) deps(tracer pgx.QueryTracer, tell func(string)) mover.Deps {
	if tell == nil {
		tell = func(string) {}
	}
	d := mover.Deps{Tell: tell}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(w.urls))) { // home comes first
		url := w.urls[name]
		d.Databases = append(d.Databases, mover.Database{Name: name, URL: func() (string, error) { return url, nil }, Tracer: tracer})
	}
	d.Home = d.Databases[0]
	return d
}

func exec(t *testing.T, ctx context.Context, url, statement string, args ...any) { //nolint:revive // the test comes first
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	if err == nil {
		defer conn.Close(context.WithoutCancel(ctx))
		_, err = conn.Exec(ctx, statement, args...)
	}
	if err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

func query[T any](t *testing.T, url, statement string, args ...any) (found T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		defer conn.Close(context.WithoutCancel(t.Context()))
		err = conn.QueryRow(t.Context(), statement, args...).Scan(&found)
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return found
}

// addAccount makes an account in a database with some rows in each table that a move takes along.
func (w *world) addAccount(t *testing.T, in string) prism.AccountID {
	t.Helper()
	id, err := service.OrderedIDs(now)()
	if err != nil {
		t.Fatal(err)
	}
	account := prism.AccountID{UUID: id}
	conn, err := pgx.Connect(t.Context(), w.urls[in])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	exec(t, t.Context(), w.urls["home"], `INSERT INTO directory_accounts (account_id, name, database, made) VALUES ($1::uuid, $1::text, $2, true)`,
		account.String(), in)
	if _, err := conn.Exec(t.Context(), "SET session_replication_role = replica"); err != nil {
		t.Fatal(err)
	}
	for _, name := range mover.Tables() {
		if err := fill(t.Context(), conn, name, account); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return account
}

// values are those of columns that not any value of their type fits.
var values = map[string]string{ //nolint:gochecknoglobals // a table
	"accounts.id": "$1", "accounts.name": "$1", "api_keys.digest": "sha256(gen_random_uuid()::text::bytea)",
	"audit.actor_kind": "'operator'", "results.status": "'ok'", "results.answers": `'[ {"a":1.50, "b" : "ä\\u0041"} ]'`,
	"results.call": `'{"x":  [1,2 ,3]}'`, "results.bytes": "100", "results.tailed": "true", "retry_chunks.ids": `'\x00112233445566778899aabbccddeeff'`, "retry_chunks.states": "'p'",
	"files.status": "'ready'", "files.bytes": "1000", "files.layout": "'{\"sheets\":  null}'", "runs.status": "'running'", "run_chunks.states": "'p'",
	"run_chunks.row_count": "1", "run_chunks.pending": "1", "run_chunks.ok": "0", "run_chunks.failed": "0", "run_chunks.invalid": "0", "run_chunks.cancelled": "0",
	"deletions.days": "n", "tail.day": "19000", "tail.bytes": "100", "tail.status": "'ok'", "tail.type": "1", "tail.model": "'m'",
	"usage_tail.bytes": "7", "members.operator": "false", "drift_versions.set_from": "NULL",
}

// byType are values of types, for the row n.
var byType = map[string]string{ //nolint:gochecknoglobals // a table
	"uuid": "gen_random_uuid()", "text": "'text ' || n || E' \\\\ \"quoted\"\\n\\u00e4'", "integer": "n", "bigint": "n + 5000000000", "boolean": "n % 2 = 0",
	"json": `'{"b": 1,  "a":"\u00e4 \\u0041", "n": 1.10, "b":2}'`, "bytea": `'\x00ff10'::bytea || n::text::bytea`,
	"timestamp(3) with time zone": "TIMESTAMPTZ '2026-11-01 10:00:00.123Z' + n * INTERVAL '1 minute'", "double precision": "0.1 * n", "integer[]": "ARRAY[n, 2, 3]",
}

// rowsEach is how many rows of an account fill makes in each table that has a row for more than the account.
const rowsEach = 25

func fill(ctx context.Context, conn *pgx.Conn, table string, account prism.AccountID) error {
	rows, err := conn.Query(ctx, `SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_attribute a
WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' ORDER BY a.attnum`, table)
	if err != nil {
		return err
	}
	type column struct {
		name, kind string
		required   bool
	}
	columns, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c column, err error) {
		err = row.Scan(&c.name, &c.kind, &c.required)
		return c, err
	})
	if err != nil {
		return err
	}
	var names, given []string
	for _, c := range columns {
		value, special := values[table+"."+c.name]
		switch {
		case special:
		case c.name == "account_id":
			value = "$1"
		case !c.required:
			continue
		default:
			if value = byType[c.kind]; value == "" {
				return errors.New("no value of " + c.kind)
			}
		}
		names, given = append(names, `"`+c.name+`"`), append(given, value)
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM generate_series(1, %d) n ON CONFLICT DO NOTHING", table, strings.Join(names, ", "),
		strings.ReplaceAll(strings.Join(given, ", "), "$1", "'"+account.String()+"'"), rowsEach)
	_, err = conn.Exec(ctx, statement)
	return err
}
