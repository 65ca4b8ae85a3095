package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

const (
	// quietTime is how long calls are measured before a fault.
	quietTime = 3 * time.Second
	// longestFault is how long a fault of a database lasts in a long run, and faultsPart is its part of a shorter one.
	longestFault = 30 * time.Second
	faultsPart   = 3
	// saveLimit is for how long a save is tried.
	saveLimit = 10 * time.Second
	// slower is how much slower accounts of other databases may be during a fault, if half of their quiet p99 is less. On a busy machine the
	// p99 of a thousand calls is that of a few which got no processor for a while, and differs by hundreds of milliseconds from one
	// second to the next. Whoever waits for a database that is away waits for longer: a second for a connection, and ten for a statement.
	// The log has the ratio.
	slower = 500 * time.Millisecond
)

// A databaseFault is what happens to one of several databases.
type databaseFault struct {
	name string
	// prepare is called while nothing is measured; nil: there is nothing to prepare.
	prepare func(context.Context, *system.Database) error
	// breaks does it, calls hold while it lasts, and repairs it.
	breaks func(ctx context.Context, d *system.Database, hold func()) error
	// silent tells that the database answers nothing meanwhile, also no reads.
	silent bool
}

func databaseFaults() []databaseFault {
	return []databaseFault{
		{name: "killed", silent: true, breaks: func(ctx context.Context, d *system.Database, hold func()) error {
			err := d.Primary().Crash()
			hold()
			return errors.Join(err, d.Primary().Restart(ctx))
		}},
		{name: "hung", silent: true, breaks: func(_ context.Context, d *system.Database, hold func()) error {
			err := d.Primary().Pause()
			hold()
			return errors.Join(err, d.Primary().Resume())
		}},
		{name: "read-only", breaks: func(ctx context.Context, d *system.Database, hold func()) error {
			err := d.Primary().Demote(ctx)
			hold()
			return errors.Join(err, d.Primary().Exec(ctx, "ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"))
		}},
		{name: "full", breaks: func(ctx context.Context, d *system.Database, hold func()) error {
			err := execute(ctx, d, fullDisk)
			hold()
			return errors.Join(err, execute(ctx, d, "DROP TRIGGER full_disk ON results; DROP FUNCTION full_disk"))
		}},
		{
			name:    "failed over to its standby",
			silent:  true,
			prepare: func(ctx context.Context, d *system.Database) error { return d.AddStandby(ctx) },
			breaks: func(ctx context.Context, d *system.Database, hold func()) error {
				errs := []error{d.Standby.Crash()} // so that the primary gets rows that the standby never does
				pass(time.Second)
				errs = append(errs, d.Primary().Crash())
				hold()
				return errors.Join(append(errs, d.Standby.Restart(ctx), d.FailOver(ctx))...)
			},
		},
	}
}

func execute(ctx context.Context, d *system.Database, sql string) error {
	conn, err := pgx.Connect(ctx, d.DatabaseURL())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, sql)
	return err
}

// Each fault of one of four databases, home among them, is felt by its own accounts, as those of one database feel it, and by no others.
//
// spec: database-faults, shared-in-a-database, directory, key-look-up, linearizable, one-save-per-result, durable-before-response, usage-is-exact
func TestAFaultOfOneOfSeveralDatabasesIsFeltByItsOwnAccountsAlone(t *testing.T) {
	t.Parallel()
	s := startSpread(t, system.Config{})
	for _, w := range []*world{s.worlds[2], s.worlds[0]} {
		for _, f := range databaseFaults() {
			t.Run(w.database.Name+" is "+f.name, func(t *testing.T) {
				onceOf(t, func() string { return s.fails(t, w, f) })
			})
		}
	}
	report(t, s.Problems())
}

// spread is a system of several databases, with a world in each. It is measured, so its services are as they are shipped.
type spread struct {
	*system.System
	seed   uint64
	worlds []*world
	client *load.Client
	loads  int
}

