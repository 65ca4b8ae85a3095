package mover_test

import (
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
)

func now() time.Time { return time.Now() }

// sumsOf are how many rows of the account each table of a database has, and a hash of them, but for the digests of keys and numbers that
// Postgres gives.
func (w *world) sumsOf(t *testing.T, in string, account prism.AccountID) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for _, name := range mover.Tables() {
		id := "account_id"
		if name == "accounts" {
			id = "id"
		}
		sums[name] = query[string](t, w.urls[in], `SELECT count(*) || ' ' || coalesce(md5(string_agg((to_jsonb(t) - 'digest' - 'position')::text, ' ' ORDER BY (to_jsonb(t) - 'digest' - 'position')::text)), '') FROM `+
			name+` t WHERE `+id+` = $1`, account.String())
	}
	return sums
}

// gone expects a database to have no row of an account, and nothing of a move.
func (w *world) gone(t *testing.T, in string, account prism.AccountID) {
	t.Helper()
	for name, sum := range w.sumsOf(t, in, account) {
		if sum != "0 " {
			t.Errorf("%s has rows of %s: %s", in, name, sum)
		}
	}
}

// clean expects that no database has anything of a move that is over.
func (w *world) clean(t *testing.T, account prism.AccountID) {
	t.Helper()
	for name, url := range w.urls {
		for _, left := range []string{
			`SELECT count(*) FROM pg_publication WHERE pubname LIKE $1`, `SELECT count(*) FROM pg_subscription WHERE subname LIKE $1`,
			`SELECT count(*) FROM pg_replication_slots WHERE slot_name LIKE $1`, `SELECT count(*) FROM pg_trigger WHERE tgname LIKE $1`,
		} {
			if n := query[int](t, url, left, "prism_move_%"+hexOf(account)+"%"); n > 0 {
				t.Errorf("%s: %d of %s", name, n, left)
			}
		}
		for _, table := range []string{"arriving_rows", "moves"} {
			if n := query[int](t, url, "SELECT count(*) FROM "+table+" WHERE account_id = $1", account.String()); n > 0 {
				t.Errorf("%s has %d rows of %s", name, n, table)
			}
		}
	}
}

func hexOf(account prism.AccountID) string {
	var hex []byte
	for _, b := range account.UUID {
		hex = append(hex, "0123456789abcdef"[b>>4], "0123456789abcdef"[b&15])
	}
	return string(hex)
}

func (w *world) placeOf(t *testing.T, account prism.AccountID) string {
	t.Helper()
	return query[string](t, w.urls["home"], "SELECT database || ' ' || epoch FROM directory_accounts WHERE account_id = $1", account.String())
}

// spec: account-move-command
func TestEveryTableOfAnAccountIsMovedOrStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := query[[]string](t, w.urls["b"], `SELECT array_agg(c.relname::text) FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
AND c.relkind IN ('r', 'p') AND (c.relname = 'accounts' OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id'))`)
	known := slices.Concat(mover.Tables(), mover.Stay())
	for _, name := range all {
		if !slices.Contains(known, name) {
			t.Errorf("%s is neither replicated, nor carried, nor home's alone", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(all, name) {
			t.Errorf("there is no table %s", name)
		}
	}
	// An update of a published table fails for every account if what identifies its rows lacks the column of the filter.
	for _, name := range mover.ReplicatedTables() {
		if !query[bool](t, w.urls["b"], `SELECT c.relreplident = 'f' OR c.relreplident = 'd' AND EXISTS (
	SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
	WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'account_id') FROM pg_class c WHERE c.oid = $1::text::regclass`, name) {
			t.Errorf("the replica identity of %s lacks the account", name)
		}
	}
}

// spec: account-move-command
func TestAnAccountMovesWithAllOfItsRowsAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account, other := w.addAccount(t, "home"), w.addAccount(t, "home")
	before, others := w.sumsOf(t, "home", account), w.sumsOf(t, "home", other)
	for i, to := range []string{"b", "home", "b"} {
		from := map[string]string{"b": "home", "home": "b"}[to]
		if err := mover.Move(t.Context(), w.deps(nil, func(line string) { t.Log(time.Now().Format("05.000"), line) }), account, to); err != nil {
			t.Fatal(err)
		}
		w.same(t, before, w.sumsOf(t, to, account))
		w.gone(t, from, account)
		w.clean(t, account)
		if place, want := w.placeOf(t, account), to+" "+string(rune('2'+i)); place != want {
			t.Errorf("the directory has %s, not %s", place, want)
		}
	}
	w.same(t, others, w.sumsOf(t, "home", other))
	if err := mover.Move(t.Context(), w.deps(nil, nil), account, "b"); err != nil {
		t.Errorf("moving to where the account is: %v", err)
	}
}

// The trigger that counts a file counts nothing at the target: the bytes of a file may be in the sums already, with nothing left to be added.
//
// spec: account-move-command
func TestTheBytesOfAnAccountWhoseSumsAreUpToDateAreNotCountedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := w.addAccount(t, "home")
	exec(t, t.Context(), w.urls["home"], "DELETE FROM stored_bytes_tail WHERE account_id = $1", account.UUID)
	before := w.sumsOf(t, "home", account)
	if err := mover.Move(t.Context(), w.deps(nil, nil), account, "b"); err != nil {
		t.Fatal(err)
	}
	w.same(t, before, w.sumsOf(t, "b", account))
}

func (w *world) same(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if want[name] != got[name] {
			t.Errorf("%s: %s, and %s", name, want[name], got[name])
		}
	}
}
