package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// EventType is what happened. A later release may have more types.
type EventType string

// The events (spec: event-types).
const (
	ResultCreated  EventType = "result.created"
	ResultFailed   EventType = "result.failed"
	ResultLabelled EventType = "result.labelled"
	RunStarted     EventType = "run.started"
	RunPaused      EventType = "run.paused"
	RunFinished    EventType = "run.finished"
	RunCancelled   EventType = "run.cancelled"
	DriftAlarm     EventType = "drift.alarm"
	DriftEnded     EventType = "drift.ended"
	PrismChanged   EventType = "prism.changed"
	KeyExpiring    EventType = "key.expiring"
	// WebhookTest is sent by TestWebhook alone.
	WebhookTest EventType = "webhook.test"
)

// Values are the events that a webhook can ask for.
func (EventType) Values() []string {
	return []string{
		string(ResultCreated), string(ResultFailed), string(ResultLabelled), string(RunStarted), string(RunPaused), string(RunFinished),
		string(RunCancelled), string(DriftAlarm), string(DriftEnded), string(PrismChanged), string(KeyExpiring),
	}
}

// EventFilter is which events are read.
type EventFilter struct {
	// Only these events. Not sent: all.
	Events []EventType `query:"event" max:"11"`
	// Only events of this prism, by its slug or id.
	Prism *prism.Ref `query:"prism" max:"200"`
	// Whether events of ok results have the columns of the Lens.
	Answers bool `query:"answers"`
	// Whether `result.created` of rows of runs is told too.
	RunRows bool `query:"run_rows"`
}

// ListEvents reads what happened, oldest first, as webhooks are told (spec: event-list).
var ListEvents = Op[ListEventsRequest, Events]{Declaration{
	Name: "listEvents", Method: http.MethodGet, Path: "/v1/events", Tag: "Webhooks", Role: prism.Editor, Class: Listing,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.ChangesGone()},
}}

// ListEventsRequest is the request of ListEvents.
type ListEventsRequest struct {
	EventFilter
	// Behind what the page begins: `next` of the page before. Not sent: what happens from now on, so the page is empty.
	After string `query:"after" min:"1" max:"50"`
	// How many events a page has at most.
	Limit int `query:"limit" min:"1" max:"100" default:"100"`
}

// Events is a page of events.
type Events struct {
	// The events, in their order.
	Data []ListedEvent `json:"data"`
	// Send it as `after` to read what follows.
	Next string `json:"next"`
}

// ListedEvent is an event with its place.
type ListedEvent struct {
	// Send it as `after` to read what follows.
	ID string `json:"id"`
	Event
}

// FollowEvents streams what happens from now on, as webhooks are told (spec: event-stream).
var FollowEvents = Op[FollowEventsRequest, None]{Declaration{
	Name: "followEvents", Method: http.MethodGet, Path: "/v1/events/stream", Tag: "Webhooks", Role: prism.Editor, Class: Keyed,
	ByGateway: true, Media: []Media{EventsMedia}, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.ChangesGone()},
}}

// FollowEventsRequest is the request of FollowEvents.
type FollowEventsRequest struct {
	EventFilter
	// Behind what the stream begins: the id of the last event that was read. Not sent: what happens from now on.
	After string `query:"after" min:"1" max:"50"`
}

// Event is the body that a webhook is sent (spec: event-body).
type Event struct {
	// What happened.
	Type string `json:"type"`
	// When it happened.
	Timestamp Time `json:"timestamp"`
	// What it happened to.
	Data EventData `json:"data"`
}

// EventData is what an event is about: ids, states and the columns of the Lens. It has no fields and no API key.
type EventData struct {
	// Of `result.…`: the result.
	ResultID string `json:"result_id,omitzero" form:"uuid"`
	// Of `result.created` of rows of a run: its results, up to 100.
	Results []EventResult `json:"results,omitzero"`
	// The slug of the prism.
	Prism string `json:"prism,omitzero"`
	// Of a result: the version that answered. Of `drift.…`: the version that is watched. Of `prism.changed`: the latest.
	Version int32 `json:"version,omitzero"`
	// Of a result `ok` or `failed`, or `deleted` when it is there no more. Of a run: its state when the event is sent.
	Status string `json:"status,omitzero"`
	// The columns of the Lens, when the webhook asks for answers and the result is ok, unless they have more than 64 KiB.
	Answers Row `json:"answers,omitzero"`
	// Of `run.…`, and of results of a run: the run.
	RunID string `json:"run_id,omitzero" form:"uuid"`
	// Of `drift.…`: the question whose answers drift.
	Question string `json:"question,omitzero"`
	// Of `drift.…` of a tags question: the option.
	Option string `json:"option,omitzero"`
	// Of `prism.changed`: what was done, such as `version.create`, as the audit names it.
	Change string `json:"change,omitzero"`
	// Of `key.expiring`: the key.
	KeyID string `json:"key_id,omitzero" form:"uuid"`
	// Of `key.expiring`: when the key ends.
	ExpiresAt *Time `json:"expires_at,omitzero"`
}

// EventResult is a result of a run.
type EventResult struct {
	// The result.
	ResultID string `json:"result_id" form:"uuid"`
	// `ok` or `failed`, or `deleted` when it is there no more.
	Status string `json:"status"`
	// The columns of the Lens, when the webhook asks for answers and the result is ok, unless they have more than 64 KiB.
	Answers Row `json:"answers,omitzero"`
}
