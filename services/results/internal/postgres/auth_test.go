package postgres_test

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
)

// passwords is a Postgres that asks the user prism for a password.
type passwords struct {
	t      *testing.T
	server *pgtest.Server
	url    *url.URL // without a password
}

func newPasswords(t *testing.T) passwords {
	t.Helper()
	server, err := pgtest.Start(t.Context(), pgtest.Options{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	folder := values[string](t, server.URL("postgres"), "SELECT setting FROM pg_settings WHERE name = 'data_directory'")[0]
	rules := "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n" //nolint:dupword // all databases and all roles
	script := server.Command(t.Context(), "sh", "-c", `printf %s "$1" > "$2/pg_hba.conf"`, "sh", rules, folder)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, statement := range []string{
		"SELECT pg_reload_conf()", "CREATE ROLE prism LOGIN", "CREATE DATABASE prism OWNER prism",
	} {
		exec(t, server.URL("postgres"), statement)
	}
	address, err := url.Parse(server.TCPURL(server.TCPAddr(), "prism"))
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.User("prism")
	return passwords{t, server, address}
}

// set gives the user a password. The connections that it has go on.
func (p passwords) set(password string) {
	p.t.Helper()
	exec(p.t, p.server.URL("postgres"), "ALTER ROLE prism PASSWORD '"+password+"'")
}

// refusing counts how often a secret was refused.
type refusing struct {
	credential.Source
	refusals atomic.Int64
}

func (c *refusing) Refused(text string) {
	c.refusals.Add(1)
	c.Source.Refused(text)
}

// secretFile is a file with a source of its content.
func secretFile(t *testing.T, text string, check func(string) error) (*refusing, func(text string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	replace := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	replace(text)
	source, err := credential.File(path, slog.New(slog.DiscardHandler), check)
	if err != nil {
		t.Fatal(err)
	}
	return &refusing{Source: source}, replace
}

// load saves and reads in several goroutines until the test ends. The returned function waits for n more calls.
func load(t *testing.T, s *postgres.Store) (await func(n int64)) {
	t.Helper()
	var calls, failed atomic.Int64
	var callers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		callers.Go(func() {
			for ctx.Err() == nil {
				// A call is not cancelled when the test ends, so that each error is one of the database.
				if err := s.ProbeWrite(context.WithoutCancel(ctx)); err != nil {
					failed.Add(1)
					t.Errorf("a call failed: %v", err)
					return
				}
				if err := s.Ping(context.WithoutCancel(ctx)); err != nil {
					failed.Add(1)
					t.Errorf("a call failed: %v", err)
					return
				}
				calls.Add(2)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		callers.Wait()
		t.Logf("%d calls, %d failed", calls.Load(), failed.Load())
	})
	return func(n int64) {
		t.Helper()
		wanted := calls.Load() + n
		until(t, "calls go on", func() bool { return calls.Load() >= wanted || failed.Load() > 0 })
	}
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(time.Millisecond), time.NewTimer(2*time.Minute)
	defer tick.Stop()
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("%s took too long", what)
		}
	}
}

// A password is replaced at the server first, and then in the file first, while calls open new connections.
//
// spec: secrets-from-files
func TestPasswordsAreReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{"a file of the password": false, "a file of the URL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPasswords(t)
			content := func(password string) string {
				if !whole {
					return password
				}
				address := *p.url
				address.User = url.UserPassword("prism", password)
				return address.String()
			}
			p.set("password-0")
			source, replace := secretFile(t, content("password-0"), nil)
			auth := postgres.Auth{Password: source}
			if whole {
				auth = postgres.Auth{URL: source}
			}
			if err := auth.Migrate(t.Context(), p.url.String()); err != nil {
				t.Fatal(err)
			}
			s, err := postgres.Open(t.Context(), postgres.Config{URL: p.url.String(), Auth: auth, AcquireWait: time.Minute}, postgres.Deps{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			calls := load(t, s)
			calls(20)
			for i := range 4 {
				next := "password-" + strconv.Itoa(i+1)
				steps := []func(){func() { p.set(next) }, func() { replace(content(next)) }}
				if i%2 == 1 {
					steps[0], steps[1] = steps[1], steps[0]
				}
				steps[0]()
				refused := source.refusals.Load()
				s.Reconnect()
				if i%2 == 0 { // the old password is refused until the file has the new one
					until(t, "a refusal", func() bool { return source.refusals.Load() > refused })
				} else { // the new password is refused, and the old one goes on
					calls(40)
				}
				steps[1]()
				s.Reconnect()
				calls(40)
			}
			if err := auth.Migrate(t.Context(), p.url.String()); err != nil {
				t.Error(err)
			}
		})
	}
}
