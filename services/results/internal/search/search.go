// Package search finds results by an index of what they say, and keeps that index.
package search

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// What one of frequent results has is looked for without the index, in as many as newest: there are too many to be sorted. A few of the
	// newest tell whether it is frequent.
	frequent = 20
	few      = 200
	newest   = 2000
	// mostLooked bounds the results that are looked at for a page (spec: search-page).
	mostLooked = 10_000
	// mostYounger bounds the changes behind the index that are looked at (spec: index-covers).
	mostYounger = 20_000
	// MostSorted bounds the results that are sorted by a number (spec: search-sorted).
	MostSorted = 100_000
	// together is how many results are read together, and readAhead how many candidates.
	together  = 500
	readAhead = 2000
)

// Store finds results, and indexes them. What a search finds is what finding.Words, finding.Conditions and the filter say, whatever the
// index has.
type Store interface {
	// Search is a page of the results of an account that a filter finds, in an order, behind a position; nil for the first page. Of a prism
	// that is left out it finds all by id, and says of an order by a number that it lacks results.
	Search(ctx context.Context, account prism.AccountID, f Filter, o finding.Order, after *Position, limit int) (Page, error)
	// FindAmong returns those of some results that a filter finds, in any order. run is a statement's, or those of a transaction.
	FindAmong(ctx context.Context, run sqldb.Run, account prism.AccountID, f Filter, ids []prism.ResultID) ([]*finding.Found, error)
	// Visit calls count with the results of an account that a filter finds, the newest first, for CountLimit at most. For want of time, too,
	// does Covered tell what it did not look at.
	Visit(ctx context.Context, account prism.AccountID, f Filter, count func(*finding.Found)) (finding.Covered, error)
	// Counts counts the results of an account that a filter finds, and the values that they have.
	Counts(ctx context.Context, account prism.AccountID, f Filter, by []finding.Subject) (Counts, error)
	// IndexChanges indexes the results of a number of changes of an account that are not indexed, and reports whether there may be more.
	IndexChanges(ctx context.Context, account prism.AccountID, n int) (more bool, err error)
	// IndexOld indexes a number of results that were saved before the account had an index, or while their prism was left out, newest
	// first, or takes some out whose prism is left out now. It reports whether there may be more.
	IndexOld(ctx context.Context, account prism.AccountID, n int) (more bool, err error)
	// SetSearchable indexes the results of a prism from now on, or leaves them out, which has an entry of the audit if it changes something:
	// ErrNotFound. IndexOld does the rest.
	SetSearchable(ctx context.Context, account prism.AccountID, id prism.PrismID, searchable bool, by store.By) error
	// Behind are some accounts that have something to index, those with the oldest change first.
	Behind(ctx context.Context) ([]Lag, error)
}

// Filter finds results. Versions are all of the prism, without which there are neither conditions nor an order by an answer.
type Filter struct {
	store.Filter
	Words    finding.Words
	Where    finding.Conditions
	Versions map[int32]prism.Definition
	// unsearchable are the prisms that a search of all leaves out.
	unsearchable map[prism.PrismID]bool
}

// Page is a page of results. Next is where the next one begins; nil if there is none. A page that looked at many results may be short.
type Page struct {
	Hits []Position
	Next *Position
	finding.Covered
}

// Counts are how many results were found, and for each subject how many of them have each value, the most frequent first. They are not
// Exact if there are more results than can be counted in CountLimit, or than are indexed.
type Counts struct {
	Total int64
	Exact bool
	By    [][]ValueCount
}

// ValueCount is how many results have a value.
type ValueCount struct {
	Value string
	N     int64
}

// Position is a result's place in an order: by its id, or by its number, which it may be Without, and then by its id. Upto is the newest
// result of the first page.
type Position struct {
	ID      prism.UUID
	Number  float32
	Without bool
	Upto    prism.UUID
}

// Lag is what an account has to index: changes, the first of which was made At, and old results.
type Lag struct {
	Account prism.AccountID
	At      *time.Time
	Old     bool
}

// compare is negative if a comes before b in an order.
func compare(o finding.Order, a, b Position) int {
	byID := bytes.Compare(b.ID[:], a.ID[:])
	switch {
	case o.ByID() && oldestFirst(o):
		return -byID
	case o.ByID():
		return byID
	case a.Without != b.Without && b.Without:
		return -1
	case a.Without != b.Without:
		return 1
	case a.Without:
		return byID
	case o.Descending:
		return cmp.Or(cmp.Compare(b.Number, a.Number), byID)
	}
	return cmp.Or(cmp.Compare(a.Number, b.Number), byID)
}

func oldestFirst(o finding.Order) bool { return o.Measure == finding.Created && !o.Descending }

func positionOf(o finding.Order, f *finding.Found) Position {
	p := Position{ID: f.Result.ID.UUID}
	if !o.ByID() {
		n, ok := o.Number(f)
		p.Number, p.Without = n, !ok
	}
	return p
}
