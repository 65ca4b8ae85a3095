package eventbodies

import (
	"context"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

// log is a store with a log of changes, of which each is told as one event of a type.
type log struct {
	Store
	kind   func(change int64) api.EventType
	length int64
	read   int64
}

func (l *log) ReadEvents(_ context.Context, _ prism.AccountID, after events.Cursor, limit int, _ bool) (all []events.Event, next events.Cursor, err error) {
	for next = after; next.Change < l.length && len(all) < limit; {
		next.Change++
		all = append(all, events.Event{Type: l.kind(next.Change), Behind: next})
	}
	l.read += int64(len(all))
	return all, next, nil
}

func (l *log) Subjects(context.Context, prism.AccountID, []prism.PrismID, []prism.RunID) (events.Subjects, error) {
	return events.Subjects{}, nil
}

// spec: event-list
func TestAPageLooksThroughSoMuchAndNextMovesOn(t *testing.T) {
	t.Parallel()
	l := &log{length: 25_000, kind: func(change int64) api.EventType {
		if change == 12_345 {
			return api.RunStarted
		}
		return api.ResultLabelled
	}}
	list := func(h *Handlers, in api.ListEventsRequest) (page api.Events, err error) {
		body, err := h.listEvents(t.Context(), store.Caller{}, in)
		if err == nil {
			err = strictjson.Unmarshal(body, &page)
		}
		return page, err
	}
	h := &Handlers{Writer: Writer{Store: l}}
	in := api.ListEventsRequest{EventFilter: api.EventFilter{Events: []api.EventType{api.RunStarted}}, After: "0.7", Limit: 100}
	for _, want := range []struct {
		told int
		next string
	}{{0, "10000.7"}, {1, "20000.7"}, {0, "25000.7"}, {0, "25000.7"}} {
		l.read = 0
		page, err := list(h, in)
		if err != nil || len(page.Data) != want.told || page.Next != want.next || l.read > scanned {
			t.Fatalf("told %d behind %s and next is %s after %d changes, %v; want %+v", len(page.Data), in.After, page.Next, l.read, err, want)
		}
		if want.told == 1 && page.Data[0].ID != "12345.7" {
			t.Errorf("the event is %+v", page.Data[0])
		}
		in.After = page.Next
	}
	in.After, in.Limit = "10000.7", 1
	if page, err := list(h, in); err != nil || page.Next != "12345.7" {
		t.Errorf("a full page ends at %s, %v", page.Next, err)
	}
}
