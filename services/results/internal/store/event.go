package store

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// NewEvent is an event that is no change of a result, as the transaction writes it that makes it happen.
type NewEvent struct {
	Type    api.EventType
	At      time.Time
	Prism   prism.PrismID // zero: of none
	Subject prism.UUID    // the run of run.…, the key of key.expiring; otherwise zero
	Detail  EventDetail
}

// EventDetail is what is stored of an event beside its ids.
type EventDetail struct {
	Version   int32     `json:"version,omitzero"`
	Question  string    `json:"question,omitzero"`
	Option    string    `json:"option,omitzero"`
	Change    string    `json:"change,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}
