package placed_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/placed"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// faults are those of several databases.
type faults struct {
	mu    sync.Mutex
	away  []string // databases
	steps int      // until all are away, as if the process had ended; below 0: never
	done  bool     // whether the last of these steps is done, and only its answer is lost
	gone  bool
	meet  func() // what happens before the last of these steps, instead of a crash; nil: nothing
}

// meetAt has something happen before a step of a call.
func (f *faults) meetAt(step int, meet func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps, f.meet = step, meet
}

// met tells whether it has happened. From now on it does not.
func (f *faults) met() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	met := f.meet != nil && f.steps < 0
	f.steps, f.meet = -1, nil
	return met
}

// crashAfter has all databases be away after some steps.
func (f *faults) crashAfter(steps int, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps, f.done, f.gone = steps, done, false
}

// crashed tells whether all databases were away. From now on none is.
func (f *faults) crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.gone
	f.steps, f.gone = -1, false
	return was
}

// take has databases be away from now on.
func (f *faults) take(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = names
}

func (f *faults) step(name string, do func() error) error {
	f.mu.Lock()
	crash := f.steps == 0 && f.meet == nil
	meets := f.steps == 0 && f.meet != nil
	f.steps = max(f.steps-1, -1)
	f.gone = f.gone || crash
	away, done := f.gone || slices.Contains(f.away, name), crash && f.done
	meet := f.meet
	f.mu.Unlock()
	if meets {
		meet()
	}
	if !away {
		return do()
	}
	if done {
		_ = do()
	}
	return store.ErrUnavailable
}

// faulty is a database with faults.
type faulty struct {
	sqldb.Database
	name   string
	faults *faults
}

func (d faulty) LookUp(ctx context.Context, s sqldb.Statement, read func(*sqldb.Row)) error {
	return d.faults.step(d.name, func() error { return d.Database.LookUp(ctx, s, read) })
}

func (d faulty) Run(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
	return d.faults.step(d.name, func() error { return d.Database.Run(ctx, s, read) })
}

func (d faulty) Transaction(ctx context.Context, operation string, fn func(sqldb.Run) error) error {
	return d.faults.step(d.name, func() error { return d.Database.Transaction(ctx, operation, fn) })
}

// world is three databases with faults, each with an account of its name.
type world struct {
	*testing.T
	*placed.Accounts
	faults   *faults
	accounts map[string]prism.AccountID
	now      time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := pgtest.Shared(t)
	server.Template(t, "store", postgres.Migrate)
	w := &world{T: t, Accounts: &placed.Accounts{Patience: time.Minute}, faults: &faults{steps: -1}, accounts: map[string]prism.AccountID{}}
	w.now = time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
	for _, name := range []string{"home", "b", "c"} {
		pg, err := postgres.Open(t.Context(), postgres.Config{URL: server.Database(t, "store"), MaxConns: 4}, postgres.Deps{})
		w.succeeds(err)
		t.Cleanup(pg.Close)
		w.Databases = append(w.Databases, placed.Database{Name: name, Store: sqlstore.New(faulty{pg.Database, name, w.faults}), Terms: accepts(false)})
	}
	w.Home = w.Databases[0].Store.Database
	w.Directory = directory.NewCached(directory.SQL{Database: w.Home}, 100)
	for i := range w.Databases {
		db := &w.Databases[i]
		db.Terms = accepts(true)
		w.accounts[db.Name] = prism.AccountID{UUID: w.id()}
		w.succeeds(w.CreateAccount(t.Context(), w.accounts[db.Name], db.Name, w.by()))
		db.Terms = accepts(false)
	}
	return w
}

// SweepSessions is that of all databases, whichever of them fail.
func (w *world) SweepSessions(ctx context.Context, now time.Time) (swept int, err error) {
	for i, db := range w.Databases {
		n, failed := placed.Local{Statements: db.Store, Accounts: w.Accounts, Home: i == 0}.SweepSessions(ctx, now)
		swept, err = swept+n, errors.Join(err, failed)
	}
	return swept, err
}

func (w *world) id() (id prism.UUID) {
	_, _ = rand.Read(id[:])
	return id
}

func (w *world) newID() (prism.UUID, error) { return w.id(), nil }

func (w *world) by() store.By {
	return store.By{Entry: w.id(), At: w.now, Actor: store.Actor{Kind: store.OperatorActor, Name: "operator"}}
}

