package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// MaxWebhooks bounds the webhooks of an account (spec: webhooks-limit).
const MaxWebhooks = 20

// CreateWebhook has events sent to a URL from now on (spec: webhook-create).
var CreateWebhook = Op[CreateWebhookRequest, CreatedWebhook]{Declaration{
	Name: "createWebhook", Method: http.MethodPost, Path: "/v1/webhooks", Tag: "Webhooks", Role: prism.Owner, Class: Keyed,
	Status: http.StatusCreated, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.TooManyWebhooks()},
}}

// CreateWebhookRequest is the request of CreateWebhook.
type CreateWebhookRequest struct{ NewWebhook }

// NewWebhook is what a webhook sends, and where.
type NewWebhook struct {
	// Where events are sent with POST: `https://`, or `http://` to this machine or to a network that the operator allows.
	URL string `json:"url" min:"1" max:"2000"`
	// Which events are sent.
	Events []EventType `json:"events" min:"1" max:"11"`
	// Only events of these prisms, by slug or id. Null or not sent: of all.
	Prisms []string `json:"prisms,omitzero" min:"1" max:"100" each:"200"`
	// Only `result.created` of results with this status.
	Status Status `json:"status,omitzero" enum:"ok,failed"`
	// Only `result.created` of results of whose Lens this holds when the event is sent first.
	Condition *EventCondition `json:"condition,omitzero"`
	// Whether events of ok results have the columns of the Lens.
	Answers bool `json:"answers,omitzero"`
	// Whether `result.created` is sent of rows of runs too, with up to 100 results in an event.
	RunRows bool `json:"run_rows,omitzero"`
	// Whether events are sent. Those of a time in which they are not are not sent later. Not sent: true.
	Enabled *bool `json:"enabled,omitzero" notnull:"true"`
}

// Problems implements the rule that only `result.created` is narrowed.
func (n NewWebhook) Problems(m Sent) (problems []apierr.Problem) {
	created := false
	for _, e := range n.Events {
		created = created || e == ResultCreated
	}
	for _, name := range []string{"status", "condition", "run_rows"} {
		if m.Valid("events", name) && !created && (name != "run_rows" || n.RunRows) {
			problems = append(problems, apierr.Problem{Path: name, Text: "needs the event result.created"})
		}
	}
	return problems
}

// EventCondition is a condition on the Lens of the prism of a result.
type EventCondition struct {
	// The name of the column. Of results whose prism has none, nothing is sent.
	Column string `json:"column" form:"column"`
	// `is` and `not` compare the key of an option or level, `yes`, `no` or `unsure`, or a number; `from` and `to` a number.
	Op ConditionOp `json:"op"`
	// What the cell is compared with.
	Value string `json:"value" max:"200"`
}

// ConditionOp is how a cell is compared.
type ConditionOp string

// The comparisons.
const (
	CellIs   ConditionOp = "is"
	CellNot  ConditionOp = "not"
	CellFrom ConditionOp = "from" // at least
	CellTo   ConditionOp = "to"   // at most
)

// Values are all comparisons.
func (ConditionOp) Values() []string {
	return []string{string(CellIs), string(CellNot), string(CellFrom), string(CellTo)}
}

// Webhook is a URL to which events are sent.
type Webhook struct {
	// Reads, replaces and deletes the webhook.
	ID string `json:"id" form:"uuid"`
	// Where events are sent.
	URL string `json:"url"`
	// Which events are sent.
	Events []EventType `json:"events"`
	// The slugs of the prisms whose events are sent, or null for all.
	Prisms Nullable[string] `json:"prisms" null:"true"`
	// The status of the results of `result.created`, or null for both.
	Status *Status `json:"status"`
	// What holds of the results of `result.created`, or null.
	Condition *EventCondition `json:"condition"`
	// Whether events of ok results have the columns of the Lens.
	Answers bool `json:"answers"`
	// Whether `result.created` is sent of rows of runs too.
	RunRows bool `json:"run_rows"`
	// Whether events are sent.
	Enabled bool `json:"enabled"`
	// Why Prism has disabled the webhook: `gone` when its receiver answered 410, `failing` when the last try of an event failed, `overflow`
	// when more than 1,000,000 events waited. Null: it has not.
	DisabledReason *DisabledReason `json:"disabled_reason"`
	// How many events wait to be sent.
	Waiting int64 `json:"waiting" min:"0"`
	// Until when events are signed with the secret before the last rotation too, or null.
	PreviousSecretUntil *Time `json:"previous_secret_until"`
	// When the webhook was made.
	CreatedAt Time `json:"created_at"`
}

