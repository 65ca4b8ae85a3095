// Package changes tells what happened to results, in an order that never goes back.
package changes

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

const (
	// Kept is how long changes are kept at least (spec: changes-kept).
	Kept = 30 * 24 * time.Hour
	// Scanned bounds how many changes a page reads to find those of a prism (spec: changes-next).
	Scanned = 10_000
)

// Store tells what happened to results. A change is written in the transaction of what it tells.
type Store interface {
	// Fold gives each change that was committed its number, and adds what results used and stored to the sums of what was saved before,
	// so that there is little to add up for each ReadUsage, whose sums it does not change. To be called every second.
	Fold(ctx context.Context) error
	// FoldAll is Fold, and waits for another process that folds: behind it, each change and event that was committed before has its number.
	FoldAll(ctx context.Context) error
	// ReadChanges is a page of the changes of an account: store.ErrChangesRemoved, store.ErrNoSuchChange. While it returns a change, no change will
	// ever get a lower number.
	ReadChanges(ctx context.Context, account prism.AccountID, f Filter) (Page, error)
	// RemoveChanges removes a number of changes from before a time, but never the last of an account, and reports whether there may be
	// more.
	RemoveChanges(ctx context.Context, before time.Time) (more bool, err error)
}

// Filter selects changes. After is the number behind which the page begins; 0: before the first that is kept.
type Filter struct {
	After int64
	Prism prism.PrismID // zero: of all
	Limit int
}

// Page is changes in their order. Next is After of the next page.
type Page struct {
	Changes []Change
	Next    int64
}

// Change is a change of a result.
type Change struct {
	Seq    int64 // above that of every change before
	At     time.Time
	Type   Type
	Prism  string // its slug
	Result prism.ResultID
}

// Type is what happened to a result.
type Type int32

// The types. The triggers have these numbers.
const (
	Created  Type = 1 + iota
	Retried       // it failed, and another result is its retry
	Labelled      // a label was put or removed; once for each label
	Deleted
)
