package results

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/operator"
)

func sharedServer(t *testing.T) func(string) *pgtest.Server {
	t.Helper()
	return func(string) *pgtest.Server { return pgtest.Shared(t) }
}

// isOf expects that a key is one of an account.
func (p *severalDatabases) isOf(t *testing.T, key string, account prism.AccountID) {
	t.Helper()
	if found, err := p.Account(t.Context(), sha256.Sum256([]byte(key))); err != nil || found != account {
		t.Errorf("a key of account %s is one of %s: %v", account, found, err)
	}
}

// spec: directory
func TestKeysThatAreMadeInAnyWayAreKnown(t *testing.T) {
	t.Parallel()
	names := []string{"home", "b", "c"}
	p := newPlaced(t, names, sharedServer(t))
	for _, name := range names {
		response, err := contract.Do(t.Context(), p, p.keys[name], api.CreateKey, api.CreateKeyRequest{NewKey: api.NewKey{Name: "another"}})
		if err != nil {
			t.Fatal(err)
		}
		var made api.CreatedAPIKey
		if err := json.Unmarshal(response.Body, &made); err != nil {
			t.Fatal(err)
		}
		p.isOf(t, made.Key, p.accounts[name])
		listed := 0
		for _, err := range p.Operator().Keys(t.Context(), p.accounts[name]) {
			if err != nil {
				t.Fatal(err)
			}
			listed++
		}
		if listed != 2 {
			t.Errorf("%s has %d keys", name, listed)
		}
		id, err := prism.ParseUUID(made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Operator().RevokeKey(t.Context(), prism.KeyID{UUID: id}); err != nil {
			t.Error(err)
		}
		if _, err := p.Account(t.Context(), sha256.Sum256([]byte(made.Key))); err == nil {
			t.Errorf("a key of %s that was revoked is known", name)
		}
	}
}

// spec: directory
func TestAccountsThatObjectsDeclareAreSpreadOverTheDatabases(t *testing.T) {
	t.Parallel()
	names := []string{"home", "b", "c"}
	p := newPlaced(t, names, sharedServer(t))
	made := map[string]int{}
	for i := range byte(3) {
		object := prism.UUID{i + 1}
		declared := contract.DeclareAccount{
			Name: fmt.Sprint("declared-", i), Object: object, HasLimits: true, Limits: prism.Limits{Concurrency: 7},
		}
		account, err := p.DeclareAccount(t.Context(), declared)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := p.DeclareAccount(t.Context(), declared); err != nil || again != account {
			t.Errorf("%s is %s and %s: %v", declared.Name, account, again, err)
		}
		other := declared
		other.Name += " otherwise"
		if _, err := p.DeclareAccount(t.Context(), other); err != contract.ErrNameChanged { //nolint:errorlint // as the contract has it
			t.Errorf("an object has two names: %v", err)
		}
		place, err := p.several.directory.OfAccount(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		made[place.Database]++
		key, err := p.DeclareKey(t.Context(), contract.DeclareKey{
			Account: account, ID: prism.KeyID{UUID: prism.UUID{9, i}}, Name: "a key", Role: prism.Reader,
		})
		if err != nil {
			t.Fatal(err)
		}
		p.isOf(t, key.Key, account)
		if key, err = p.OperatorKey(t.Context(), contract.OperatorKey{Account: account, Role: prism.Editor}); err != nil {
			t.Fatal(err)
		}
		p.isOf(t, key.Key, account)
	}
	for _, name := range names {
		if made[name] != 1 {
			t.Errorf("the accounts are in %v", made)
		}
	}
	limits, err := p.Limits(t.Context())
	if err != nil || len(limits) != 3 {
		t.Errorf("limits: %v, %v", limits, err)
	}
}

// spec: directory
func TestCommandsOfOperatorsHaveTheAccountsOfAllDatabases(t *testing.T) {
	t.Parallel()
	names := []string{"b", "c", "home"}
	p := newPlaced(t, []string{"home", "b", "c"}, sharedServer(t))
	for _, name := range names {
		if found, err := p.Operator().Account(t.Context(), name); err != nil || found != p.accounts[name] {
			t.Errorf("%s is %s: %v", name, found, err)
		}
		if _, err := p.Operator().CreateAccount(t.Context(), name); err == nil {
			t.Errorf("%s is made again", name)
		}
	}
	if _, err := p.Operator().Account(t.Context(), "nobody"); err == nil {
		t.Error("an account that nobody made is found")
	} else if _, is := err.(*operator.NoAccountError); !is { //nolint:errorlint // as it is returned
		t.Error(err)
	}
}

// The limit of memory is one of the process, so no other test runs beside this one.
//
// spec: databases-memory
func TestDatabasesShareTheMemoryOfTheirProcess(t *testing.T) { //nolint:paralleltest // sets the memory limit
	const limit = 4 * 48 << 20 // room for four pages
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	p := newPlaced(t, []string{"home", "b", "c", "d"}, sharedServer(t))
	for _, db := range p.several.databases {
		pages := 0
		for db.service.Places.Queues[api.Listing].TryTake("somebody", fair.Preferred) {
			pages++
		}
		if pages != 1 {
			t.Errorf("%d pages of %s are in memory at once", pages, db.name)
		}
	}
	for databases, want := range map[int]int{1: 16, 2: 8, 4: 8, 100: 8} {
		if got := share(16, databases); got != want {
			t.Errorf("each of %d databases has %d connections, not %d", databases, got, want)
		}
	}
	if got := share(2, 4); got != 2 {
		t.Errorf("of two connections each has %d", got)
	}
}

// spec: key-look-up
func TestManyCallsOfAKeyThatIsUnknownShareALookUpAndANewKeyIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlaced(t, []string{"home", "b"}, sharedServer(t))
	for i := range byte(20) {
		key := contract.KeyDigest{1: i, 2: 1}
		done := make(chan struct{})
		asking, stop := context.WithCancel(t.Context())
		for range 8 {
			go func() {
				defer func() { done <- struct{}{} }()
				for asking.Err() == nil {
					_, _ = p.several.directory.OfKey(asking, key)
				}
			}()
		}
		if err := p.several.directory.AddKey(t.Context(), key, p.accounts["b"]); err != nil {
			t.Error(err)
		}
		if place, err := p.several.directory.OfKey(t.Context(), key); err != nil || place.Database != "b" {
			t.Errorf("a key that was just made is at %v: %v", place, err)
		}
		stop()
		for range 8 {
			<-done
		}
	}
}

// spec: directory
func TestAProcessThatBeginsReadsTheDirectory(t *testing.T) {
	t.Parallel()
	p := newPlaced(t, []string{"home", "b", "c"}, sharedServer(t))
	c := directory.NewCached(directory.SQL{Database: p.several.home().store.Database}, 100)
	if read, err := c.Fill(t.Context()); err != nil || read != len(p.keys) {
		t.Fatalf("%d keys were read, not %d: %v", read, len(p.keys), err)
	}
	ended, end := context.WithCancel(t.Context())
	end() // so that nothing can be looked up
	for name, key := range p.keys {
		if place, err := c.OfKey(ended, key); err != nil || place.Account != p.accounts[name] || place.Database != name {
			t.Errorf("the account of %s is at %v: %v", name, place, err)
		}
	}
}
