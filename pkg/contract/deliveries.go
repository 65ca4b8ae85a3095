package contract

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// Deliveries hands events for webhooks to the service that sends them. It checks no API key: its caller is a service.
type Deliveries interface {
	// LeaseDeliveries takes the webhook that has waited longest for its turn, of the account with the fewest leased, for DeliveryLease:
	// nil if none is due. Nobody else sends to a leased webhook.
	LeaseDeliveries(ctx context.Context, q LeaseDeliveries) (*DeliveriesLease, error)
	// SaveDeliveries stores what became of tries of a lease, in one transaction, and ends it. ErrLeaseLost: nothing was stored, and the
	// events will be sent again.
	SaveDeliveries(ctx context.Context, s SaveDeliveries) error
}

const (
	// DeliveryLease is how long a webhook is leased, and is sent nothing when its sender dies: DeliveryBegin, the longest try, and the time
	// to save it (spec: sender-death).
	DeliveryLease = DeliveryBegin + DeliveryWait + 8*time.Second
	// DeliveryBegin is how long after a lease its last try may begin, so that no body is older (spec: event-body).
	DeliveryBegin = 2 * time.Second
	// DeliveryWait is how long a receiver has for its answer (spec: delivery-tries).
	DeliveryWait = 15 * time.Second
	// DeliveryAnswer is how many bytes of an answer are read and kept.
	DeliveryAnswer = 4 << 10
	// LeasedDeliveries bounds the events of a lease, and LeasedDeliveryBytes their bodies; it has one at least.
	LeasedDeliveries = 100
	// LeasedDeliveryBytes bounds their bodies together.
	LeasedDeliveryBytes = 1 << 20
)

// LeaseDeliveries asks for a webhook.
type LeaseDeliveries struct {
	// Healthy asks for a webhook whose last try was answered with 2xx, or that has none, so that receivers that hang take only a part of
	// the places.
	Healthy bool
}

// WebhookLease names a leased webhook. Token is new with each lease.
type WebhookLease struct {
	Account prism.AccountID
	Webhook prism.WebhookID
	Token   prism.UUID
}

// DeliveriesLease is the events of a leased webhook that are due, which are sent one after the other. When a try fails, those behind it are
// not begun.
type DeliveriesLease struct {
	WebhookLease
	URL string
	// Secrets sign each event, in this order: the raw bytes of each.
	Secrets    [][]byte
	Deliveries []Delivery
}

// Delivery is an event to send. Body is its JSON.
type Delivery struct {
	ID   prism.DeliveryID
	Body []byte
}

// SaveDeliveries is the tries of a lease, in their order.
type SaveDeliveries struct {
	WebhookLease
	Tries []DeliveryTry
}

// DeliveryTry is what became of a try.
type DeliveryTry struct {
	ID     prism.DeliveryID
	At     time.Time
	TookMS int64
	// Status is that of the answer; 0: there was none.
	Status int `json:",omitzero"`
	// Error is why the try failed; empty: the answer was 2xx.
	Error api.TryError `json:",omitzero"`
	// Answer is the beginning of the answer, as valid UTF-8; nil: there was none, or it may not be shown.
	Answer *string `json:",omitzero"`
}
