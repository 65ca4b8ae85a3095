package operator_test

import (
	"context"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
)

// spec: directory-repair
func TestARepairShowsWhatIsToBeDecided(t *testing.T) {
	t.Parallel()
	home, b, c := newDatabase("home", healthy(), nil), newDatabase("b", healthy(), nil), newDatabase("c", healthy(), nil)
	home.Repair = func(context.Context) (directory.Learned, error) { return directory.Learned{}, nil }
	b.Repair = func(context.Context) (directory.Learned, error) {
		return directory.Learned{Accounts: 2, Keys: 3, Identities: 4}, nil
	}
	out, err := run(t, ofDatabases(nil, home, b), "databases repair")
	want := []string{
		"DATABASE ACCOUNT NAME FOUND ELSEWHERE", "home - - learned 0 accounts, 0 keys and 0 identities -", "b - - learned 2 accounts, 3 keys and 4 identities -",
	}
	if err != nil || !slices.Equal(words(out), want) {
		t.Errorf("got %q, %v", words(out), err)
	}
	account := prism.AccountID{UUID: prism.UUID{1}}
	b.Repair = func(context.Context) (directory.Learned, error) {
		return directory.Learned{Findings: []directory.Finding{{
			Problem: directory.NameTwice, Account: account, Name: "acme", Database: "b", Other: "home",
		}}}, nil
	}
	c.Repair = func(context.Context) (directory.Learned, error) { return directory.Learned{}, errAway }
	out, err = run(t, ofDatabases(nil, home, b, c), "databases repair")
	want = []string{
		want[0], want[1], "b - - learned 0 accounts, 0 keys and 0 identities -", "b " + account.String() + " acme two accounts have the name home",
		"c - - not looked at: dial tcp: connection refused -",
	}
	if err == nil || !slices.Equal(words(out), want) {
		t.Errorf("got %q, %v", words(out), err)
	}
	if out, err = run(t, newOperator(t), "databases repair"); err != nil || out != "There is one database, and nothing to repair.\n" {
		t.Errorf("with one database: %q, %v", out, err)
	}
}
