package client

import (
	"context"
	"io"
	"net/url"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// Event is the body that a webhook is sent.
	Event = api.Event
	// EventData is what an event is about.
	EventData = api.EventData
	// EventResult is a result of a run.
	EventResult = api.EventResult
	// Events is a page of events. Next is After of the next page.
	Events = api.Events
)

// EventFilter selects events.
type EventFilter struct {
	Events  []EventType // all if empty
	Prism   string      // the slug or id; of all prisms if empty
	Answers bool        // whether events of ok results have the columns of the Lens
	RunRows bool        // whether result.created of rows of runs is told too
	After   string      // behind what they begin: Next of a page, or the id of an event; what happens from now on if empty
}

func (f EventFilter) query() url.Values {
	q := url.Values{}
	for _, e := range f.Events {
		q.Add("event", string(e))
	}
	set(q, "prism", f.Prism)
	set(q, "after", f.After)
	if f.Answers {
		q.Set("answers", "true")
	}
	if f.RunRows {
		q.Set("run_rows", "true")
	}
	return q
}

// ListEvents returns what happened behind f.After, oldest first, at most limit, or 100 if limit is 0. ErrConflict: it is not kept any more.
func (c *Client) ListEvents(ctx context.Context, f EventFilter, limit int, options ...CallOption) (Events, error) {
	q := f.query()
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return fetch[Events](ctx, c, declared(api.ListEvents).where(q), options)
}

// FollowEvents streams what happens as server-sent events, until the context ends. The caller closes the stream.
func (c *Client) FollowEvents(ctx context.Context, f EventFilter, options ...CallOption) (io.ReadCloser, error) {
	return c.stream(ctx, declared(api.FollowEvents).where(f.query()), options, api.EventsMedia.Type)
}
