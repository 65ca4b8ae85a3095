package operator_test

import (
	"context"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/operator"
)

// using is a database of a weight with accounts, by what they store and call: 1 is the same of both.
func using(name string, accepting bool, weight int, used ...int64) operator.Database {
	d := newDatabase(name, healthy(), nil)
	d.Accepting, d.Weight = accepting, weight
	var accounts []keys.Account
	recent := map[prism.AccountID]int64{}
	for i, n := range used {
		id := prism.AccountID{UUID: prism.UUID{name[0], byte(i)}}
		accounts, recent[id] = append(accounts, keys.Account{ID: id, Name: name + string(rune('0'+i)), Storage: store.Storage{Bytes: n << 20}}), n*129600
	}
	d.Accounts = func(context.Context) ([]keys.Account, error) { return accounts, nil }
	d.Recent = func(context.Context, prism.Day) (map[prism.AccountID]int64, error) { return recent, nil }
	return d
}

// spec: account-balance
func TestMovesAreProposedUntilDatabasesAreUsedAsTheirWeightsSay(t *testing.T) {
	t.Parallel()
	const header = "ACCOUNT FROM TO STORED BYTES CALLS A SECOND PART OF ALL USE"
	for name, c := range map[string]struct {
		all  []operator.Database
		want []string
	}{
		"as they are":     {[]operator.Database{using("home", true, 1, 5, 5), using("b", true, 1, 5, 5)}, []string{"The databases are used as their weights say."}},
		"nothing is used": {[]operator.Database{using("home", true, 1, 0), using("b", true, 1)}, []string{"The databases are used as their weights say."}},
		"a new one": {
			[]operator.Database{using("home", true, 1, 4, 3, 2, 1), using("b", true, 1)},
			[]string{header, "home0 home b 4194304 4.000 40.0%", "home3 home b 1048576 1.000 10.0%"},
		},
		"weights": {
			[]operator.Database{using("home", true, 1, 1, 1, 1, 1), using("b", true, 3)},
			[]string{header, "home0 home b 1048576 1.000 25.0%", "home1 home b 1048576 1.000 25.0%", "home2 home b 1048576 1.000 25.0%"},
		},
		"an account that is too large to help": {[]operator.Database{using("home", true, 1, 10), using("b", true, 1)}, []string{"The databases are used as their weights say."}},
		"one that takes no new accounts": {
			[]operator.Database{using("home", true, 1, 5, 5), using("b", false, 1), using("c", true, 1)},
			[]string{header, "home0 home c 5242880 5.000 50.0%"},
		},
	} {
		out, err := run(t, ofDatabases(nil, c.all...), "account balance --dry-run")
		if got := words(out); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	if _, err := run(t, ofDatabases(nil, using("home", true, 1, 5, 5), newDatabase("b", healthy(), errAway)), "account balance --dry-run"); err == nil {
		t.Error("moves are proposed though a database is away")
	}
}
