// Package webhooks keeps webhooks, and the events that they are to be sent: which event is for which webhook, in which order, when it is
// tried, and what became of it.
//
//	events ── FanOut ──▶ waiting ── TakeDeliveries: leased ── EndDeliveries ─┬─ 2xx ──▶ delivered
//	                        ▲                                                ├─ last try, 410 ──▶ failed, and the webhook is disabled
//	                        └── again later, after three tries aside ◀───────┘
//
// A row of a webhook is locked first by whatever changes its deliveries, so that what is known of them in it is right. Nothing is lost, as
// the place up to which events were looked at moves in the transaction that stores them; and an event is sent again, with the same id, when
// it is not known what became of its try.
package webhooks

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Webhook is a stored webhook without its secrets.
type Webhook struct {
	ID  prism.WebhookID
	URL string
	Settings
	// Slugs are those of Prisms; a Store sets them in what it returns.
	Slugs          []string
	Enabled        bool
	DisabledReason api.DisabledReason // empty: Prism has not disabled it
	Waiting        int64
	PreviousUntil  *time.Time // until when the secret before this one signs too
	CreatedAt      time.Time
}

// Settings are which events a webhook is sent, and what they say.
type Settings struct {
	Events    []api.EventType     `json:"events"`
	Prisms    []prism.PrismID     `json:"prisms,omitzero"` // nil: of all
	Status    prism.Status        `json:"status,omitzero"`
	Condition *api.EventCondition `json:"condition,omitzero"`
	Answers   bool                `json:"answers,omitzero"`
	RunRows   bool                `json:"run_rows,omitzero"`
}

// Delivery is a stored delivery.
type Delivery struct {
	ID     prism.DeliveryID
	Event  events.Event
	Status api.DeliveryStatus
	NextAt *time.Time // when it is tried again; nil: it is not, or has its turn
	Tried  []Try      // the newest Logged, oldest first
}

// Try is a try in the log.
type Try struct {
	At     time.Time     `json:"at"`
	TookMS int64         `json:"took_ms"`
	Status int           `json:"status,omitzero"`
	Error  *api.TryError `json:"error,omitzero"`
	Answer *string       `json:"answer,omitzero"`
}

// Store keeps webhooks and their deliveries. Methods that change an account's webhook return store.ErrNotFound if there is none.
type Store interface {
	// CreateWebhook stores a webhook whose events begin behind a place: store.ErrTooManyWebhooks if the account has as many as most,
	// store.ErrNotFound if there is no such account.
	CreateWebhook(ctx context.Context, account prism.AccountID, w Webhook, secret []byte, behind events.Cursor, most int64, by store.By) error
	// ListWebhooks is a page of the account's webhooks, newest first.
	ListWebhooks(ctx context.Context, account prism.AccountID, page store.Page) (found []Webhook, more bool, err error)
	// Webhook finds a webhook.
	Webhook(ctx context.Context, account prism.AccountID, id prism.WebhookID) (Webhook, error)
	// ReplaceWebhook replaces URL, Settings and Enabled, and returns what is stored. A webhook that becomes enabled begins behind a place;
	// what waits for one that becomes disabled has failed. An equal webhook changes nothing.
	ReplaceWebhook(ctx context.Context, account prism.AccountID, w Webhook, behind events.Cursor, by store.By) (Webhook, error)
	// DeleteWebhook deletes a webhook; its deliveries go later (RemoveDeliveries).
	DeleteWebhook(ctx context.Context, account prism.AccountID, id prism.WebhookID, by store.By) error
	// RotateWebhook stores a new secret; the one before it signs too until a time.
	RotateWebhook(ctx context.Context, account prism.AccountID, id prism.WebhookID, secret []byte, until time.Time, by store.By) (Webhook, error)

	// TestWebhook has an event webhook.test sent beside what waits: store.ErrWebhookDisabled. Its id is not less than the given one.
	TestWebhook(ctx context.Context, account prism.AccountID, id prism.WebhookID, least prism.UUID, by store.By) (Delivery, error)
	// ListDeliveries is a page of the deliveries of a webhook, newest first, and of a status if it is not empty.
	ListDeliveries(
		ctx context.Context, account prism.AccountID, id prism.WebhookID, status api.DeliveryStatus, page store.Page,
	) (found []Delivery, more bool, err error)
	// ResendDelivery has a delivery sent again beside what waits: store.ErrWebhookDisabled, store.ErrNoDelivery, store.ErrDeliveryWaits.
	ResendDelivery(ctx context.Context, account prism.AccountID, id prism.WebhookID, of prism.DeliveryID, by store.By) (Delivery, error)

	// AnyWebhook reports whether a webhook of any account is enabled.
	AnyWebhook(ctx context.Context) (bool, error)
	// WebhooksBehind are enabled webhooks with events that they have not looked at, up to a number, by account and then by place.
	WebhooksBehind(ctx context.Context, limit int) ([]Behind, error)
	// FanOut stores deliveries of what happened between two places, and moves each webhook behind the second. A webhook that is not behind
	// the first, or is not as it was, stays. One for which more than Most would wait is disabled: they are returned. by is the actor Prism.
	FanOut(ctx context.Context, f FanOut, by func() (store.By, error)) (overflowed []prism.WebhookID, err error)

	// TakeDeliveries leases the webhook that has waited longest for its turn, of the account with the fewest leased, until a time: nil if
	// none is due.
	TakeDeliveries(ctx context.Context, healthy bool, token prism.UUID, now, until time.Time) (*Leased, error)
	// NarrowDeliveries removes deliveries of a lease and replaces the events of others: contract.ErrLeaseLost.
	NarrowDeliveries(ctx context.Context, l contract.WebhookLease, removed []prism.DeliveryID, replaced map[prism.DeliveryID]events.Event) error
	// EndDeliveries stores what became of tries, and ends their lease: contract.ErrLeaseLost.
	EndDeliveries(ctx context.Context, s contract.SaveDeliveries, now time.Time, by func() (store.By, error)) (Ended, error)

	// RemoveDeliveries removes some of what is kept no longer, or is left of deleted webhooks, and marks some that waited for a webhook
	// which was disabled. It reports whether there may be more.
	RemoveDeliveries(ctx context.Context, now time.Time) (more bool, err error)
	// MeasureWebhooks counts all webhooks and what waits.
	MeasureWebhooks(ctx context.Context) (Measures, error)
}

