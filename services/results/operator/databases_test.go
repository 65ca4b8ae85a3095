package operator_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/usage"
	"github.com/prism-results/prism/services/results/operator"
)

// healthy is the state of a database with which nothing is wrong.
func healthy() postgres.State {
	return postgres.State{
		Version: "16.4", Number: 160004, Bytes: 8 << 20, Took: 2 * time.Millisecond, Migration: postgres.NewestMigration,
	}
}

// newDatabase is a database with a state, and an account of its name.
func newDatabase(name string, s postgres.State, err error) operator.Database {
	account := keys.Account{ID: prism.AccountID{UUID: prism.UUID{byte(len(name))}}, Name: "account of " + name}
	return operator.Database{
		Name: name, Accepting: true, Weight: 1,
		State:   func(context.Context) (postgres.State, error) { return s, err },
		Migrate: func(context.Context) error { return err },
		Accounts: func(context.Context) ([]keys.Account, error) {
			return []keys.Account{account}, err
		},
		Recent: func(context.Context, prism.Day) (map[prism.AccountID]int64, error) {
			return map[prism.AccountID]int64{account.ID: 86400 * 36 * 3}, err
		},
	}
}

// ofDatabases is an Operator of databases. It is 12:00 UTC.
func ofDatabases(placed map[string]int64, all ...operator.Database) *operator.Operator {
	noon := time.Date(2026, time.March, 31, 12, 0, 0, 0, time.UTC)
	s := &service.Service{Deps: service.Deps{Now: func() time.Time { return noon }}}
	return operator.New(s, operator.Databases{
		All: all, Placed: func(context.Context) (map[string]int64, error) { return placed, nil },
	})
}

var errAway = errors.New("dial tcp: connection refused")

// words are the rows of a table, with one space between words.
func words(table string) (rows []string) {
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	return rows
}

// spec: databases-commands
func TestDatabasesAreListedAlsoThoseThatAreAway(t *testing.T) {
	t.Parallel()
	behind := healthy()
	behind.Migration--
	c := newDatabase("c", behind, nil)
	c.Accepting, c.Weight = false, 3
	out, err := run(t, ofDatabases(nil, newDatabase("home", healthy(), nil), newDatabase("b", postgres.State{}, errAway), c), "databases list")
	if err != nil {
		t.Fatal(err)
	}
	got := words(out)
	for i, want := range []string{
		`^NAME ACCEPTING WEIGHT ACCOUNTS BYTES VERSION MIGRATED REACHABLE$`,
		`^home yes 1 1 8388608 16\.4 yes yes$`,
		`^b yes 1 - - - - no: dial tcp: connection refused$`,
		`^c no 3 1 8388608 16\.4 no: \d+ of \d+ yes$`,
	} {
		if !regexp.MustCompile(want).MatchString(got[i]) {
			t.Errorf("got %q, want %s", got[i], want)
		}
	}
}

