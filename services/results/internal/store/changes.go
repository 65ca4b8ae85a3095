package store

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Errors of ReadChanges.
var (
	// ErrChangesRemoved: changes behind the given one were removed.
	ErrChangesRemoved = errors.New("store: changes were removed")
	// ErrNoSuchChange: the account has no such change yet. It was read before the database was restored.
	ErrNoSuchChange = errors.New("store: no such change")
)

const (
	// ChangesKept is how long changes are kept at least (spec: changes-kept).
	ChangesKept = 30 * 24 * time.Hour
	// ScannedChanges bounds how many changes a page reads to find those of a prism (spec: changes-next).
	ScannedChanges = 10_000
	// RemovedChanges bounds how many changes RemoveChanges removes.
	RemovedChanges = 5000
)

// Changes tells what happened to results. A change is written in the transaction of what it tells.
type Changes interface {
	// Fold gives each change that was committed its number, and adds what results used and stored to the sums of what was saved before,
	// so that there is little to add up for each ReadUsage, whose sums it does not change. To be called every second.
	Fold(ctx context.Context) error
	// ReadChanges is a page of the changes of an account: ErrChangesRemoved, ErrNoSuchChange. While it returns a change, no change will
	// ever get a lower number.
	ReadChanges(ctx context.Context, account prism.AccountID, f ChangeFilter) (ChangePage, error)
	// RemoveChanges removes a number of changes from before a time, but never the last of an account, and reports whether there may be
	// more.
	RemoveChanges(ctx context.Context, before time.Time) (more bool, err error)
}

// ChangeFilter selects changes. After is the number behind which the page begins; 0: before the first that is kept.
type ChangeFilter struct {
	After int64
	Prism prism.PrismID // zero: of all
	Limit int
}

// ChangePage is changes in their order. Next is After of the next page.
type ChangePage struct {
	Changes []Change
	Next    int64
}

// Change is a change of a result.
type Change struct {
	Seq    int64 // above that of every change before
	At     time.Time
	Type   ChangeType
	Prism  string // its slug
	Result prism.ResultID
}

// ChangeType is what happened to a result.
type ChangeType int32

// The types. The triggers have these numbers.
const (
	ResultCreated  ChangeType = 1 + iota
	ResultRetried             // it failed, and another result is its retry
	ResultLabelled            // a label was put or removed; once for each label
	ResultDeleted
)
