package drift_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/drift"
)

// listed is a store of watched prisms with some questions each, in the order in which they are listed.
type listed struct {
	drift.Store
	accounts  string // a letter for the account of each
	questions []int
}

func (l listed) ListDriftWatches(_ context.Context, limit int) (watches []drift.Watch, more int64, err error) {
	for i, account := range l.accounts {
		if len(watches) == limit {
			return watches, int64(len(l.accounts) - limit), nil
		}
		watches = append(watches, drift.Watch{
			Account: prism.AccountID{UUID: prism.UUID{byte(account)}}, Prism: prism.PrismID{UUID: prism.UUID{byte(i)}},
		})
	}
	return watches, 0, nil
}

func (l listed) Version(_ context.Context, _ prism.AccountID, id prism.PrismID, _ int32) (prism.Version, error) {
	return prism.Version{Definition: prism.Definition{Questions: make([]prism.Question, l.questions[id.UUID[0]])}}, nil
}

// spec: drift-slots
func TestAccountsAndTheirPrismsShareTheMetrics(t *testing.T) {
	t.Parallel()
	many, ones, questions := "", []int{}, []int{}
	for i := range 50 {
		many += string(rune('A' + i))
		ones, questions = append(ones, 1), append(questions, 64)
	}
	for _, c := range []struct {
		name     string
		accounts string
		of       []int
		shown    []int
		leftOut  int64
	}{
		{"a prism alone gets all", "a", []int{64}, []int{39}, 1},
		{"whoever wants less leaves the rest", "ab", []int{64, 5}, []int{34, 5}, 1},
		{"a prism of many questions leaves half to another account", "ab", []int{64, 64}, []int{20, 19}, 2},
		{"an account with several prisms has the share of one", "abbb", []int{64, 64, 64, 64}, []int{20, 7, 6, 6}, 4},
		{"of the prisms of an account none takes the part of another", "aaa", []int{64, 3, 64}, []int{18, 3, 18}, 2},
		{"there are more accounts than questions that are shown", many, questions, ones[:39], 50},
		{"all fit", "abc", []int{13, 13, 13}, []int{13, 13, 13}, 0},
	} {
		l := listed{accounts: c.accounts, questions: c.of}
		slots, leftOut, err := drift.Slots(t.Context(), l, l)
		if err != nil {
			t.Fatal(err)
		}
		var shown []int
		for _, s := range slots {
			shown = append(shown, s.Shown)
		}
		if fmt.Sprint(shown) != fmt.Sprint(c.shown) || leftOut != c.leftOut {
			t.Errorf("%s: %v are shown and %d prisms left out, want %v and %d", c.name, shown, leftOut, c.shown, c.leftOut)
		}
	}
}