// spec: databases-commands
func TestTheCheckSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	changed := func(change func(s *postgres.State)) postgres.State {
		s := healthy()
		change(&s)
		return s
	}
	for _, c := range []struct {
		name   string
		state  postgres.State
		err    error
		placed map[string]int64
		want   string // the only row of b that is not ok
		fails  bool
	}{
		{"nothing", healthy(), nil, map[string]int64{"home": 1, "b": 2}, "", false},
		{"away", postgres.State{}, errAway, nil, "b reachable wrong start it, or correct its URL and credentials: dial tcp: connection refused", true},
		{"behind", changed(func(s *postgres.State) { s.Migration = 100 }), nil, nil, "b tables wrong run prism migrate: they are at 100 of ", true},
		{
			"an old server", changed(func(s *postgres.State) { s.Version, s.Number = "14.2", 140002 }), nil, nil,
			"b version wrong upgrade Postgres 14.2 to 15 or later", true,
		},
		{
			"fsync", changed(func(s *postgres.State) { s.Losses = []string{"Postgres has fsync = off"} }), nil, nil,
			"b keeps results wrong change the settings: Postgres has fsync = off", true,
		},
		{"plain text", changed(func(s *postgres.State) { s.Plain = true }), nil, nil, "b encrypted note set sslmode=verify-full in its URL", false},
		{
			"a clock", changed(func(s *postgres.State) { s.Ahead = -3 * time.Second }), nil, nil,
			"b clock wrong synchronise the clocks of the servers: it is 3s from home's", true,
		},
		{"a slow answer", changed(func(s *postgres.State) { s.Ahead, s.Took = 3*time.Second, 6*time.Second }), nil, nil, "", false},
		{
			"a database that was removed", healthy(), nil,
			map[string]int64{"home": 1, "gone": 7},
			`- directory wrong put the database "gone" back into the file: 7 accounts are there`, true,
		},
	} {
		out, err := run(t, ofDatabases(c.placed, newDatabase("home", healthy(), nil), newDatabase("b", c.state, c.err)), "databases check")
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		rows := slices.DeleteFunc(words(out), func(row string) bool {
			return strings.HasPrefix(row, "DATABASE CHECK STATE") || strings.HasSuffix(row, " ok -")
		})
		if c.want == "" && len(rows) > 0 || c.want != "" && (len(rows) != 1 || !strings.HasPrefix(rows[0], c.want)) {
			t.Errorf("%s: got %q, want %q", c.name, rows, c.want)
		}
	}
}