// startSpread starts four databases, with further settings of the system.
func startSpread(t *testing.T, c system.Config) *spread {
	t.Helper()
	s := &spread{seed: seed(t), client: load.NewClient(16, 0)}
	t.Cleanup(s.client.Close)
	c.Flags, c.Databases, c.Forgetful = shipped, 3, true
	c.Model = upstream.Config{Seed: s.seed, Pause: 2 * time.Millisecond}
	s.System = startSystem(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	keys := map[string]string{}
	for i := range 2 * len(s.Databases) {
		name := fmt.Sprintf("account-%d", i)
		key, err := s.Account(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = key
	}
	for _, d := range s.Databases {
		names := collect[string](t, d, "SELECT name FROM accounts ORDER BY name")
		if len(names) != 2 {
			t.Fatalf("%s has the accounts %q", d.Name, names)
		}
		w := &world{System: s.System, database: d, seed: s.seed, names: [2]string(names)}
		for i, name := range names {
			w.keys[i] = keys[name]
		}
		w.begin(t, load.Config{})
		if err := w.load.Prepare(ctx); err != nil {
			t.Fatal(err)
		}
		s.worlds = append(s.worlds, w)
	}
	return s
}

// collect is the only column of what a database finds.
func collect[T any](t *testing.T, d *system.Database, sql string, args ...any) []T {
	t.Helper()
	return collectRows(t, d, pgx.RowTo[T], sql, args...)
}

func collectRows[T any](t *testing.T, d *system.Database, read pgx.RowToFunc[T], sql string, args ...any) []T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.DatabaseURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, read)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// places is where the directory has each account.
func (s *spread) places(t *testing.T) map[string]*system.Database {
	t.Helper()
	places := map[string]*system.Database{}
	for _, d := range s.Databases {
		for _, name := range collect[string](t, s.Database, "SELECT name FROM directory_accounts WHERE database = $1", d.Name) {
			places[name] = d
		}
	}
	return places
}

// begin starts a new load in each world, which stop ends.
func (s *spread) begin(t *testing.T, worlds ...*world) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, w := range worlds {
		s.loads++
		w.begin(t, load.Config{
			Seed: s.seed + uint64(s.loads), First: s.loads * loadRaces, Clients: 6, Pause: 50 * time.Millisecond,
			Tag: upstream.Tag{FailPercent: 45},
		})
		running.Go(func() { w.load.Run(ctx) })
		running.Go(func() { s.look(ctx, t, w) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// looked are reads that are more than a look-up of a result.
var looked = []string{
	"results?limit=5", "prisms/" + load.Slugs[0] + "/results?format=csv", "prisms", "account", "usage?by=prism", "changes?limit=5", "runs",
	"files", "keys", "audit?limit=5", "views", "prisms/" + load.Slugs[0] + "/distribution?question=urgent",
}

// look makes such reads until ctx ends. Each is answered, or told that something is unavailable, or cut off as an export whose database dies, which
// counts as the load's own calls do.
func (s *spread) look(ctx context.Context, t *testing.T, w *world) {
	for n := 0; load.Wait(ctx, 50*time.Millisecond); n++ {
		path := looked[n%len(looked)]
		r := s.read(context.WithoutCancel(ctx), n, path, w.keys[n%2])
		if r.Status != http.StatusOK && !r.Unavailable() && !errors.Is(r.Err, io.ErrUnexpectedEOF) {
			t.Errorf("VIOLATION: %s in %s: %s", path, w.database.Name, r)
		}
		w.load.Count(r)
	}
}

// read makes a read at a gateway.
func (s *spread) read(ctx context.Context, n int, path, key string) load.Reply {
	return s.client.Do(ctx, load.Request{Method: http.MethodGet, URL: s.Gateways[n%len(s.Gateways)].URL() + "/v1/" + path, Key: key})
}

// want makes a call at each gateway until it is not told any more that something is unavailable, and expects a status.
func (s *spread) want(t *testing.T, status int, method, path, key string) (r load.Reply) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), recoveryBudget)
	defer cancel()
	for _, g := range s.Gateways {
		r = s.client.Insist(ctx, load.Request{Method: method, URL: g.URL() + "/v1/" + path, Key: key})
		if r.Status != status {
			t.Errorf("VIOLATION: %s %s: %s, want %d", method, path, r, status)
		}
	}
	return r
}

// fails has a fault happen to the database of a world, under load everywhere.
func (s *spread) fails(t *testing.T, own *world, f databaseFault) (late string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	if f.prepare != nil {
		if err := f.prepare(ctx, own.database); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := s.without(own)
	unknown, err := s.Operate(ctx, "key", "create", "--account", elsewhere[1].names[0]) // no process has seen it
	if err != nil {
		t.Fatal(err)
	}
	stop := s.begin(t, s.worlds...)
	load.Wait(ctx, quietTime)
	began := own.load.Now()
	err = f.breaks(ctx, own.database, func() {
		lasts := time.Now().Add(min(length(t)/faultsPart, longestFault))
		// A save is tried again for longer than a short fault lasts.
		felt := func() bool { seen := own.load.Seen(); return seen.Nothing+seen.Unknown > 0 }
		for n := 0; (time.Now().Before(lasts) || !felt()) && ctx.Err() == nil; n++ {
			r := s.read(ctx, n, "account", unknown)
			switch away := own == s.worlds[0] && f.silent; {
			case away && !r.Unavailable(): // as home does not tell whose it is
				t.Errorf("VIOLATION: while home is %s, a call of a key that no process knows: %s", f.name, r)
			case !away && !r.Unavailable() && r.Status != http.StatusOK:
				t.Errorf("VIOLATION: a call of a key that no process knows: %s", r)
			}
			pass(100 * time.Millisecond)
		}
	})
	if err != nil {
		t.Error(err)
	}
	for _, w := range s.worlds {
		took, err := w.load.Ready(ctx)
		if err != nil {
			t.Errorf("VIOLATION: in %s %v after %s", w.database.Name, err, f.name)
		}
		if w == own {
			t.Logf("the accounts of %s were answered %s after the fault had ended", own.database.Name, took.Round(time.Millisecond))
		}
	}
	ended := own.load.Now()
	s.want(t, http.StatusOK, http.MethodGet, "account", unknown)
	stop()
	for _, w := range elsewhere {
		late = w.untouched(t, late)
	}
	quiet, during := p99(elsewhere, 0, began), p99(elsewhere, began, ended)
	t.Logf("p99 elsewhere: %s quiet, %s during the fault, ratio %.2f", quiet, during, float64(during)/float64(quiet))
	if late == "" && during > max(quiet*3/2, quiet+slower) {
		late = fmt.Sprintf("the p99 of accounts elsewhere was %s quiet and %s during the fault", quiet, during)
	}
	own.told(t)
	for _, w := range s.worlds {
		s.whole(t, w)
	}
	return late
}

// without are the worlds in other databases.
func (s *spread) without(own *world) []*world {
	return slices.DeleteFunc(slices.Clone(s.worlds), func(w *world) bool { return w == own })
}

// told expects that a call has an unknown outcome only if its save was tried for its whole time (spec: saving-after-the-model).
func (w *world) told(t *testing.T) {
	t.Helper()
	for _, race := range w.load.Races() {
		for _, c := range race.Calls() {
			if took := c.Ended - c.Began; c.Response.Meaning == history.Unknown && took < saveLimit {
				t.Errorf("VIOLATION: in %s, %s has an unknown outcome after %s", w.database.Name, &c, took)
			}
		}
	}
}

// untouched expects that no call of a load failed, unless late says so already. A busy machine may have a service not answer another one in
// time, which is a 503 too.
func (w *world) untouched(t *testing.T, late string) string {
	t.Helper()
	seen := w.load.Seen()
	if seen.Unknown > 0 {
		t.Errorf("VIOLATION: of %d calls in %s, %d have no known outcome: %v", seen.Calls, w.database.Name, seen.Unknown, seen.Causes)
	}
	if seen.Nothing > 0 {
		late = fmt.Sprintf("of %d calls in %s, %d failed: %v", seen.Calls, w.database.Name, seen.Nothing, seen.Causes)
	}
	return late
}

// whole brings the load of a world to its end, and checks everything about it.
func (s *spread) whole(t *testing.T, w *world) {
	t.Helper()
	for _, race := range w.load.Races() {
		s.Model.Mend(race.Number)
	}
	w.load.Finish(t.Context())
	seen := w.load.Seen()
	t.Logf("%s: %d calls (%d results, %d refused by the contract, %d unavailable, %d with an unknown outcome), %d races, %v",
		w.database.Name, seen.Calls, seen.Results, seen.Refused, seen.Nothing, seen.Unknown, len(w.load.Races()), seen.Causes)
	w.show(t, history.Check(w.load.Histories()))
	for _, err := range w.ofLoad(t) {
		t.Errorf("VIOLATION: %s: %v", w.database.Name, err)
	}
	s.usage(t, w)
}

// usage compares what the accounts of a world have used with what is stored.
func (s *spread) usage(t *testing.T, w *world) {
	t.Helper()
	places := s.places(t)
	for i, name := range w.names {
		r := s.client.Insist(t.Context(), load.Request{Method: http.MethodGet, URL: s.Gateways[0].URL() + "/v1/usage?by=prism", Key: w.keys[i]})
		var used struct {
			Data []struct{ Results, Failed int64 }
		}
		if err := json.Unmarshal(r.Body, &used); err != nil || r.Status != http.StatusOK {
			t.Errorf("VIOLATION: the usage of %s: %s", name, r)
		}
		var results, failed int64
		for _, sum := range used.Data {
			results, failed = results+sum.Results, failed+sum.Failed
		}
		of := "SELECT count(*) FROM results r JOIN accounts a ON a.id = r.account_id WHERE a.name = '" + name + "'"
		if want := collect[int64](t, places[name], of+" UNION ALL "+of+" AND r.status = 'failed'"); results != want[0] || failed != want[1] {
			t.Errorf("VIOLATION: %s used %d results, of them %d failed; stored are %v", name, results, failed, want)
		}
	}
}

// p99 is the time within which all but one of a hundred calls ended that worlds began in a part of their time.
func p99(worlds []*world, from, to time.Duration) time.Duration {
	var took []time.Duration
	for _, w := range worlds {
		for _, race := range w.load.Races() {
			for _, c := range race.Calls() {
				if c.Began >= from && c.Began < to {
					took = append(took, c.Ended-c.Began)
				}
			}
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
