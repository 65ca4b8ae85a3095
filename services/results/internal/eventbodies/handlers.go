package eventbodies

import (
	"context"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// scanned bounds how many changes and others a page looks through to find what its filter wants (spec: event-list), and readAtOnce how
	// many are read at once.
	scanned, readAtOnce = 10_000, 1000
	// removeEvery is how often a process removes events that are too old.
	removeEvery = 10 * time.Minute
	// expiringEvery is how often a process looks for keys that end soon.
	expiringEvery = time.Minute
)

// Handlers are those of the operations on events. Prisms finds the prism that a filter names.
type Handlers struct {
	Writer
	Prisms interface {
		Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
	}
}

// Operations are the operations on events.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Encoded(api.ListEvents, h.listEvents)}
}

// Remove removes events that are too old until ctx ends.
func Remove(ctx context.Context, s events.Store, now func() time.Time) {
	background.Repeat(ctx, func(ctx context.Context) time.Duration {
		if more, err := s.RemoveEvents(ctx, now().Add(-events.Kept)); more && err == nil {
			return 0
		}
		return removeEvery
	})
}

// TellExpiring tells of keys that end soon until ctx ends.
func TellExpiring(ctx context.Context, s events.Store, now func() time.Time) {
	background.Repeat(ctx, func(ctx context.Context) time.Duration {
		if more, err := s.TellExpiring(ctx, prism.Now(now)); more && err == nil {
			return 0
		}
		return expiringEvery
	})
}

func (h *Handlers) listEvents(ctx context.Context, c store.Caller, in api.ListEventsRequest) ([]byte, error) {
	var prismID prism.PrismID
	if in.Prism != nil {
		p, err := h.Prisms.Prism(ctx, c.Account, *in.Prism)
		if err != nil {
			return nil, err
		}
		prismID = p.ID
	}
	wanted := func(e events.Event) bool {
		return (len(in.Events) == 0 || slices.Contains(in.Events, e.Type)) && (prismID.IsZero() || e.Prism == prismID) &&
			(in.RunRows || e.Type != api.ResultCreated || e.Run.IsZero())
	}
	if in.After == "" {
		latest, err := h.Store.LatestEvents(ctx, c.Account)
		if err != nil {
			return nil, err
		}
		return newPage(nil, nil, latest)
	}
	next, err := events.ParseCursor(in.After)
	if err != nil {
		return nil, apierr.Invalid(apierr.Problem{Path: "after", Text: "Expected `next` of a page or the id of an event"})
	}
	created := len(in.Events) == 0 || slices.Contains(in.Events, api.ResultCreated)
	told, next, err := h.read(ctx, c.Account, next, in.Limit, created, wanted)
	if err != nil {
		return nil, err
	}
	var show events.Columns
	if in.Answers {
		show = events.AllColumns
	}
	written, err := h.WriteEvents(ctx, c.Account, told, show)
	if err != nil {
		return nil, err
	}
	return newPage(told, written, next)
}

// newPage is the body of a page of events, whose list goes on behind next, or behind the last one for which there is room
// (spec: page-bytes).
func newPage(told []events.Event, written []api.Event, next events.Cursor) ([]byte, error) {
	page := bodies.NewPageWith(nil)
	var work fair.Work
	for i, body := range written {
		work.Begin()
		row, err := strictjson.Marshal(api.ListedEvent{ID: told[i].Behind.String(), Event: body}, strictjson.Numbers)
		if err != nil {
			return nil, err
		}
		if !page.Add(row) {
			next = told[i-1].Behind
			break
		}
		written[i] = api.Event{}
		work.End()
	}
	return page.Body(`,"next":"` + next.String() + `"`), nil
}

// read finds up to limit events that are wanted, and the place behind what it has looked through.
func (h *Handlers) read(
	ctx context.Context, account prism.AccountID, after events.Cursor, limit int, created bool, wanted func(events.Event) bool,
) (told []events.Event, next events.Cursor, err error) {
	next = after
	for range scanned / readAtOnce {
		all, behind, err := h.Store.ReadEvents(ctx, account, next, readAtOnce, created)
		if err != nil {
			return nil, next, err
		}
		for _, e := range all {
			if !wanted(e) {
				continue
			}
			if told = append(told, e); len(told) == limit {
				return told, e.Behind, nil
			}
		}
		if behind == next {
			return told, next, nil
		}
		next = behind
	}
	return told, next, nil
}
