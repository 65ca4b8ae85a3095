package results

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
)

// undelayed is what no call takes that does not wait for a database which hangs: that would take as long as a statement may.
const undelayed = postgres.DefaultStatementWait * 3 / 4

// severalDatabases is a Prism with several databases, and an account in each.
type severalDatabases struct {
	*Service
	several  *several
	accounts map[string]prism.AccountID
	keys     map[string]contract.KeyDigest
	urls     map[string]string
}

// newPlaced opens databases by name, of which the first is home, and migrates and runs them.
func newPlaced(t *testing.T, names []string, server func(name string) *pgtest.Server) *severalDatabases {
	t.Helper()
	var databases []Database
	urls := map[string]string{}
	for _, name := range names {
		server(name).Template(t, "store", postgres.Migrate)
		urls[name] = server(name).Database(t, "store")
		databases = append(databases, Database{name, Config{DatabaseURL: urls[name]}})
	}
	p := openPlaced(t, databases)
	p.urls = urls
	for _, db := range p.several.databases {
		p.addAccount(t, db)
	}
	return p
}

// openPlaced opens, migrates and runs databases.
func openPlaced(t *testing.T, databases []Database) *severalDatabases {
	t.Helper()
	s, err := openSeveral(t.Context(), databases, Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	p := &severalDatabases{
		Service: s, several: s.placed.(*several), //nolint:forcetypeassert // as openSeveral makes it
		accounts: map[string]prism.AccountID{}, keys: map[string]contract.KeyDigest{},
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = s.Run(running) })
	t.Cleanup(func() {
		stop()
		run.Wait()
		s.Close()
	})
	for _, db := range p.several.databases {
		if db != p.several.home() {
			eventually(t, func() bool { return db.migrated.Load() })
		}
	}
	return p
}

// addAccount makes an account with the name of its database, which is the one that has the least accounts.
func (p *severalDatabases) addAccount(t *testing.T, db *database) {
	t.Helper()
	account, err := p.Operator().CreateAccount(t.Context(), db.name)
	if err != nil {
		t.Fatal(err)
	}
	if place, err := p.several.directory.OfAccount(t.Context(), account); err != nil || place.Database != db.name {
		t.Fatalf("the account is made in %q, not %q: %v", place.Database, db.name, err)
	}
	text, err := p.Operator().CreateKey(t.Context(), account, "a key", prism.Owner)
	if err != nil {
		t.Fatal(err)
	}
	p.accounts[db.name], p.keys[db.name] = account, sha256.Sum256([]byte(text))
}

// call has an account read and change something.
func (p *severalDatabases) call(ctx context.Context, name string) error {
	_, err := contract.Do(ctx, p, p.keys[name], api.CreateView, api.CreateViewRequest{NewView: api.NewView{Name: "a view"}})
	if err != nil {
		return err
	}
	response, err := contract.Do(ctx, p, p.keys[name], api.ReadAccount, api.ReadAccountRequest{})
	if err == nil && !strings.Contains(string(response.Body), `"`+name+`"`) {
		err = errors.New("another account answers: " + string(response.Body))
	}
	return err
}

// untouched makes calls of accounts, and what all accounts share, and expects none to wait or fail.
func (p *severalDatabases) untouched(t *testing.T, names ...string) {
	t.Helper()
	quick := func(what string, call func(ctx context.Context) error) {
		began := time.Now()
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if took := time.Since(began); took > undelayed {
			t.Errorf("%s took %s", what, took)
		}
	}
	for range 5 {
		for _, name := range names {
			quick("a call of "+name, func(ctx context.Context) error { return p.call(ctx, name) })
		}
		quick("Limits", func(ctx context.Context) error {
			_, err := p.Limits(ctx)
			return err
		})
		quick("LeaseChunk", func(ctx context.Context) error {
			_, err := p.LeaseChunk(ctx, prism.UUID{1})
			return err
		})
		quick("LeaseDeliveries", func(ctx context.Context) error {
			_, err := p.LeaseDeliveries(ctx, contract.LeaseDeliveries{})
			return err
		})
		quick("RenewLeases", func(ctx context.Context) error {
			leases := []contract.Lease{}
			for _, account := range p.accounts {
				leases = append(leases, contract.Lease{Account: account, Run: prism.RunID{UUID: prism.UUID{1}}, Token: prism.UUID{2}})
			}
			_, err := p.RenewLeases(ctx, leases)
			return err
		})
		quick("Ready", p.Ready)
	}
}

