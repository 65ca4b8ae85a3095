package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/prism-results/prism/services/results/internal/store/sqlite"
)

// Migration 11 makes the table of the audit anew.
//
// spec: audit-append-only
func TestTheAuditKeepsItsEntriesWhenMembersAreAdded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prism.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	before, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migrations"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.UpTo(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	const entry = `INSERT INTO audit VALUES (x'01', $1, 7, $2, $3, 'name', 'key.create', 'key', x'02', 'object',
	CAST('{"role":"owner"}' AS BLOB))`
	for id, actor := range map[string]string{"a": "key", "b": "operator"} {
		var by []byte
		if actor == "key" {
			by = []byte("k")
		}
		if _, err := db.ExecContext(t.Context(), entry, []byte(id), actor, by); err != nil {
			t.Fatal(err)
		}
	}
	const entries = `SELECT account_id || id || created_at || actor_kind || coalesce(actor_id, '-') || actor_name || action ||
	object_kind || object_id || object_name || detail FROM audit ORDER BY id`
	want := values(t, path, entries)
	if err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if got := values(t, path, entries); len(got) != 2 || !slices.Equal(got, want) {
		t.Errorf("the entries are %v, want %v", got, want)
	}
	if _, err := db.ExecContext(t.Context(), entry, []byte("c"), "member", []byte("m")); err != nil {
		t.Errorf("an entry of a member: %v", err)
	}
	if _, err := db.ExecContext(t.Context(), entry, []byte("d"), "member", nil); err == nil {
		t.Error("an entry of a member without its id is stored")
	}
	for _, change := range []string{"UPDATE audit SET actor_name = 'x'", "DELETE FROM audit"} {
		if _, err := db.ExecContext(t.Context(), change); err == nil {
			t.Errorf("%s is done", change)
		}
	}
}
