package client

import (
	"context"
	"iter"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// NewWebhook is what a webhook sends, and where.
	NewWebhook = api.NewWebhook
	// EventType is what happened. A later release may have more types.
	EventType = api.EventType
	// EventCondition is a condition on the Lens of the prism of a result.
	EventCondition = api.EventCondition
	// ConditionOp is how a cell is compared.
	ConditionOp = api.ConditionOp
	// Webhook is a URL to which events are sent.
	Webhook = api.Webhook
	// DisabledReason is why Prism has disabled a webhook.
	DisabledReason = api.DisabledReason
	// Delivery is an event for a webhook, with what it was tried.
	Delivery = api.Delivery
	// DeliveryStatus is whether an event has been delivered, has failed, or waits.
	DeliveryStatus = api.DeliveryStatus
	// DeliveryTry is one try to send an event.
	DeliveryTry = api.DeliveryTry
	// TryError is why a try failed.
	TryError = api.TryError
)

// What happened.
const (
	EventResultCreated  = api.ResultCreated
	EventResultFailed   = api.ResultFailed
	EventResultLabelled = api.ResultLabelled
	EventRunStarted     = api.RunStarted
	EventRunPaused      = api.RunPaused
	EventRunFinished    = api.RunFinished
	EventRunCancelled   = api.RunCancelled
	EventDriftAlarm     = api.DriftAlarm
	EventDriftEnded     = api.DriftEnded
	EventPrismChanged   = api.PrismChanged
	EventKeyExpiring    = api.KeyExpiring
	EventWebhookTest    = api.WebhookTest // sent by TestWebhook alone
)

// How a cell is compared.
const (
	CellIs   = api.CellIs
	CellNot  = api.CellNot
	CellFrom = api.CellFrom // at least
	CellTo   = api.CellTo   // at most
)

// Why Prism has disabled a webhook.
const (
	ReceiverGone    = api.ReceiverGone    // the receiver answered 410
	ReceiverFailing = api.ReceiverFailing // the last try of an event failed
	WebhookOverflow = api.Overflow        // more than 1,000,000 events waited
)

// The states of a delivery.
const (
	DeliveryWaiting   = api.DeliveryWaiting
	DeliveryDelivered = api.DeliveryDelivered
	DeliveryFailed    = api.DeliveryFailed
)

// Why a try failed.
const (
	TryRefused    = api.TryRefused // the address is not public, and the operator has not allowed it
	TryUnresolved = api.TryUnresolved
	TryConnection = api.TryConnection // it could not be made, or broke
	TryTLS        = api.TryTLS        // the certificate is not valid for the host
	TryTimeout    = api.TryTimeout    // no answer within 15 seconds
	TryStatus     = api.TryStatus     // the answer was not 2xx
)

// CreatedWebhook is a webhook with its secret.
type CreatedWebhook struct {
	Webhook
	// Secret makes the signatures of Standard Webhooks. It is shown only here.
	Secret Secret `json:"secret"`
}

// CreateWebhook has events sent to a URL from now on. An account with 20 webhooks is ErrConflict.
func (c *Client) CreateWebhook(ctx context.Context, w NewWebhook, options ...CallOption) (CreatedWebhook, error) {
	return fetch[CreatedWebhook](ctx, c, declared(api.CreateWebhook).sending(w), options)
}

// ListWebhooks returns one page of the account's webhooks, newest first.
func (c *Client) ListWebhooks(ctx context.Context, o PageOptions, options ...CallOption) (Page[Webhook], error) {
	return fetch[Page[Webhook]](ctx, c, declared(api.ListWebhooks).where(o.query()), options)
}

// Webhooks iterates over the account's webhooks, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Webhooks(ctx context.Context, options ...CallOption) iter.Seq2[Webhook, error] {
	return pages(func(cursor string) (Page[Webhook], error) {
		return c.ListWebhooks(ctx, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ReadWebhook returns a webhook without its secret.
func (c *Client) ReadWebhook(ctx context.Context, id string, options ...CallOption) (Webhook, error) {
	return fetch[Webhook](ctx, c, declared(api.ReadWebhook, id), options)
}

// ReplaceWebhook replaces all of a webhook but its id, its secret and what waits. It enables a webhook unless w.Enabled says otherwise.
func (c *Client) ReplaceWebhook(ctx context.Context, id string, w NewWebhook, options ...CallOption) (Webhook, error) {
	return fetch[Webhook](ctx, c, declared(api.ReplaceWebhook, id).sending(w), options)
}

// DeleteWebhook deletes a webhook with what waits and its deliveries.
func (c *Client) DeleteWebhook(ctx context.Context, id string, options ...CallOption) error {
	return c.remove(ctx, declared(api.DeleteWebhook, id), options)
}

// TestWebhook sends an event webhook.test once. It returns before the try, which ListDeliveries shows. A disabled webhook is ErrConflict.
func (c *Client) TestWebhook(ctx context.Context, id string, options ...CallOption) (Delivery, error) {
	return fetch[Delivery](ctx, c, declared(api.TestWebhook, id), options)
}

// RotateWebhook makes a new secret. For 24 hours events are signed with the one before too.
func (c *Client) RotateWebhook(ctx context.Context, id string, options ...CallOption) (CreatedWebhook, error) {
	return fetch[CreatedWebhook](ctx, c, declared(api.RotateWebhook, id), options)
}

// ListDeliveries returns one page of the deliveries of a webhook in a state, or in all if it is empty, newest first.
func (c *Client) ListDeliveries(
	ctx context.Context, webhook string, status DeliveryStatus, o PageOptions, options ...CallOption,
) (Page[Delivery], error) {
	q := o.query()
	set(q, "status", string(status))
	return fetch[Page[Delivery]](ctx, c, declared(api.ListDeliveries, webhook).where(q), options)
}

// Deliveries iterates over the deliveries of a webhook in a state, or in all if it is empty, newest first, and reads a page at a time.
// An error ends the iteration.
func (c *Client) Deliveries(ctx context.Context, webhook string, status DeliveryStatus, options ...CallOption) iter.Seq2[Delivery, error] {
	return pages(func(cursor string) (Page[Delivery], error) {
		return c.ListDeliveries(ctx, webhook, status, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ResendDelivery sends an event that was delivered or has failed again. A disabled webhook, and an event that waits, are ErrConflict.
func (c *Client) ResendDelivery(ctx context.Context, webhook, delivery string, options ...CallOption) (Delivery, error) {
	return fetch[Delivery](ctx, c, declared(api.ResendDelivery, webhook, delivery), options)
}
