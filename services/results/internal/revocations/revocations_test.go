package revocations

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

var (
	errRolledBack = errors.New("rolled back")
	account       = prism.AccountID{UUID: prism.UUID{1}}
)

// two are home and a database with an account that has keys, numbered from 1.
type two struct {
	server    *pgtest.Server
	home, url string
	t         *testing.T
	now       time.Time
	mu        sync.Mutex
	ids       byte
	b         *Database
	store     sqlstore.Statements
}

func newTwo(t *testing.T, keys byte) *two {
	t.Helper()
	server := pgtest.Shared(t)
	server.Template(t, "store", postgres.Migrate)
	w := &two{
		server: server, t: t, home: server.Database(t, "store"), url: server.Database(t, "store"), ids: 100,
		now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	}
	w.b = w.open()
	w.store = sqlstore.New(w.b)
	w.must(w.store.CreateAccount(t.Context(), account, "an account", w.by()))
	for n := byte(1); n <= keys; n++ {
		w.addKey(n)
	}
	return w
}

// open opens the database as another process does.
func (w *two) open() *Database {
	w.t.Helper()
	connect := func(url string) sqldb.Database {
		pg, err := postgres.Open(w.t.Context(), postgres.Config{URL: url, MaxConns: 6}, postgres.Deps{})
		w.must(err)
		w.t.Cleanup(pg.Close)
		return pg.Database
	}
	return New(connect(w.url), Deps{
		Home: Home{connect(w.home)}, Name: "b", Now: func() time.Time { return w.now }, NewID: w.newID, Log: slog.New(slog.DiscardHandler),
	})
}

func (w *two) newID() (prism.UUID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return prism.UUID{2, 15: w.ids}, nil
}

func (w *two) by() store.By {
	id, err := w.newID()
	w.must(err)
	return store.By{Entry: id, At: w.now, Actor: store.Actor{Kind: store.OperatorActor, Name: "o"}}
}

func (w *two) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *two) addKey(n byte) {
	w.t.Helper()
	k := keys.APIKey{ID: keyID(n), Name: "k", Prefix: "p", Role: prism.Owner, CreatedAt: w.now}
	w.must(w.store.CreateKey(w.t.Context(), account, k, contract.KeyDigest{n}, 100, w.by()))
}

func keyID(n byte) prism.KeyID { return prism.KeyID{UUID: prism.UUID{1, n}} }

func (w *two) revoke(n byte) error {
	_, err := w.store.RevokeKey(w.t.Context(), account, keyID(n), w.by())
	return err
}

// valid fails the test unless exactly the keys are valid.
func (w *two) valid(all byte, want ...byte) {
	w.t.Helper()
	wanted := map[byte]bool{}
	for _, n := range want {
		wanted[n] = true
	}
	for n := byte(1); n <= all; n++ {
		caller, err := w.store.Authenticate(w.t.Context(), contract.KeyDigest{n})
		for errors.Is(err, store.ErrUnavailable) { // the pool learns that its connections are closed
			caller, err = w.store.Authenticate(w.t.Context(), contract.KeyDigest{n})
		}
		w.must(err)
		if is := !caller.Account.IsZero(); is != wanted[n] {
			w.t.Errorf("key %d is valid: %t", n, is)
		}
	}
}

// apply applies, once the pools have learned that their connections are closed.
func (w *two) apply() {
	w.t.Helper()
	err := w.b.Apply(w.t.Context())
	for errors.Is(err, store.ErrUnavailable) {
		err = w.b.Apply(w.t.Context())
	}
	w.must(err)
	if w.b.Revived() {
		w.t.Error("the database is still refused")
	}
}

// count is a number that a query of a database finds.
func (w *two) count(url, query string) (n int) {
	w.t.Helper()
	w.must(w.connect(url).QueryRow(w.t.Context(), query).Scan(&n))
	return n
}

func (w *two) connect(url string) *pgx.Conn {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), url)
	w.must(err)
	w.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) })
	return conn
}

const (
	recorded = "SELECT count(*) FROM revocations"
	entries  = "SELECT count(*) FROM audit WHERE action = 'key.revoke'"
	waiting  = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')"
	own      = entries + " AND actor_name = 'revocations'"
)

// spec: revocations
func TestARestoredDatabaseRevivesNoKey(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 3)
	w.must(w.revoke(3))
	w.apply()
	restore := w.server.Backup(t, w.url)
	for w.revoke(1) != nil {
	}
	w.apply()
	restore()
	w.valid(3, 1, 2) // what this is about
	w.apply()
	w.valid(3, 2)
	w.apply()
	if n := w.count(w.url, own); n != 1 {
		t.Errorf("%d entries of the audit", n)
	}
	restore()
	other := w.open() // a process that starts
	w.must(other.Apply(t.Context()))
	w.valid(3, 2)
}

// spec: revocations
func TestAKeyIsRevokedOnlyIfHomeRecordsIt(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 2)
	allow := func(connections string) {
		w.must(w.server.Exec(t.Context(), "ALTER DATABASE "+databaseOf(w.home)+" ALLOW_CONNECTIONS "+connections,
			"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '"+databaseOf(w.home)+"'"))
	}
	allow("false")
	if err := w.revoke(1); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, store.ErrUnavailable)
	}
	w.valid(2, 1, 2)
	if n := w.count(w.url, entries); n != 0 {
		t.Errorf("%d entries of the audit", n)
	}
	allow("true")
	for w.revoke(1) != nil {
	}
	w.valid(2, 2)
	// A commit that fails behind the record is completed.
	err := w.b.Transaction(t.Context(), "fails", func(run sqldb.Run) error {
		w.must(run(t.Context(), sqldb.Statement{Text: keys.SetKeyRevoked, Args: []any{keyID(2).UUID, w.now}}, sqldb.NoRow))
		return errRolledBack
	})
	if err == nil {
		t.Error("it was committed")
	}
	w.valid(2, 2)
	w.apply()
	w.valid(2)
}

