// Package distribution counts the answers to each question by time, so that a distribution over all time costs no look at results.
//
//	changes, and old results ── Count: answers and labels ──▶ sums of quarter hours, an hour a row ──┐
//	deletion: what was not counted yet ── Settle ──▶                                                 ├─ ReadDistribution
//	what the reader of changes has not reached yet ──────────────────────────────────────────────────┘
//
// Each result is counted once (spec: distribution-once). What happened is told by changes, of which an account has a cursor. Results from
// before the cursor are walked, newest first. Cursor, walk and sums change in one transaction. A result that is deleted before it was
// counted is counted by the deletion.
package distribution

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Store counts answers.
type Store interface {
	// ReadDistribution is the counts of a question on one snapshot, in the order of their times, those of the versions apart. It counts
	// what Count has not counted yet, up to mostYounger changes.
	ReadDistribution(ctx context.Context, account prism.AccountID, f Filter) (Found, error)
	// WaitingAccounts are the accounts that have something to count.
	WaitingAccounts(ctx context.Context) ([]Waiting, error)
	// BeginCounting has the results of an account counted from now on, and those that are there walked. It changes nothing if they are.
	BeginCounting(ctx context.Context, account prism.AccountID) error
	// Count counts a piece, which has at most limit changes and as many old results, and reports whether there is more. While another
	// process counts for the account it does nothing.
	Count(ctx context.Context, account prism.AccountID, limit int) (more bool, err error)
}

// Filter selects counts.
type Filter struct {
	Prism    prism.PrismID
	Question string
	Version  int32 // 0: of all
	From, To time.Time
}

// Found is the counts of a question.
type Found struct {
	Quarters []Quarter
	// Exact: everything that has happened is counted. Otherwise CountedFrom and CountedTo tell what is not: results with ids of before,
	// and what happened since.
	Exact                  bool
	CountedFrom, CountedTo *time.Time
	// Begun: the results of the account are counted.
	Begun bool
}

// Quarter is the counts of a quarter of an hour.
type Quarter struct {
	At time.Time // when it begins
	Counts
}

// Waiting is an account that has something to count: a number of changes, or old results.
type Waiting struct {
	Account prism.AccountID
	Begun   bool
	Changes int64
}
