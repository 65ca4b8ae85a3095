// Package usage adds up what accounts used.
package usage

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// MaxSums bounds the sums of prisms, models and keys (spec: usage-most).
const MaxSums = 1000

// Store adds up what results used.
type Store interface {
	// ReadUsage adds up all results of an account that were ever saved, those that were deleted since included, and the uses that
	// were counted, on one snapshot. Days rise; prisms, models and keys come in the order of their results, the most first, and
	// then of their names and ids; and then currencies. Of prisms, models and keys there are at most MaxSums: more tells that
	// there are further ones.
	ReadUsage(ctx context.Context, account prism.AccountID, f Filter) (sums []Sum, more bool, err error)
	// CountUse adds to the sums what a call used whose result is not saved. A repeated call counts again.
	CountUse(ctx context.Context, account prism.AccountID, u Use) error
}

// Filter selects what to add up; zero values but those of the days narrow nothing.
type Filter struct {
	By       api.UsageBy
	From, To prism.Day // To is exclusive
	Prism    prism.PrismID
	Model    string
	Key      *prism.KeyID
}

// Sum is the sum of results of one day, prism, model or API key whose costs have one currency.
type Sum struct {
	Day      prism.Day   // by day
	Name     string      // by prism, its slug, or "" for a Use; by model, its name or "" if it is not known
	Key      prism.KeyID // by key; zero if it is not known
	Currency string      // "": of results without a price
	// Failed are those of Results that failed.
	Results, Failed, InputTokens, OutputTokens int64
	Cost                                       prism.Cost
}

// Group is what a sum is of, without its currency.
func (s Sum) Group() Sum { return Sum{Day: s.Day, Name: s.Name, Key: s.Key} }

// Use is what a call used whose result is not saved. It is counted for no prism.
type Use struct {
	Day    prism.Day
	Key    prism.KeyID // that made the call
	Failed bool
	Call   *prism.ModelCall // nil: not known
}