// The embedded store has no server to ask about.
func TestTheCheckOfTheEmbeddedStoreIsShort(t *testing.T) {
	t.Parallel()
	out, err := run(t, newOperator(t), "databases check")
	if got := words(out); err != nil || !slices.Equal(got[1:], []string{"home reachable ok -", "home tables ok -"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// spec: databases-commands
func TestAllDatabasesAreMigratedAndEachIsReported(t *testing.T) {
	t.Parallel()
	home, b, c := newDatabase("home", healthy(), nil), newDatabase("b", healthy(), errAway), newDatabase("c", healthy(), nil)
	// Each waits for the other: they are migrated at the same time.
	began := make(chan struct{})
	home.Migrate = func(context.Context) error { <-began; return nil }
	c.Migrate = func(context.Context) error { close(began); return nil }
	out, err := run(t, ofDatabases(nil, home, b, c), "migrate")
	want := []string{"DATABASE MIGRATED", "home up to date", "b no: dial tcp: connection refused", "c up to date"}
	if got := words(out); err == nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if out, err := run(t, ofDatabases(nil, newDatabase("home", healthy(), nil)), "migrate"); err != nil || out != "The database is up to date.\n" {
		t.Errorf("one database: %q, %v", out, err)
	}
	if out, err := run(t, ofDatabases(nil, newDatabase("home", healthy(), errAway)), "migrate"); !errors.Is(err, errAway) || out != "" {
		t.Errorf("one database that is away: %q, %v", out, err)
	}
}

// spec: citus-layout
func TestTablesAreDistributedOnRequestWhenTheyAreMigrated(t *testing.T) {
	t.Parallel()
	db := newDatabase("home", healthy(), nil)
	if out, err := run(t, ofDatabases(nil, db), "migrate --distribute"); err == nil || out != "" || !strings.Contains(err.Error(), "PRISM_DATABASE_LAYOUT=citus") {
		t.Errorf("without the layout: %q, %v", out, err)
	}
	distributed := false
	db.Distribute = func(context.Context) error { distributed = true; return nil }
	if _, err := run(t, ofDatabases(nil, db), "migrate"); err != nil || distributed {
		t.Errorf("not asked for: distributed %t, %v", distributed, err)
	}
	if _, err := run(t, ofDatabases(nil, db), "migrate --distribute"); err != nil || !distributed {
		t.Errorf("asked for: distributed %t, %v", distributed, err)
	}
}

// spec: databases-commands
func TestAccountsAreListedWithTheirDatabaseAndTheirCalls(t *testing.T) {
	t.Parallel()
	out, err := run(t, ofDatabases(nil, newDatabase("home", healthy(), nil), newDatabase("b", healthy(), nil), newDatabase("away", healthy(), errAway)), "account list")
	if err == nil || !strings.Contains(err.Error(), `the accounts of the database "away" are not shown: dial tcp`) {
		t.Errorf("a database that is away: %v", err)
	}
	got := words(out)
	if len(got) != 3 || !strings.HasSuffix(got[1], " b 72.000") || !strings.HasSuffix(got[2], " home 72.000") || !strings.Contains(got[1], " account of b ") {
		t.Errorf("got %q", got)
	}
	if out, err := run(t, ofDatabases(nil, newDatabase("home", healthy(), errAway)), "account list"); !errors.Is(err, errAway) || out != "" {
		t.Errorf("no database: %q, %v", out, err)
	}
}

// spec: databases-commands
func TestCallsASecondAreOfTheLastDays(t *testing.T) {
	t.Parallel()
	o, s := newStore(t)
	if _, err := run(t, o, "account create acme"); err != nil {
		t.Fatal(err)
	}
	account, err := o.Account(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	today := prism.DayOf(time.Now())
	for _, day := range []prism.Day{today, today, today - 3} {
		if err := s.CountUse(t.Context(), account, usage.Use{Day: day}); err != nil {
			t.Fatal(err)
		}
	}
	recent, err := s.CountRecent(t.Context(), today-1)
	if err != nil || len(recent) != 1 || recent[account] != 2 {
		t.Errorf("got %v, %v", recent, err)
	}
}

// spec: databases-commands
func TestTheCheckSaysWhatMovesNeed(t *testing.T) {
	t.Parallel()
	able := mover.State{WALLevel: "logical", Direct: true, Replicates: true, Subscribes: true, Silences: true, Owns: true, Slots: 3}
	for want, change := range map[string]func(s *mover.State){
		"": func(*mover.State) {},
		"wal_level not for moves set wal_level = logical, and restart Postgres: it is replica":        func(s *mover.State) { s.WALLevel = "replica" },
		"direct not for moves set a direct_url that leads to Postgres itself":                         func(s *mover.State) { s.Direct = false },
		"replication not for moves give the role REPLICATION":                                         func(s *mover.State) { s.Replicates = false },
		"subscription not for moves let the role make subscriptions":                                  func(s *mover.State) { s.Subscribes = false },
		"triggers not for moves let the role leave out triggers":                                      func(s *mover.State) { s.Silences = false },
		"owner not for moves have the role that owns the tables":                                      func(s *mover.State) { s.Owns = false },
		"slots not for moves raise max_replication_slots, or drop slots that nobody uses: 2 are free": func(s *mover.State) { s.Slots = 2 },
	} {
		s := able
		change(&s)
		home := newDatabase("home", healthy(), nil)
		home.Moves = func(context.Context) (mover.State, error) { return s, nil }
		wantRow(t, ofDatabases(nil, home), want)
	}
	home := newDatabase("home", healthy(), nil)
	home.Moves = func(context.Context) (mover.State, error) { return mover.State{}, errAway }
	wantRow(t, ofDatabases(nil, home), "direct not for moves correct direct_url: dial tcp: connection refused")
}

// wantRow expects one row of databases check that is not ok, which matters to nothing but moves; "": none.
func wantRow(t *testing.T, o *operator.Operator, want string) {
	t.Helper()
	out, err := run(t, o, "databases check")
	if err != nil {
		t.Error(err)
	}
	rows := slices.DeleteFunc(words(out), func(row string) bool {
		return strings.HasPrefix(row, "DATABASE CHECK STATE") || strings.HasSuffix(row, " ok -")
	})
	if want == "" && len(rows) > 0 || want != "" && (len(rows) != 1 || !strings.HasPrefix(rows[0], "home "+want)) {
		t.Errorf("got %q, want %q", rows, want)
	}
}
