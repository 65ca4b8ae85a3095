package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
	"github.com/prism-results/prism/services/results/internal/databasesfile"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/operator"
)

// spec: databases-file
func TestTheFileAndASettingOfOneDatabaseAreBothNamed(t *testing.T) {
	t.Parallel()
	for variable, cfg := range map[string]Config{
		"PRISM_DATABASE_URL":           {DatabaseURL: "postgres://u:secret@h/d"},
		"PRISM_DATABASE_URL_FILE":      {DatabaseSecrets: DatabaseSecrets{URLFile: "/nowhere"}},
		"PRISM_DATABASE_PASSWORD_FILE": {DatabaseSecrets: DatabaseSecrets{PasswordFile: "/nowhere"}},
		"PRISM_DATABASE_AUTH":          {DatabaseSecrets: DatabaseSecrets{Kind: "google"}},
		"PRISM_DATABASE_LAYOUT=citus":  {Layout: "citus"},
	} {
		cfg.DatabasesFile = "/nowhere"
		_, err := Open(t.Context(), cfg, Deps{Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.HasPrefix(err.Error(), "PRISM_DATABASES_FILE: cannot be set together with "+variable+":") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", variable, err)
		}
	}
	cfg := Config{DatabasesFile: filepath.Join(t.TempDir(), "none.yaml")}
	if _, err := Open(t.Context(), cfg, Deps{Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.HasPrefix(err.Error(), "PRISM_DATABASES_FILE: ") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// databasesYAML is a file of databases in a test.
type databasesYAML struct {
	path string
	urls map[string]string
}

// newDatabasesYAML has databases with the newest tables, of which the first is home.
func newDatabasesYAML(t *testing.T, names ...string) *databasesYAML {
	t.Helper()
	server := pgtest.Shared(t)
	server.Template(t, "store", postgres.Migrate)
	y := &databasesYAML{path: filepath.Join(t.TempDir(), "databases.yaml"), urls: map[string]string{}}
	for _, name := range names {
		y.urls[name] = server.Database(t, "store")
	}
	return y
}

// write writes databases with further members, such as b: "weight: 2".
func (y *databasesYAML) write(t *testing.T, members map[string]string, names ...string) {
	t.Helper()
	var text strings.Builder
	of := func(indent, name string) {
		fmt.Fprintf(&text, "%s%s:\n%s  url: %q\n", indent, name, indent, y.urls[name])
		if m := members[name]; m != "" {
			fmt.Fprintf(&text, "%s  %s\n", indent, m)
		}
	}
	of("", "home")
	text.WriteString("databases:\n")
	for _, name := range names {
		of("  ", name)
	}
	y.replace(t, text.String())
}

func (y *databasesYAML) replace(t *testing.T, text string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(y.path+".new", []byte(text), 0o600), os.Rename(y.path+".new", y.path)); err != nil {
		t.Fatal(err)
	}
}

// run opens the databases, migrates them, and has the service run until the test ends.
func (y *databasesYAML) run(t *testing.T, cfg Config, d Deps) *Service {
	t.Helper()
	cfg.DatabasesFile = y.path
	s, err := Open(t.Context(), cfg, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return s
}

// spec: databases-file
func TestTheFileIsReadAgainWhileItIsUsed(t *testing.T) {
	t.Parallel()
	y := newDatabasesYAML(t, "home", "b")
	y.write(t, nil, "b")
	logged, metrics := &syncbuffer.Buffer{}, prometheus.NewRegistry()
	s := y.run(t, Config{}, Deps{Log: slog.New(slog.NewTextHandler(logged, nil)), Metrics: metrics})
	b := s.placed.all()[1]
	eventually(t, func() bool { return b.migrated.Load() })
	terms := func(accepting bool, weight int) func() bool {
		return func() bool { a, w := b.terms(); return a == accepting && w == weight }
	}
	eventually(t, terms(true, 1))

	y.write(t, map[string]string{"b": "accepting: false"}, "b")
	eventually(t, terms(false, 1))
	y.write(t, map[string]string{"b": "weight: 7"}, "b")
	eventually(t, terms(true, 7))
	wantState(t, metrics, "refused", 0)

	y.replace(t, "home:\n  weight: 0\n")
	eventually(t, func() bool { return strings.Contains(logged.String(), "home.weight: must be a whole number") })
	wantState(t, metrics, "refused", 1)
	if !terms(true, 7)() {
		t.Error("a wrong file is used")
	}

	// An account in b, which is then removed: it goes on.
	dir := s.placed.(*several).directory //nolint:forcetypeassert // as it is opened
	if _, err := dir.TakeName(t.Context(), "acme", directory.Place{Account: prism.AccountID{UUID: prism.UUID{1}}, Database: "b"}); err != nil {
		t.Fatal(err)
	}
	y.urls["c"] = "postgres://127.0.0.1:1/c"
	y.write(t, nil, "c")
	eventually(t, func() bool {
		return strings.Contains(logged.String(), "b is removed, and stays in use without new accounts; c is new") && strings.Contains(logged.String(), "accounts=1")
	})
	wantState(t, metrics, "refused", 0)
	wantState(t, metrics, "restart", 1)
	if !terms(false, 7)() && !terms(false, 1)() {
		t.Error("a database that is removed takes new accounts")
	}
	if _, _, err := s.placed.ofAccount(t.Context(), prism.AccountID{UUID: prism.UUID{1}}); err != nil {
		t.Errorf("an account of a database that is removed: %v", err)
	}

	// A start with that file is refused.
	again, err := Open(t.Context(), Config{DatabasesFile: y.path}, Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), `has no database "b", where 1 accounts are`) {
		t.Errorf("a start without a database that has accounts: %v", err)
	}
	y.write(t, nil, "b")
	eventually(t, func() bool { return stateOf(t, metrics, "restart") == 0 })
}

func stateOf(t *testing.T, metrics *prometheus.Registry, state string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "prism_databases_file" && m.GetLabel()[0].GetValue() == state {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no prism_databases_file{state=%q}", state)
	return 0
}

func wantState(t *testing.T, metrics *prometheus.Registry, state string, want float64) {
	t.Helper()
	if got := stateOf(t, metrics, state); got != want {
		t.Errorf("%s is %v, want %v", state, got, want)
	}
}

// spec: databases-file
func TestThePasswordOfTheFileIsUsedByTheNextConnection(t *testing.T) {
	t.Parallel()
	y := newDatabasesYAML(t, "home")
	before := y.urls["home"]
	u, err := url.Parse(before)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(u.User.Username(), "second")
	y.urls["b"] = "postgres://u:first@127.0.0.1/b"
	y.write(t, nil, "b")
	file, err := databasesfile.Open(y.path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var own Config
	if err := own.placeIn(file, file.Databases()[0]); err != nil {
		t.Fatal(err)
	}
	_, auth, err := own.postgres(nil, slog.New(slog.DiscardHandler))
	if err != nil || auth.URL == nil || auth.URL.Secret() != before {
		t.Fatalf("the URL of home: %v", err)
	}
	y.urls["home"] = u.String()
	y.write(t, nil, "b")
	eventually(t, func() bool { return auth.URL.Secret() == u.String() })
	auth.URL.Refused(u.String())
	if auth.URL.Secret() != before {
		t.Error("the URL before is not tried while the server has the password before")
	}
}

func operate(t *testing.T, cfg Config, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c, err := operator.Parse(args, &out)
	if err == nil {
		err = Operate(t.Context(), cfg, c, &out)
	}
	return out.String(), err
}

// spec: databases-commands, database-faults
func TestCommandsOverDatabasesOfWhichOneIsAway(t *testing.T) {
	t.Parallel()
	y := newDatabasesYAML(t, "home", "b")
	y.urls["away"] = "postgres://127.0.0.1:1/away"
	y.write(t, map[string]string{"b": "accepting: false"}, "b", "away")
	cfg := Config{DatabasesFile: y.path}
	for _, c := range []struct {
		command string
		want    []string
		fails   bool
	}{
		{"migrate", []string{"home up to date", "b up to date", "away no: "}, true},
		{"databases list", []string{"home yes 1 0 ", "b no 1 0 ", "away yes 1 - "}, false},
		{"databases check", []string{"home tables ok", "away reachable wrong"}, true},
		{"account list", []string{"ID NAME CREATED"}, true},
	} {
		out, err := operate(t, cfg, strings.Fields(c.command)...)
		var rows strings.Builder
		for line := range strings.Lines(out) {
			rows.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
		}
		for _, want := range c.want {
			if !strings.Contains(rows.String(), want) {
				t.Errorf("%s: there is no %q in\n%s", c.command, want, out)
			}
		}
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.command, err)
		}
	}
}

// spec: database-faults
func TestADatabaseThatIsBehindRefusesItsOwnAccounts(t *testing.T) {
	t.Parallel()
	y := newDatabasesYAML(t, "home")
	y.urls["b"] = pgtest.Shared(t).Database(t, "")
	y.write(t, nil, "b")
	s := y.run(t, Config{AwaitMigrations: true}, Deps{Log: slog.New(slog.DiscardHandler)})
	dir := s.placed.(*several).directory //nolint:forcetypeassert // as it is opened
	for i, name := range []string{"home", "b"} {
		place := directory.Place{Account: prism.AccountID{UUID: prism.UUID{byte(i + 1)}}, Database: name}
		if _, err := dir.TakeName(t.Context(), name, place); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.placed.ofAccount(t.Context(), place.Account)
		if behind := errors.Is(err, contract.ErrUnavailable); behind != (name == "b") || err != nil && !behind {
			t.Errorf("an account of %s: %v", name, err)
		}
	}
	if _, err := operate(t, Config{DatabasesFile: y.path}, "migrate"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return s.placed.all()[1].migrated.Load() })
	if waits := changesOf(s.placed.(*several).file.opened, s.placed.(*several).file.Databases()); len(waits) > 0 { //nolint:forcetypeassert // as above
		t.Errorf("a file that did not change needs a restart: %q", waits)
	}
}

// spec: databases-file, directory
func TestNewAccountsAreMadeWhereTheFileLetsThem(t *testing.T) {
	t.Parallel()
	y := newDatabasesYAML(t, "home", "b", "c")
	y.write(t, map[string]string{"home": "accepting: false", "c": "weight: 3"}, "b", "c")
	s, err := Open(t.Context(), Config{DatabasesFile: y.path}, Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.upToDate(t.Context()); err != nil {
		t.Fatal(err)
	}
	create := func(names ...string) {
		for _, name := range names {
			if _, err := s.Operator().CreateAccount(t.Context(), name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	wantCounts := func(want map[string]int64) {
		if got, err := s.placed.counts(t.Context()); err != nil || !maps.Equal(got, want) {
			t.Errorf("accounts are in %v, want %v: %v", got, want, err)
		}
	}
	create("1", "2", "3", "4", "5", "6", "7", "8")
	wantCounts(map[string]int64{"b": 2, "c": 6})
	y.write(t, map[string]string{"c": "accepting: false"}, "b", "c")
	eventually(t, func() bool { accepting, _ := s.placed.all()[2].terms(); return !accepting })
	create("9", "10")
	wantCounts(map[string]int64{"b": 2, "c": 6, "home": 2})
	out, err := operate(t, Config{DatabasesFile: y.path}, "account", "list")
	for _, row := range []string{" b ", " c ", " home "} {
		if !strings.Contains(out, row) || err != nil {
			t.Errorf("account list has no%s: %v\n%s", row, err, out)
		}
	}
}