func digest[D ~[32]byte]() (d D) {
	_, _ = rand.Read(d[:])
	return d
}

func (w *world) succeeds(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) failsWith(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Errorf("the error is %v, want %v", err, want)
	}
}

func (w *world) is(what string, got, want any) {
	w.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (w *world) link() members.Link {
	return members.Link{Digest: digest[contract.LinkDigest](), ExpiresAt: w.now.Add(time.Hour)}
}

// invited is a new member, who has a link.
func (w *world) invited(in string) (members.Member, members.Link) {
	w.Helper()
	m, l := w.member(), w.link()
	w.succeeds(w.AddMember(w.Context(), w.accounts[in], m, &l, w.by()))
	return m, l
}

func (w *world) member() members.Member {
	return members.Member{ID: prism.MemberID{UUID: w.id()}, Name: "Ada", Role: prism.Editor, CreatedAt: w.now}
}

// granted are rules of accounts for a new group, and somebody in it.
func (w *world) granted(in ...string) *contract.Identity {
	w.Helper()
	i := w.somebody()
	for _, name := range in {
		rule := w.member()
		rule.Claim = &prism.Claim{Name: "groups", Value: i.Claims["groups"][0]}
		w.succeeds(w.AddMember(w.Context(), w.accounts[name], rule, nil, w.by()))
		w.succeeds(w.GrantClaim(w.Context(), w.accounts[name], *rule.Claim, true, w.by()))
	}
	return i
}

// somebody is an identity that is nobody's yet.
func (w *world) somebody() *contract.Identity {
	subject := w.id().String()
	return &contract.Identity{Issuer: "https://i.example", Subject: subject, Claims: map[string][]string{"groups": {subject}}}
}

func (w *world) signInBy(l *contract.LinkDigest, i *contract.Identity) members.SignIn {
	return members.SignIn{
		Session: digest[contract.SessionDigest](), ID: w.id(), Link: l, Identity: i, NewID: w.newID, At: w.now,
	}
}

// signedIn is the session of a sign-in.
func (w *world) signedIn(in members.SignIn) contract.SessionDigest {
	w.Helper()
	_, err := w.SignIn(w.Context(), in)
	w.succeeds(err)
	return in.Session
}

// names are those of a session's accounts.
func names(s contract.Session) (names []string) {
	for _, a := range s.Accounts {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// ofSession reads a session: its accounts, or its error.
func (w *world) ofSession(d contract.SessionDigest) string {
	s, err := w.Session(w.Context(), d, w.now)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "none"
	case errors.Is(err, store.ErrUnavailable):
		return "unavailable"
	case err != nil:
		return err.Error()
	}
	return fmt.Sprint(names(s))
}

func (w *world) key(d contract.SessionDigest, in string) (contract.KeyDigest, error) {
	k := members.NewSessionKey{
		Account: w.accounts[in], ID: prism.KeyID{UUID: w.id()}, Digest: digest[contract.KeyDigest](), Prefix: "prism_abc", Entry: w.id(), At: w.now,
	}
	_, err := w.CreateSessionKey(w.Context(), d, k)
	return k.Digest, err
}

func (w *world) works(key contract.KeyDigest) bool {
	w.Helper()
	caller, err := suite{home{w.Databases[0].Store}, w.Accounts}.Authenticate(w.Context(), key)
	w.succeeds(err)
	return !caller.Account.IsZero()
}

// people are the members of an account that are no rules.
func (w *world) people(in string) []members.Member {
	w.Helper()
	found, _, err := w.ListMembers(w.Context(), w.accounts[in], store.Page{Limit: 1000})
	w.succeeds(err)
	return slices.DeleteFunc(found, func(m members.Member) bool { return m.Claim != nil })
}

// memberships are the accounts to which an identity signs in.
func (w *world) memberships(i *contract.Identity) []string {
	w.Helper()
	s, err := w.SignIn(w.Context(), w.signInBy(nil, i))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	w.succeeds(err)
	return names(s)
}

// together calls do n times at once, and returns the errors.
func together(n int, do func(i int) error) []error {
	failures := make([]error, n)
	var run sync.WaitGroup
	for i := range n {
		run.Go(func() { failures[i] = do(i) })
	}
	run.Wait()
	return failures
}
