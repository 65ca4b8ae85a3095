// Package events tells what happened in an account, in an order that never goes back: changes of results, and what happened to runs, prisms,
// keys and drift, which is written in the tail by the transaction of what it tells.
package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

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
	// Results are further results of the same run, which one delivery tells with Result.
	Results []prism.ResultID `json:",omitzero"`
	Key     prism.KeyID      `json:",omitzero"` // of key.expiring
	Detail
}

// Detail is what is stored of an event beside its ids.
type Detail struct {
	Version   int32     `json:"version,omitzero"`
	Question  string    `json:"question,omitzero"`
	Option    string    `json:"option,omitzero"`
	Change    string    `json:"change,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// Cursor is a place between events: behind a change and behind another event of an account, each by its number.
type Cursor struct{ Change, Other int64 }

// String is what ParseCursor reads.
func (c Cursor) String() string { return fmt.Sprintf("%d.%d", c.Change, c.Other) }

// ParseCursor reads a cursor.
func ParseCursor(s string) (c Cursor, err error) {
	if n, err := fmt.Sscanf(s, "%d.%d", &c.Change, &c.Other); n != 2 || err != nil || c.String() != s || c.Change < 0 || c.Other < 0 {
		return Cursor{}, errors.New("no cursor of events")
	}
	return c, nil
}

// Store reads events.
type Store interface {
	// LatestEvents is the place behind all events of an account.
	LatestEvents(ctx context.Context, account prism.AccountID) (Cursor, error)
	// ReadEvents are the events behind a place, of up to limit changes and as many others, in their order, and the place behind them:
	// store.ErrChangesRemoved, store.ErrNoSuchChange. While it returns an event, none will ever come before it.
	ReadEvents(ctx context.Context, account prism.AccountID, after Cursor, limit int) ([]Event, Cursor, error)
}