// Behind is an enabled webhook that has events to look at.
type Behind struct {
	Account    prism.AccountID
	Webhook    prism.WebhookID
	Generation int64 // how often it was disabled
	Cursor     events.Cursor
	Settings
}

// FanOut is what happened between two places, as webhooks of an account are told of it.
type FanOut struct {
	Account  prism.AccountID
	From, To events.Cursor
	Told     []Told
	Now      time.Time
}

// Told are the events for a webhook. The ids of their deliveries are not less than Least.
type Told struct {
	Webhook    prism.WebhookID
	Generation int64
	Least      prism.UUID
	Events     []events.Event
}

// Leased is a leased webhook and what is due, in order.
type Leased struct {
	contract.WebhookLease
	URL     string
	Secrets [][]byte // the newest first
	Settings
	Deliveries []LeasedDelivery
}

// LeasedDelivery is a delivery of a lease.
type LeasedDelivery struct {
	ID    prism.DeliveryID
	Event events.Event
	First bool // it has never been tried
}

// Ended is what became of the tries of a lease.
type Ended struct {
	Delivered, Again, Failed int
	Disabled                 api.DisabledReason // the reason for which the webhook was disabled; empty: it was not
}

// Measures are of all accounts.
type Measures struct {
	Enabled, Disabled int64
	Waiting           int64
	Oldest            time.Time // since when the event waits that waits longest; zero: none does
}

const (
	// Most is how many events may wait for a webhook (spec: webhook-disabled-by-prism).
	Most = 1_000_000
	// Logged is how many tries of a delivery are kept.
	Logged = 10
	// PreviousSecret is how long the secret before the newest signs too (spec: webhook-rotate).
	PreviousSecret = 24 * time.Hour
	// DeliveredKept is how long deliveries are kept after they were delivered (spec: deliveries-kept).
	DeliveredKept = 3 * 24 * time.Hour
	// FailedKept is how long they are kept after they failed.
	FailedKept = 30 * 24 * time.Hour
	// BlockingTries is how many tries of an event keep those behind it from being sent (spec: delivery-order).
	BlockingTries = 3
)

// Pauses is after which time a try that failed is repeated: after the first, the second and so on. An event has one try more
// (spec: delivery-tries).
var Pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}
