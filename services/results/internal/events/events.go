// Package events keeps what happened in an account, in an order that never goes back: changes of results, and what happened to runs, prisms,
// keys and drift, which the transaction of what happened writes with sqldb.Tell. Package eventbodies writes what callers and webhooks are told of them.
package events

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Kept is how long events are kept at least (spec: event-kept).
const Kept = 30 * 24 * time.Hour

// Event is what happened. A change of a result can be two: result.created and result.failed.
type Event struct {
	Type  api.EventType
	At    time.Time
	Prism prism.PrismID `json:",omitzero"` // zero: of none
	// Result, Status and Run are of result.…; Status is empty if the result is deleted, and Run zero if it is none of a run.
	Result prism.ResultID `json:",omitzero"`
	Status prism.Status   `json:",omitzero"`
	// Run is also of run.…
	Run prism.RunID `json:",omitzero"`
	// Results are further results of the same run, which one delivery tells with Result; not nil if all of the rows are told together.
	Results []prism.ResultID `json:",omitzero"`
	Key     prism.KeyID      `json:",omitzero"` // of key.expiring
	store.EventDetail
	// Behind is the place behind the event, of events that ReadEvents has read.
	Behind Cursor `json:"-"`
}

// Columns are the columns of a Lens that events of ok results tell, by their names; nil: none.
type Columns func(name string) bool

// AllColumns are Columns.
func AllColumns(string) bool { return true }

// Cursor is a place between events: behind a change and behind another event of an account, each by its number. Told is how many events of
// the next change are before the place, of a place in between.
type Cursor struct{ Change, Other, Told int64 }

// String is what ParseCursor reads.
func (c Cursor) String() string {
	text := fmt.Sprintf("%d.%d", c.Change, c.Other)
	if c.Told > 0 {
		text += fmt.Sprintf(".%d", c.Told)
	}
	return text
}

var errCursor = errors.New("no cursor of events")

// ParseCursor reads a cursor.
func ParseCursor(s string) (c Cursor, err error) {
	parts := strings.Split(s, ".")
	numbers := []*int64{&c.Change, &c.Other, &c.Told}
	if len(parts) < 2 || len(parts) > len(numbers) {
		return Cursor{}, errCursor
	}
	for i, part := range parts {
		if *numbers[i], err = strconv.ParseInt(part, 10, 64); err != nil || *numbers[i] < 0 {
			return Cursor{}, errCursor
		}
	}
	if c.String() != s {
		return Cursor{}, errCursor
	}
	return c, nil
}

// Store reads events.
type Store interface {
	// LatestEvents is the place behind all that has happened in an account: what has no number yet gets one first.
	LatestEvents(ctx context.Context, account prism.AccountID) (Cursor, error)
	// ReadEvents are the events behind a place, of up to limit changes and as many others, in their order, and the place behind them:
	// store.ErrChangesRemoved, store.ErrNoSuchChange. While it returns an event, none will ever come before it. If the place is that of
	// after, nothing is behind it; a page can be empty otherwise. A page has all events of a change. Without created it lacks
	// result.created of those that did not fail, and costs much less.
	ReadEvents(ctx context.Context, account prism.AccountID, after Cursor, limit int, created bool) ([]Event, Cursor, error)
	// Subjects are what bodies of events have of prisms and runs as they are now; what is not there is absent.
	Subjects(ctx context.Context, account prism.AccountID, prisms []prism.PrismID, runs []prism.RunID) (Subjects, error)
	// TellExpiring tells of keys that end within 7 days, each once, and reports whether there may be more.
	TellExpiring(ctx context.Context, now time.Time) (more bool, err error)
	// RemoveEvents removes a number of events from before a time, but not the last of an account nor changes, and reports whether there
	// may be more.
	RemoveEvents(ctx context.Context, before time.Time) (more bool, err error)
}

// Subjects are prisms and runs.
type Subjects struct {
	Prisms map[prism.PrismID]Prism
	Runs   map[prism.RunID]prism.RunStatus
}

// Prism is what bodies of events have of a prism.
type Prism struct {
	Slug   string
	Latest int32 // version
}
