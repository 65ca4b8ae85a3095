package postgres_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// secret is a value that no error may contain.
const secret = "a value that is nobody's business"

func TestADatabaseThatIsAwayIsUnavailableAndNoReasonNotToStart(t *testing.T) {
	t.Parallel()
	s := open(t, "postgres://prism:"+url.QueryEscape(secret)+"@127.0.0.1:1/prism?connect_timeout=2")
	unavailable(t, s.Ping(t.Context()))
	_, err := s.Authenticate(t.Context(), contract.KeyDigest{1})
	unavailable(t, err)
	_, err = s.SaveResult(t.Context(), prism.AccountID{}, prism.Result{Context: secret})
	unavailable(t, err)
}

func TestAURLThatCanNotBeReadIsAnErrorThatDoesNotTellThePassword(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://prism:topsecret@host:notaport/prism"}, postgres.Deps{})
	if err == nil || strings.Contains(err.Error(), "topsecret") {
		t.Errorf("got %v", err)
	}
}

func TestAStoreGoesOnWhenItsDatabaseComesBack(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), pgtest.Options{Fsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s := open(t, server.URL("postgres"))
	migrate(t, server.URL("postgres"))
	account := prism.AccountID{UUID: prism.UUID{1}}
	if err := s.CreateAccount(t.Context(), account, "kept", storetest.By()); err != nil {
		t.Fatal(err)
	}
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	// A read that was cut off has changed nothing, so it is unavailable (spec: dependency-away-before-the-model).
	for range 3 {
		unavailable(t, s.Ping(t.Context()))
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := s.AccountByName(t.Context(), "kept")
	if err != nil || got != account {
		t.Errorf("got %v, %v after the restart", got, err)
	}
}

func TestAConnectionThatIsCutIsUnavailable(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	s := open(t, u)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, u, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
		WHERE application_name = 'prism-results' AND datname = current_database()`)
	err := s.Ping(t.Context())
	if err == nil {
		return // the pool saw it first
	}
	unavailable(t, err)
}

func TestACallThatGetsNoConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: u, MaxConns: 1, AcquireWait: 50 * time.Millisecond}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	account := prism.AccountID{UUID: prism.UUID{1}}
	for err := store.ErrUnavailable; err != nil; { // connecting may take longer than the wait
		if err = s.CreateAccount(t.Context(), account, "a", storetest.By()); err != nil && !errors.Is(err, store.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	// The one connection waits for a lock that the test holds.
	tx, err := connect(t, u).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE accounts"); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := s.AccountByName(t.Context(), "a")
		waiting <- err
	}()
	for err := error(nil); !errors.Is(err, store.ErrUnavailable); {
		err = s.Ping(t.Context()) // until the other call has the connection
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

// At a stricter isolation level than the default, Postgres refuses some concurrent statements, which are then sent again.
func TestAStricterIsolationLevelIsMetByTryingAgain(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		u := migrated(t)
		ctx, _, _ := traced(t, u)
		strict, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		q := strict.Query()
		q.Set("default_transaction_isolation", level)
		strict.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq reads a plus as a plus
		s := open(t, strict.String())
		if _, err := s.SaveResult(ctx, account(), failed(10)); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 12 {
			group.Go(func() {
				if _, err := s.SaveResult(ctx, account(), failed(10)); err != nil {
					t.Errorf("%s: %v", level, err)
				}
				if _, err := s.SaveRetry(ctx, account(), failed(11), failed(10).ID); err != nil {
					t.Errorf("%s: %v", level, err)
				}
			})
		}
		group.Wait()
	}
}

func TestAFaultTellsItsCodeAndNoValue(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	s := open(t, u)
	account := prism.AccountID{UUID: prism.UUID{1}}
	if err := s.CreateAccount(t.Context(), account, "a", storetest.By()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"a primary key":      s.CreateAccount(t.Context(), account, secret, storetest.By()),
		"a character":        s.CreateAccount(t.Context(), prism.AccountID{}, secret+"\x00", storetest.By()),
		"a missing relation": missing(t, s, u),
		"an ended context":   s.CreateAccount(ended, prism.AccountID{}, secret, storetest.By()),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %q tells a value", name, err)
		}
		t.Logf("%s: %v", name, err)
	}
}

// missing is the error of a schema of another version.
func missing(t *testing.T, s *postgres.Store, u string) error {
	t.Helper()
	exec(t, u, "ALTER TABLE api_keys RENAME TO elsewhere")
	_, err := s.Authenticate(t.Context(), contract.KeyDigest{1})
	return err
}

func unavailable(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, store.ErrUnavailable)
	}
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("%q tells a value", err)
	}
}

// impatient is a store whose statements wait 50 ms, and a transaction of another connection.
func impatient(t *testing.T, url string) (*postgres.Store, pgx.Tx) {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, StatementWait: 50 * time.Millisecond}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, tx
}

// Without a bound, a server that takes statements and never responds would block its callers for ever.
func TestAReadThatIsNotAnsweredIsUnavailableInTime(t *testing.T) {
	t.Parallel()
	s, tx := impatient(t, migrated(t))
	if _, err := tx.Exec(t.Context(), "LOCK TABLE accounts"); err != nil {
		t.Fatal(err)
	}
	_, err := s.AccountByName(t.Context(), secret)
	unavailable(t, err)
	// A transaction that waits before its COMMIT has changed nothing.
	unavailable(t, s.CreateAccount(t.Context(), prism.AccountID{UUID: prism.UUID{1}}, secret, storetest.By()))
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAWriteWhoseEndNobodyKnowsIsNotUnavailable(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	exec(t, u, `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END'`)
	exec(t, u, `CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()`)
	s, tx := impatient(t, u)
	if _, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock(1)"); err != nil {
		t.Fatal(err)
	}
	err := s.CreateAccount(t.Context(), prism.AccountID{UUID: prism.UUID{1}}, secret, storetest.By())
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a transaction that waits in its COMMIT is %v", err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE api_keys"); err != nil {
		t.Fatal(err)
	}
	err = s.TouchKeys(t.Context(), map[prism.KeyID]time.Time{{UUID: prism.UUID{1}}: time.Unix(0, 0)})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a statement that writes is %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatTakesConnectionsAndSaysNothingIsUnavailable(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	unavailable(t, postgres.Migrate(ctx, "postgres://prism@"+silent.Addr().String()+"/prism?sslmode=disable"))
	if ctx.Err() != nil {
		t.Error("it was waited for as long as the caller would")
	}
}

