// Package search finds results by their texts, answers and labels.
package search

import (
	"context"
	"math"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store finds results of an account. Nothing that was deleted is found, and what was saved, retried or labelled before a call is found
// as it is then, but for what Coverage names.
type Store interface {
	// Search is a page of the results that match, in an order.
	Search(ctx context.Context, account prism.AccountID, q Query) (Page, error)
	// Count counts the results that match by the values of subjects, until a time: then the counts are those of the newest results.
	Count(ctx context.Context, account prism.AccountID, f Filter, by []finding.Subject, until time.Time) (Counts, error)
}

// Filter selects results: those that pass all its parts. Words is nil for any text.
type Filter struct {
	store.Filter
	Words finding.Words
	Where finding.Conditions
}

// Query is a page of a search: at most Limit hits behind After, or from the first one on if After is zero.
type Query struct {
	Filter
	Order finding.Order
	After Hit
	Limit int // up to MaxHits
}

// MaxHits bounds the hits of a page.
const MaxHits = 10_000

// Hit is a result that was found. Number is what it is ordered by: Without if the order is by id, or the result has no number.
type Hit struct {
	ID     prism.ResultID
	Number float64
}

// Without is the number of a hit without one.
var Without = math.NaN()

// Page is hits in their order. More tells that there may be further ones.
type Page struct {
	Hits []Hit
	More bool
	Coverage
}

// Coverage names what a search has not looked at; it is zero if it has looked at all.
type Coverage struct {
	Until  time.Time // results saved from then on, which are not indexed yet
	From   time.Time // results saved before, while old results are being indexed
	Newest int       // an order by a number is of so many of the newest matches; 0: of all
}

// Complete tells whether a search has looked at all results.
func (c Coverage) Complete() bool { return c.Until.IsZero() && c.From.IsZero() }

// Counts are how many results match, and how many have each value of each subject, in the order of the subjects: the key of an option or
// level, "0" to "9" for the tenths of the probability of yes, a version, the name of a model, a status, and "yes" or "no" for labelled.
type Counts struct {
	Total int64
	Exact bool
	By    []map[string]int64
	Coverage
}
