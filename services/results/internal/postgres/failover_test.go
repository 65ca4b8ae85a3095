package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// eitherOf is the URL of a database at one of two servers.
func eitherOf(t *testing.T, database string, servers ...*pgtest.Server) string {
	t.Helper()
	hosts, ports := "", ""
	for i, server := range servers {
		address, err := url.Parse(server.URL(database))
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			hosts, ports = hosts+",", ports+","
		}
		hosts, ports = hosts+address.Query().Get("host"), ports+address.Query().Get("port")
	}
	q := url.Values{"host": {hosts}, "port": {ports}, "sslmode": {"disable"}}
	return "postgres://postgres@/" + database + "?" + q.Encode()
}

// TestAFailoverIsFollowedAtTheFirstRefusedWrite keeps the connections to the old primary open, as a failover does that moves
// an address.
// spec: postgres-failover, unwritable-store
func TestAFailoverIsFollowedAtTheFirstRefusedWrite(t *testing.T) {
	t.Parallel()
	r := newReplicated(t)
	s := open(t, eitherOf(t, r.database, r.primary, r.standby))
	if _, err := s.SaveResult(t.Context(), account(), answered(10)); err != nil {
		t.Fatal(err)
	}
	if err := r.primary.Demote(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil { // a connection learns of the change when its server process does
		err = r.ProbeWrite(t.Context())
	}
	if !errors.Is(err, store.ErrUnwritable) {
		t.Errorf("a probe of a server that refuses writes: %v", err)
	}
	if err := r.standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for refused := 0; ; refused++ {
		_, err := s.SaveResult(ctx, account(), answered(11))
		if err == nil {
			break
		}
		if !errors.Is(err, store.ErrUnavailable) || refused > 1 {
			t.Fatalf("after %d refused saves: %v", refused, err)
		}
	}
	if n := r.rows(t, r.standby); n != 2 {
		t.Errorf("the new primary has %d results, want 2", n)
	}
}

// spec: postgres-synchronous-commit, postgres-warnings
func TestEachConnectionSetsSynchronousCommit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ server, setting, want string }{
		{"off", "", "on"},
		{"local", "", "on"},
		{"remote_write", "", "on"},
		{"on", "", "on"},
		{"remote_apply", "", "remote_apply"},
		{"on", "off", "off"},
		{"on", "local", "local"},
		{"remote_apply", "on", "on"},
		{"off", "remote_apply", "remote_apply"},
	} {
		u := migrated(t)
		exec(t, u, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = "+tt.server+"', current_database()); END $$")
		exec(t, u, `CREATE TABLE used (setting text);
			CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN INSERT INTO used VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;
			CREATE TRIGGER note BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION note()`)
		s, err := postgres.Open(t.Context(), postgres.Config{URL: u, SynchronousCommit: tt.setting}, postgres.Deps{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if err := s.CreateAccount(t.Context(), account(), "a", storetest.By()); err != nil {
			t.Fatal(err)
		}
		if used := values[string](t, u, "SELECT setting FROM used")[0]; used != tt.want {
			t.Errorf("%q at the server and %q in Prism make %q, want %q", tt.server, tt.setting, used, tt.want)
		}
		warnings, err := s.Warnings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		weak := tt.want == "off" || tt.want == "local"
		if got := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "synchronous_commit = "+tt.want) }); got != weak {
			t.Errorf("with synchronous_commit = %s the warnings are %q", tt.want, warnings)
		}
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "fsync = off") }) {
			t.Errorf("a server without fsync has the warnings %q", warnings)
		}
	}
}