// inVain starts look-ups that wait for a lock, and expects store.ErrUnavailable from each.
func inVain(t *testing.T, u string, s *postgres.Store) (pgx.Tx, *sync.WaitGroup) {
	t.Helper()
	tx, err := connect(t, u).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE api_keys"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			_, err := s.ResultFacts(t.Context(), contract.KeyDigest{1}, prism.ResultID{}, store.WithInput)
			unavailable(t, err)
		})
	}
	return tx, &group
}

// TestLookUpsThatAreCutOffAreUnavailable cuts connections with one look-up and with several.
func TestLookUpsThatAreCutOffAreUnavailable(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	s := open(t, u)
	tx, group := inVain(t, u, s)
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	conn := connect(t, u)
	for cut := true; cut; {
		const blocked = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'prism-results' AND wait_event_type = 'Lock'`
		if _, err := conn.Exec(t.Context(), blocked); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			cut = false
		default:
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ResultFacts(t.Context(), contract.KeyDigest{1}, prism.ResultID{}, store.WithInput); err != nil {
		t.Error(err)
	}
}

// TestLookUpsOfADatabaseThatDoesNotAnswerAreUnavailableInTime holds more of them than there are connections.
func TestLookUpsOfADatabaseThatDoesNotAnswerAreUnavailableInTime(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: u, MaxConns: 3, StatementWait: 50 * time.Millisecond}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	tx, group := inVain(t, u, s)
	group.Wait()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A coordinator of Citus that loses a worker reports it with a code of class 08, and its connection goes on.
// spec: dependency-away-before-the-model, edits-that-time-out
func TestAServerThatLostOneBehindItIsUnavailableUntilTheCommit(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	exec(t, u, `CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = '08006'; END $$`)
	lost := func(when string) {
		exec(t, u, `DROP TRIGGER IF EXISTS lost ON accounts;
			CREATE CONSTRAINT TRIGGER lost AFTER INSERT ON accounts DEFERRABLE INITIALLY `+when+` FOR EACH ROW EXECUTE FUNCTION lost()`)
	}
	lost("IMMEDIATE")
	s := open(t, u)
	id := prism.AccountID{UUID: prism.UUID{1}}
	unavailable(t, s.CreateAccount(t.Context(), id, secret, storetest.By()))
	lost("DEFERRED")
	err := s.CreateAccount(t.Context(), id, secret, storetest.By())
	if !postgres.IsUnknown(err) || errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), secret) {
		t.Errorf("a COMMIT whose end nobody knows is %v", err)
	}
	exec(t, u, `DROP TRIGGER lost ON accounts; ALTER TABLE accounts RENAME TO behind;
		CREATE FUNCTION cut() RETURNS boolean LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = '08006'; END $$;
		CREATE VIEW accounts AS SELECT * FROM behind WHERE cut()`)
	exec(t, u, `INSERT INTO behind (id, name, created_at) VALUES (gen_random_uuid(), 'a', now())`)
	_, err = s.AccountByName(t.Context(), "a")
	unavailable(t, err)
}