// spec: revocations
func TestARevocationThatCommitsLateIsNotSkipped(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 2)
	late, err := w.connect(w.home).Begin(t.Context())
	w.must(err)
	var seq int64
	w.must(late.QueryRow(t.Context(), nextNumber, "b").Scan(&seq))
	_, err = late.Exec(t.Context(), addRevocation, "b", seq, prism.UUID{9}, keyID(1).UUID, w.now, w.now.Add(Retention))
	w.must(err)
	revoked := make(chan error, 1)
	go func() { revoked <- w.revoke(2) }()
	watching := w.connect(w.home)
	for waits := false; !waits; {
		w.must(watching.QueryRow(t.Context(), waiting).Scan(&waits))
	}
	w.apply() // which finds neither
	w.must(late.Commit(t.Context()))
	if err := <-revoked; err != nil { // on a busy machine it has waited too long
		w.must(w.revoke(2))
	}
	w.apply()
	w.valid(2)
	if last := w.count(w.url, "SELECT seq FROM revocation_mark"); int64(last) <= seq {
		t.Errorf("the mark is %d", last)
	}
}

// spec: revocations
func TestAMarkThatARestoredHomeDoesNotHaveComesBeforeAll(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 4)
	w.must(w.revoke(1))
	restoreHome := w.server.Backup(t, w.home)
	for w.revoke(2) != nil {
	}
	w.apply()
	restoreB := w.server.Backup(t, w.url) // its mark is the second revocation
	restoreHome()
	for w.revoke(3) != nil { // the second one of this home
	}
	for w.revoke(4) != nil {
	}
	restoreB()
	w.valid(4, 3, 4)
	w.apply()
	w.valid(4)
}

// spec: revocations
func TestProcessesApplyRevocationsTogether(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 20)
	restore := w.server.Backup(t, w.url)
	for n := byte(1); n <= 20; n++ {
		for w.revoke(n) != nil {
		}
	}
	restore()
	var processes sync.WaitGroup
	for range 3 {
		process := w.open()
		processes.Go(func() {
			if err := process.Apply(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	processes.Wait()
	w.valid(20)
	if n := w.count(w.url, own); n != 20 {
		t.Errorf("%d entries of the audit", n)
	}
}

// spec: revocations
func TestHomeKeepsARevocationWhileABackupMayReviveItsKey(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 3)
	for n := byte(1); n <= 3; n++ {
		w.must(w.revoke(n))
	}
	end := func(now time.Time, want int) {
		t.Helper()
		at, err := w.b.mark(t.Context())
		w.must(err)
		_, err = w.b.Home.end(t.Context(), "b", now, at, 10)
		w.must(err)
		if n := w.count(w.home, recorded); n != want {
			t.Errorf("home has %d revocations, want %d", n, want)
		}
	}
	after := w.now.Add(Retention)
	end(after, 3) // none is applied
	w.apply()
	end(after.Add(-time.Second), 3)
	end(after, 1) // the mark stays
	w.apply()
	w.valid(3)
}

// A database takes only its own revocations, and one with nothing new takes none.
// spec: revocations
func TestRevocationsAreOfADatabase(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 2)
	w.must(w.b.Home.record(t.Context(), "c", []revocation{{key: keyID(1), at: w.now}}))
	w.apply()
	w.valid(2, 1, 2)
	ends := w.now
	w.must(w.b.Home.record(t.Context(), "b", []revocation{{key: keyID(1), at: w.now, expires: &ends}}))
	w.apply()
	w.valid(2, 2)
	if _, err := w.connect(w.url).Exec(t.Context(), "UPDATE api_keys SET expires_at = $1", w.now.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	before := w.count(w.home, recorded)
	w.must(w.revoke(2)) // a key that has ended needs no record
	if after := w.count(w.home, recorded); after != before {
		t.Errorf("home has %d revocations, had %d", after, before)
	}
}

// spec: revocations
func TestKeysOfAnEndedSessionStayRevoked(t *testing.T) {
	t.Parallel()
	w := newTwo(t, 2)
	session := prism.UUID{7}
	conn := w.connect(w.url)
	_, err := conn.Exec(t.Context(), "UPDATE api_keys SET session_id = $1, expires_at = now() + interval '1 hour' WHERE id = $2", session, keyID(1).UUID)
	w.must(err)
	ended := members.Ending{Membership: members.Membership{Account: account}, Session: session, At: time.Now()}
	w.must(members.SQL{Database: w.b}.EndIn(t.Context(), ended))
	w.valid(2, 2)
	if n := w.count(w.home, recorded+" WHERE kept_until BETWEEN now() + interval '30 minutes' AND now() + interval '1 hour'"); n != 1 {
		t.Errorf("home has %d revocations until the key would have ended", n)
	}
	_, err = conn.Exec(t.Context(), "UPDATE api_keys SET revoked_at = NULL") // as before the end
	w.must(err)
	w.valid(2, 1, 2)
	w.apply()
	w.valid(2, 2)
	if n := w.count(w.url, own); n != 0 {
		t.Errorf("%d entries of the audit about keys of sessions", n)
	}
}

func databaseOf(url string) string {
	config, _ := pgx.ParseConfig(url)
	return config.Database
}
