package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

const movedAccount = "01980000-0000-7000-8000-000000000001" // of storetest.TableRows

// refused is the SQLSTATE and detail of a refusal.
func refused(err error) string {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	return refusal.Code + " " + refusal.Detail
}

// spec: account-moves
func TestAWriteIsRefusedWhileAndAfterItsAccountIsSwitched(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t, "")
	migrate(t, url)
	seed(t, url, map[int]bool{})
	exec(t, url, "DELETE FROM moved_accounts")
	for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
		row := map[bool]string{true: "OLD", false: "NEW"}[event == "DELETE"]
		exec(t, url, "CREATE TRIGGER refuse_"+event+" BEFORE "+event+" ON labels FOR EACH ROW WHEN ("+row+".account_id = '"+movedAccount+
			"') EXECUTE FUNCTION refuse_moved('"+movedAccount+"')")
	}
	writes := func(want string) {
		t.Helper()
		for _, write := range []string{
			"UPDATE labels SET hash = hash + 1 WHERE account_id = $1", "DELETE FROM labels WHERE account_id = $1",
			"INSERT INTO labels SELECT account_id, prism_id, result_id, 'other', version, value, sample, annotator, origin, key_id, labelled_at, hash " +
				"FROM labels WHERE account_id = $1",
		} {
			conn := connect(t, url)
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tag, err := tx.Exec(t.Context(), write, movedAccount)
			if err == nil && tag.RowsAffected() == 0 {
				t.Errorf("%s changed nothing", write)
			}
			if got := refused(err); got != want {
				t.Errorf("%s: %q (%v), want %q", write, got, err, want)
			}
			_ = tx.Rollback(t.Context())
		}
	}
	writes("")
	mover, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mover.Exec(t.Context(), "SELECT pg_advisory_xact_lock(move_lock($1))", movedAccount); err != nil {
		t.Fatal(err)
	}
	writes("PM001 " + movedAccount)
	if _, err := mover.Exec(t.Context(), "INSERT INTO moved_accounts (account_id, database, epoch) VALUES ($1, 'b', 2)", movedAccount); err != nil {
		t.Fatal(err)
	}
	if err := mover.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	writes("PM002 " + movedAccount)
}

// spec: account-moves
func TestTheRowsOfAnAccountArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	source, target := server.Database(t, ""), server.Database(t, "")
	migrate(t, source)
	migrate(t, target)
	seed(t, source, map[int]bool{})
	from, to := connect(t, source), connect(t, target)
	number := 0
	var tables []string
	for _, row := range storetest.TableRows() {
		if _, ofAccount := row.Values["account_id"]; row.Table != "accounts" && !ofAccount || strings.HasPrefix(row.Table, "directory_") ||
			slices.Contains([]string{"arriving_rows", "moved_accounts", "moves"}, row.Table) || slices.Contains(tables, row.Table) {
			continue
		}
		tables = append(tables, row.Table)
		rows, err := from.Query(t.Context(), "SELECT row_to_json(r)::text FROM "+row.Table+" r")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range must(pgx.CollectRows(rows, pgx.RowTo[string]))(t) {
			number++
			if _, err := to.Exec(t.Context(), "INSERT INTO arriving_rows VALUES ($1, $2, 3, $3, $4::json)", movedAccount, number, row.Table, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	exec(t, target, "INSERT INTO moved_accounts VALUES ($1, 'a', 2)", movedAccount)
	activate := func(epoch int) bool {
		t.Helper()
		var did bool
		if err := to.QueryRow(t.Context(), "SELECT activate_account($1, $2)", movedAccount, epoch).Scan(&did); err != nil {
			t.Fatal(err)
		}
		return did
	}
	if activate(2) {
		t.Error("an epoch that is over made the rows of the next one")
	}
	if !activate(3) || activate(3) {
		t.Error("the rows were made another number of times than once")
	}
	for _, table := range tables {
		all := "SELECT r::text FROM " + table + " r ORDER BY 1"
		if strings.HasSuffix(table, "tail") { // which numbers its rows anew
			all = "SELECT account_id || bytes::text FROM stored_bytes_now ORDER BY 1"
		}
		if got, want := values[string](t, target, all), values[string](t, source, all); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", table, got, want)
		}
	}
	if left := values[int](t, target, "SELECT (SELECT count(*) FROM arriving_rows) + (SELECT count(*) FROM moved_accounts)")[0]; left != 0 {
		t.Errorf("%d rows of the move are left", left)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
