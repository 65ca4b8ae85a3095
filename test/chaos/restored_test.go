package chaos

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
)

// One of four databases, or home, is restored to an earlier copy. It loses what it had since, and nothing else: its keys that were revoked
// since stay revoked, and accounts in the other databases lose nothing, and with home not even the keys that they had since.
//
// spec: revocations, directory-repair, database-faults, linearizable, durable-before-response, usage-is-exact
func TestADatabaseThatIsRestoredRevivesNoKeyAndOthersLoseNothing(t *testing.T) {
	t.Parallel()
	s := startSpread(t, system.Config{})
	for _, own := range []*world{s.worlds[1], s.worlds[0]} {
		for name, restore := range map[string]func(*spread, context.Context, *testing.T, *world, func()) string{
			"stopped": (*spread).restoredBetweenRuns, "running": (*spread).restoredUnderLoad,
		} {
			t.Run(own.database.Name+" while results is "+name, func(t *testing.T) {
				onceOf(t, func() string { return s.restored(t, own, restore) })
			})
		}
	}
	report(t, s.Problems())
}

// restored has a database restored to a copy that has the results of one load, and not those of another one.
func (s *spread) restored(t *testing.T, own *world, restored func(*spread, context.Context, *testing.T, *world, func()) string) (late string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	s.calls(t, s.worlds...)
	kept := *own
	made := s.client.Insist(ctx, load.Request{
		Method: http.MethodPost, URL: s.Gateways[0].URL() + "/v1/keys", Key: own.keys[0], Body: map[string]string{"name": "to be revoked"},
	})
	var revoked struct{ ID, Key string }
	if err := json.Unmarshal(made.Body, &revoked); err != nil || made.Status != http.StatusCreated {
		t.Fatalf("a new key: %s", made)
	}
	s.want(t, http.StatusOK, http.MethodGet, "account", revoked.Key)
	restore := own.database.Primary().Backup(t, own.database.DatabaseURL())

	s.calls(t, own)
	lost, of := own.load.Served(), own.load
	s.want(t, http.StatusOK, http.MethodPost, "keys/"+revoked.ID+"/revoke", own.keys[0])
	s.want(t, http.StatusUnauthorized, http.MethodGet, "account", revoked.Key)
	since, err := s.Operate(ctx, "key", "create", "--account", s.without(own)[1].names[0])
	if err != nil {
		t.Fatal(err)
	}
	late = restored(s, ctx, t, own, restore)

	isHome := own == s.worlds[0]
	if !isHome { // home itself has no record of its revocations
		until(t, "the key is revoked again", func() bool {
			load.Wait(ctx, 100*time.Millisecond)
			return s.read(ctx, 0, "account", revoked.Key).Status == http.StatusUnauthorized
		})
		s.want(t, http.StatusUnauthorized, http.MethodGet, "account", revoked.Key)
	}
	if _, err := s.Operate(ctx, "databases", "repair"); err != nil {
		t.Errorf("VIOLATION: %v", err)
	}
	s.want(t, http.StatusOK, http.MethodGet, "account", since)
	for id := range lost {
		s.want(t, http.StatusNotFound, http.MethodGet, "results/"+id, own.keys[of.Owner(id)%2])
	}
	s.calls(t, s.worlds...)
	for _, err := range kept.ofLoad(t) {
		t.Errorf("VIOLATION: of what %s had before the copy: %v", own.database.Name, err)
	}
	return late
}

// calls makes calls of worlds for a while, and checks everything about them.
func (s *spread) calls(t *testing.T, worlds ...*world) {
	t.Helper()
	stop := s.begin(t, worlds...)
	load.Wait(t.Context(), quietTime)
	stop()
	for _, w := range worlds {
		s.whole(t, w)
	}
}

// restoredBetweenRuns stops results meanwhile.
func (s *spread) restoredBetweenRuns(ctx context.Context, t *testing.T, _ *world, restore func()) (late string) {
	for _, r := range s.Results {
		if err := r.Terminate(); err != nil {
			t.Error(err)
		}
	}
	restore()
	for _, r := range s.Results {
		if err := r.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return ""
}

// restoredUnderLoad restores the database while its accounts and those in the others make calls. What the former make is partly lost, so of
// their calls only each answer by itself is checked.
func (s *spread) restoredUnderLoad(ctx context.Context, t *testing.T, own *world, restore func()) (late string) {
	elsewhere := s.without(own)
	stop := s.begin(t, s.worlds...)
	load.Wait(ctx, time.Second)
	restore()
	for _, w := range s.worlds {
		if _, err := w.load.Ready(ctx); err != nil {
			t.Errorf("VIOLATION: in %s %v after it was restored", w.database.Name, err)
		}
	}
	stop()
	for _, err := range own.load.Problems() {
		t.Errorf("VIOLATION: %s: %v", own.database.Name, err)
	}
	for _, w := range elsewhere {
		late = w.untouched(t, late)
		s.whole(t, w)
	}
	return late
}