// DisabledReason is why Prism has disabled a webhook.
type DisabledReason string

// The reasons.
const (
	ReceiverGone    DisabledReason = "gone"
	ReceiverFailing DisabledReason = "failing"
	Overflow        DisabledReason = "overflow"
)

// Values are all reasons.
func (DisabledReason) Values() []string {
	return []string{string(ReceiverGone), string(ReceiverFailing), string(Overflow)}
}

// CreatedWebhook is a webhook with a new secret, which is shown this once.
type CreatedWebhook struct {
	Webhook
	// `whsec_` and 32 random bytes in base64: what the signature of each event is made with (Standard Webhooks).
	Secret string `json:"secret"`
}

// ListWebhooks reads a page of the webhooks of the account, newest first (spec: webhook-list).
var ListWebhooks = Op[ListWebhooksRequest, Page[Webhook]]{Declaration{
	Name: "listWebhooks", Method: http.MethodGet, Path: "/v1/webhooks", Tag: "Webhooks", Role: prism.Editor, Class: Listing,
}}

// ListWebhooksRequest is the request of ListWebhooks.
type ListWebhooksRequest struct {
	PageRequest
	Cursor string `query:"cursor" list:"webhooks"`
}

// WebhookRequest is the request of an operation that needs a webhook alone.
type WebhookRequest struct {
	// The id of the webhook.
	Webhook prism.WebhookID `path:"webhook_id" example:"0199f3c4-2b7d-7a10-9e55-6c1f8d3b2a47"`
}

// ReadWebhook reads a webhook without its secret (spec: webhook-read).
var ReadWebhook = Op[WebhookRequest, Webhook]{webhookCall("readWebhook", http.MethodGet, "", Keyed, prism.Editor)}

// ReplaceWebhook replaces all of a webhook but its id, its secret and what waits (spec: webhook-replace).
var ReplaceWebhook = Op[ReplaceWebhookRequest, Webhook]{webhookCall("replaceWebhook", http.MethodPut, "", Keyed, prism.Owner, apierr.PrismNotFound())}

// ReplaceWebhookRequest is the request of ReplaceWebhook.
type ReplaceWebhookRequest struct {
	WebhookRequest
	NewWebhook
}

// DeleteWebhook deletes a webhook with what waits and its deliveries (spec: webhook-delete).
var DeleteWebhook = Op[WebhookRequest, None]{func() Declaration {
	d := webhookCall("deleteWebhook", http.MethodDelete, "", Keyed, prism.Owner)
	d.Status = http.StatusNoContent
	return d
}()}

// TestWebhook sends an event webhook.test, once, beside what waits (spec: webhook-test).
var TestWebhook = Op[WebhookRequest, Delivery]{webhookCall("testWebhook", http.MethodPost, "/test", Keyed, prism.Owner, apierr.WebhookDisabled())}

// RotateWebhook makes a new secret. Events are signed with the old one too for a day (spec: webhook-rotate).
var RotateWebhook = Op[WebhookRequest, CreatedWebhook]{webhookCall("rotateWebhook", http.MethodPost, "/rotate", Keyed, prism.Owner)}

