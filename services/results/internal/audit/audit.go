// Package audit keeps who changed what, and when.
package audit

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store keeps who changed what, and when. Entries are added and read, and never changed (spec: audit-append-only).
type Store interface {
	// ListAudit is a page of the account's entries, newest first.
	ListAudit(ctx context.Context, account prism.AccountID, f Filter, page store.Page) (entries []Entry, more bool, err error)
}

// Entry is a stored entry of the audit.
type Entry struct {
	ID     prism.UUID
	At     time.Time
	Actor  store.Actor
	Action store.Action
	Object store.Object
	Detail []byte // a JSON object as it was stored, so that a reader keeps what a later release adds
}

// Filter narrows the audit; zero values narrow nothing. From (inclusive) and To (exclusive) bound Entry.At.
type Filter struct {
	From, To time.Time
	Key      *prism.KeyID    // only what this key or member did
	Kind     store.ActorKind // only what actors of this kind did
}
