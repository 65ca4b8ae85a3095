package directory_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) sqlstore.Statements {
	t.Helper()
	server := pgtest.Shared(t)
	server.Template(t, "store", postgres.Migrate)
	pg, err := postgres.Open(t.Context(), postgres.Config{URL: server.Database(t, "store"), MaxConns: 4}, postgres.Deps{})
	must(t, err)
	t.Cleanup(pg.Close)
	return pg.Statements
}

func accountID(n byte) prism.AccountID { return prism.AccountID{UUID: prism.UUID{1, n}} }

func by(n byte) store.By {
	return store.By{
		Entry: prism.UUID{2, n}, At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Actor: store.Actor{Kind: store.OperatorActor, Name: "o"},
	}
}

// add adds an account with a key, both of a number.
func add(t *testing.T, s sqlstore.Statements, n byte, name string) {
	t.Helper()
	must(t, s.CreateAccount(t.Context(), accountID(n), name, by(n)))
	k := keys.APIKey{ID: prism.KeyID{UUID: prism.UUID{1, n}}, Name: "k", Prefix: "p", Role: prism.Owner, CreatedAt: by(n).At}
	must(t, s.CreateKey(t.Context(), accountID(n), k, contract.KeyDigest{n}, 10, by(n+100)))
}

// spec: directory-repair
func TestTheDirectoryLearnsWhatADatabaseHas(t *testing.T) {
	t.Parallel()
	home, b := open(t), open(t)
	d := directory.SQL{Database: home.Database}
	fromHome, fromB := directory.Source{Name: "home", Database: home.Database}, directory.Source{Name: "b", Database: b.Database}
	add(t, home, 1, "one")
	add(t, b, 2, "two")
	add(t, b, 3, "three")
	knows := func(from directory.Source, want bool) {
		t.Helper()
		if is, err := d.Knows(t.Context(), from); err != nil || is != want {
			t.Errorf("the directory knows %s: %t, %v", from.Name, is, err)
		}
	}
	const member = `INSERT INTO members (account_id, id, name, email, role, operator, issuer, subject, created_at, removed_at)
VALUES ($1, $2, 'm', 'm@example.com', 'viewer', false, 'https://id.example', $3, $4, $5)`
	for n, removed := range []any{nil, by(1).At} {
		args := []any{accountID(2).UUID, prism.UUID{3, byte(n)}, fmt.Sprint(n), by(1).At, removed}
		must(t, b.Run(t.Context(), sqldb.Change("add", member, args...), sqldb.NoRow))
	}
	identities := func() (n int64) {
		const count = `SELECT count(*) FROM directory_identities WHERE issuer = 'https://id.example' AND subject = '0' AND account_id = $1`
		must(t, home.Run(t.Context(), sqldb.Query("count", count, accountID(2).UUID), sqldb.ReadRow(&n, (*sqldb.Row).Int)))
		return n
	}
	learns := func(from directory.Source, accounts, keys int, findings ...directory.Finding) {
		t.Helper()
		l, err := d.Learn(t.Context(), from)
		must(t, err)
		if l.Accounts != accounts || l.Keys != keys || !slices.Equal(l.Findings, findings) {
			t.Errorf("learned of %s: %+v", from.Name, l)
		}
	}
	at := func(n byte, want string) {
		t.Helper()
		place, err := d.OfKey(t.Context(), contract.KeyDigest{n})
		must(t, err)
		if place.Database != want {
			t.Errorf("key %d is in %q, want %q", n, place.Database, want)
		}
	}
	knows(fromB, false)
	learns(fromHome, 1, 1)
	learns(fromB, 2, 2)
	if n := identities(); n != 1 {
		t.Errorf("the directory has %d of the identities", n)
	}
	learns(fromB, 0, 0)
	knows(fromHome, true)
	knows(fromB, true)
	at(1, "home")
	at(3, "b")

	// Conflicts are found, and change nothing.
	add(t, home, 3, "three")
	add(t, b, 4, "one")
	learns(fromHome, 0, 0, directory.Finding{
		Problem: directory.AccountTwice, Account: accountID(3), Name: "three", Database: "home", Other: "b",
	})
	learns(fromB, 0, 1, directory.Finding{Problem: directory.NameTwice, Account: accountID(4), Name: "one", Database: "b", Other: "home"})
	knows(fromB, false)
	at(3, "b")
	at(4, "")
	if id, err := d.AccountByName(t.Context(), "one"); err != nil || id != accountID(1) {
		t.Errorf("the name is of %s: %v", id, err)
	}
}

// spec: directory-repair
func TestAnAccountThatItsDatabaseLacksIsFound(t *testing.T) {
	t.Parallel()
	home, b := open(t), open(t)
	d := directory.SQL{Database: home.Database}
	from := directory.Source{Name: "b", Database: b.Database}
	add(t, b, 1, "one")
	_, err := d.Learn(t.Context(), from)
	must(t, err)
	for n, name := range []string{"lost", "half made"} {
		place := directory.Place{Account: accountID(byte(n) + 2), Database: "b"}
		_, err := d.TakeName(t.Context(), name, place)
		must(t, err)
		if name == "lost" {
			must(t, d.SetMade(t.Context(), place.Account))
		}
	}
	found, err := d.Missing(t.Context(), from)
	want := []directory.Finding{{Problem: directory.Missing, Account: accountID(2), Name: "lost", Database: "b"}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("got %+v, %v", found, err)
	}
}

// A page ends within what is learned.
// spec: directory-repair
func TestTheDirectoryLearnsManyAccounts(t *testing.T) {
	t.Parallel()
	home, b := open(t), open(t)
	d := directory.SQL{Database: home.Database}
	const fill = `INSERT INTO accounts (id, name, created_at)
SELECT CAST('01000000-0000-0000-0000-' || lpad(to_hex(n), 12, '0') AS uuid), 'account ' || n, now() FROM generate_series(1, 1203) n`
	must(t, b.Run(t.Context(), sqldb.Change("fill", fill), sqldb.NoRow))
	from := directory.Source{Name: "b", Database: b.Database}
	l, err := d.Learn(t.Context(), from)
	if err != nil || l.Accounts != 1203 || len(l.Findings) > 0 {
		t.Errorf("learned %+v, %v", l, err)
	}
	missing, err := d.Missing(t.Context(), from)
	if err != nil || len(missing) > 0 {
		t.Errorf("missing: %v, %v", missing, err)
	}
	known, err := d.Knows(t.Context(), from)
	if err != nil || !known {
		t.Errorf("known: %t, %v", known, err)
	}
}