func webhookCall(name, method, below string, class Class, role prism.Role, errors ...*apierr.Error) Declaration {
	return Declaration{
		Name: name, Method: method, Path: "/v1/webhooks/{webhook_id}" + below, Tag: "Webhooks", Role: role, Class: class,
		Errors: append([]*apierr.Error{apierr.WebhookNotFound()}, errors...),
	}
}

// ListDeliveries reads a page of the deliveries of a webhook, newest first (spec: delivery-list).
var ListDeliveries = Op[ListDeliveriesRequest, Page[Delivery]]{webhookCall("listDeliveries", http.MethodGet, "/deliveries", Listing, prism.Editor)}

// ListDeliveriesRequest is the request of ListDeliveries.
type ListDeliveriesRequest struct {
	WebhookRequest
	// Only deliveries in this state.
	Status DeliveryStatus `query:"status"`
	PageRequest
	Cursor string `query:"cursor" list:"deliveries"`
}

// Delivery is an event for a webhook.
type Delivery struct {
	// `webhook-id` of each try, by which receivers know an event again.
	ID string `json:"id" form:"uuid"`
	// What happened; of a test `webhook.test`.
	Event string `json:"event"`
	// When it happened.
	At Time `json:"at"`
	// Whether it has been delivered, has failed, or waits.
	Status DeliveryStatus `json:"status"`
	// When it is tried next. Null: it is not, or waits for its turn.
	NextAt *Time `json:"next_at"`
	// How it was tried, oldest first; the newest 10.
	Tries []DeliveryTry `json:"tries"`
}

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states.
const (
	DeliveryWaiting   DeliveryStatus = "waiting"
	DeliveryDelivered DeliveryStatus = "delivered" // the receiver answered 2xx
	DeliveryFailed    DeliveryStatus = "failed"    // after its last try, or its webhook was disabled
)

// Values are all states.
func (DeliveryStatus) Values() []string {
	return []string{string(DeliveryWaiting), string(DeliveryDelivered), string(DeliveryFailed)}
}

// DeliveryTry is one try to send an event.
type DeliveryTry struct {
	// When it began.
	At Time `json:"at"`
	// How long it took, in milliseconds.
	TookMS int64 `json:"took_ms" min:"0"`
	// The HTTP status of the answer. Null: there was none.
	Status *int `json:"status"`
	// Why it failed without an answer that counts. Null: it has not.
	Error *TryError `json:"error"`
	// The beginning of the answer, as text of at most 4 KiB. Null: there was none, or it is from a network that the operator allows.
	Answer *string `json:"answer"`
}

// TryError is why a try failed.
type TryError string

// The errors of a try.
const (
	TryRefused    TryError = "forbidden_address" // the address is not public, and the operator has not allowed it
	TryUnresolved TryError = "unknown_host"
	TryConnection TryError = "connection" // it could not be made, or broke
	TryTLS        TryError = "tls"        // the certificate is not valid for the host
	TryTimeout    TryError = "timeout"    // no answer within 15 seconds
	TryStatus     TryError = "status"     // the answer was not 2xx
)

// Values are all errors.
func (TryError) Values() []string {
	return []string{
		string(TryRefused), string(TryUnresolved), string(TryConnection), string(TryTLS), string(TryTimeout), string(TryStatus),
	}
}

// ResendDelivery has an event sent again beside what waits, after it was delivered or has failed (spec: webhook-resend).
var ResendDelivery = Op[ResendDeliveryRequest, Delivery]{webhookCall(
	"resendDelivery", http.MethodPost, "/deliveries/{delivery_id}/resend", Keyed, prism.Owner,
	apierr.DeliveryNotFound(), apierr.WebhookDisabled(), apierr.StillWaiting(),
)}

// ResendDeliveryRequest is the request of ResendDelivery.
type ResendDeliveryRequest struct {
	WebhookRequest
	// The id of the delivery.
	Delivery prism.DeliveryID `path:"delivery_id" example:"0199f3c4-5d20-7b31-8f02-1a9c4e6d7b58"`
}