// refused makes calls of an account until stop is called, and expects that each is refused.
func (p *severalDatabases) refused(t *testing.T, name string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range 40 { // more than there are connections
		callers.Go(func() {
			for ctx.Err() == nil {
				_, err := contract.Do(ctx, p, p.keys[name], api.ReadAccount, api.ReadAccountRequest{})
				if !errors.Is(err, contract.ErrUnavailable) && ctx.Err() == nil {
					t.Errorf("a call of %s, whose database is away: %v", name, err)
				}
			}
		})
	}
	return func() {
		cancel()
		callers.Wait()
	}
}

// eventually waits until something is so. The test's own time is the only bound.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it never was")
		}
	}
}

// spec: database-faults
func TestADatabaseThatHangsOrDiesRefusesItsOwnAccountsAndNoOthers(t *testing.T) {
	t.Parallel()
	faulty := startServer(t)
	for _, away := range []string{"home", "b"} {
		t.Run(away, func(t *testing.T) {
			others := []string{"home", "b", "c"}
			p := newPlaced(t, others, func(name string) *pgtest.Server {
				if name == away {
					return faulty
				}
				return pgtest.Shared(t)
			})
			p.untouched(t, others...) // so that each account is known
			others = slices.DeleteFunc(others, func(name string) bool { return name == away })
			if err := faulty.Pause(); err != nil {
				t.Fatal(err)
			}
			stop := p.refused(t, away)
			p.untouched(t, others...)
			stop()
			if err := faulty.Resume(); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() bool { return p.call(t.Context(), away) == nil })
			if err := faulty.Crash(); err != nil {
				t.Fatal(err)
			}
			stop = p.refused(t, away)
			p.untouched(t, others...)
			stop()
			if err := faulty.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() bool { return p.call(t.Context(), away) == nil })
		})
	}
}

// fullDisk makes every insert of a view fail as on a full disk.
const fullDisk = `
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON views FOR EACH ROW EXECUTE FUNCTION full_disk()`

// spec: database-faults
func TestADatabaseThatCannotWriteRefusesChangesOfItsOwnAccountsAndNoOthers(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct{ name, begin, end string }{
		{"read-only", "ALTER DATABASE %s SET default_transaction_read_only = on", "ALTER DATABASE %s RESET default_transaction_read_only"},
		{"full", fullDisk, "DROP TRIGGER full_disk ON views"},
	} {
		for _, away := range []string{"home", "b"} {
			t.Run(fault.name+" "+away, func(t *testing.T) {
				t.Parallel()
				server := pgtest.Shared(t)
				others := []string{"home", "b", "c", "d"}
				p := newPlaced(t, others, func(string) *pgtest.Server { return server })
				p.untouched(t, others...)
				others = slices.DeleteFunc(others, func(name string) bool { return name == away })
				config, err := pgx.ParseConfig(p.urls[away])
				if err != nil {
					t.Fatal(err)
				}
				config.RuntimeParams["default_transaction_read_only"] = "off"
				execute := func(statement string) {
					conn, err := pgx.ConnectConfig(t.Context(), config)
					if err != nil {
						t.Fatal(err)
					}
					defer conn.Close(context.WithoutCancel(t.Context()))
					// What the database is set to is that of new connections.
					const reconnect = `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()`
					for _, s := range []string{strings.ReplaceAll(statement, "%s", config.Database), reconnect} {
						if _, err := conn.Exec(t.Context(), s); err != nil {
							t.Fatal(err)
						}
					}
				}
				execute(fault.begin)
				for range 5 {
					if err := p.call(t.Context(), away); !errors.Is(err, contract.ErrUnavailable) {
						t.Errorf("a change of %s: %v, want %v", away, err, contract.ErrUnavailable)
					}
				}
				p.untouched(t, others...)
				execute(fault.end)
				eventually(t, func() bool { return p.call(t.Context(), away) == nil })
			})
		}
	}
}

// spec: directory
func TestAKeyIsKnownInItsOwnDatabaseAlone(t *testing.T) {
	t.Parallel()
	p := newPlaced(t, []string{"home", "b"}, func(string) *pgtest.Server { return pgtest.Shared(t) })
	for _, name := range []string{"home", "b"} {
		if account, err := p.Account(t.Context(), p.keys[name]); err != nil || account != p.accounts[name] {
			t.Errorf("the key of %s is one of %s: %v", name, account, err)
		}
	}
	late := contract.KeyDigest{1}
	if _, err := p.Account(t.Context(), late); err == nil {
		t.Error("an unknown key has an account")
	}
	if err := p.several.directory.AddKey(t.Context(), late, p.accounts["b"]); err != nil {
		t.Fatal(err)
	}
	if place, err := p.several.directory.OfKey(t.Context(), late); err != nil || place.Database != "b" {
		t.Errorf("a key that was unknown is at %v: %v", place, err)
	}
}

func startServer(t *testing.T) *pgtest.Server {
	t.Helper()
	server, err := pgtest.Start(t.Context(), pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}
