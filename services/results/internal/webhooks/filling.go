package webhooks

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/events"
)

const (
	// resultsAtOnce is how many results are read for a lease at once, and resultsOfLease how many until it has enough: a hundred events of
	// rows of runs have 10,000, which would take more memory and time than a lease has.
	resultsAtOnce  = rowsAtOnce
	resultsOfLease = 2 * resultsAtOnce
)

// piece is the first deliveries, one at least, with up to resultsAtOnce results.
func piece(deliveries []LeasedDelivery) (n, results int) {
	for n < len(deliveries) {
		more := 1 + len(deliveries[n].Event.Results)
		if n > 0 && results+more > resultsAtOnce {
			break
		}
		n, results = n+1, results+more
	}
	return n, results
}

// fill makes the bodies of a lease, as many as fit in it: nil if no event that it looked at fits the condition. What it did not look at stays
// due.
func (s *Sender) fill(ctx context.Context, leased Leased) (*contract.DeliveriesLease, error) {
	lease := &contract.DeliveriesLease{WebhookLease: leased.WebhookLease, URL: leased.URL, Secrets: leased.Secrets}
	narrowed := narrowing{lease: leased, replaced: map[prism.DeliveryID]events.Event{}}
	bytes, looked, full := 0, 0, false
	for rest := leased.Deliveries; len(rest) > 0 && looked < resultsOfLease && !full; {
		n, results := piece(rest)
		fitting, err := s.narrow(ctx, &narrowed, rest[:n])
		if err != nil {
			return nil, err
		}
		rest, looked = rest[n:], looked+results
		written, err := s.write(ctx, leased, fitting)
		if err != nil {
			return nil, err
		}
		for i, w := range written {
			body, err := strictjson.Marshal(w, strictjson.Numbers)
			if err != nil {
				return nil, err
			}
			bytes += len(body)
			if full = len(lease.Deliveries) > 0 && bytes > contract.LeasedDeliveryBytes; full {
				break
			}
			lease.Deliveries = append(lease.Deliveries, contract.Delivery{ID: fitting[i].ID, Body: body})
		}
	}
	if len(narrowed.removed)+len(narrowed.replaced) > 0 {
		if err := s.deps.Store.NarrowDeliveries(ctx, leased.WebhookLease, narrowed.removed, narrowed.replaced); err != nil {
			return nil, err
		}
	}
	if len(lease.Deliveries) == 0 {
		return nil, nil
	}
	return lease, nil
}

// write makes the bodies of deliveries of a lease.
func (s *Sender) write(ctx context.Context, leased Leased, deliveries []LeasedDelivery) ([]api.Event, error) {
	if len(deliveries) == 0 {
		return nil, nil
	}
	told := make([]events.Event, len(deliveries))
	for i, d := range deliveries {
		told[i] = d.Event
	}
	var show events.Columns
	if leased.Answers {
		show = events.AllColumns
	}
	return s.deps.Writer.WriteEvents(ctx, leased.Account, told, show)
}

// narrowing is what a condition takes out of a lease.
type narrowing struct {
	lease    Leased
	removed  []prism.DeliveryID
	replaced map[prism.DeliveryID]events.Event
}

// narrow are the deliveries without what does not fit the condition, of what is tried for the first time (spec: webhook-condition).
func (s *Sender) narrow(ctx context.Context, n *narrowing, deliveries []LeasedDelivery) (left []LeasedDelivery, err error) {
	condition := n.lease.Condition
	if condition == nil {
		return deliveries, nil
	}
	var told []events.Event
	for _, d := range deliveries {
		if d.First && d.Event.Type == api.ResultCreated {
			told = append(told, d.Event)
		}
	}
	if len(told) == 0 {
		return deliveries, nil
	}
	written, err := s.deps.Writer.WriteEvents(ctx, n.lease.Account, told, func(column string) bool { return column == condition.Column })
	if err != nil {
		return nil, err
	}
	for _, d := range deliveries {
		if !d.First || d.Event.Type != api.ResultCreated {
			left = append(left, d)
			continue
		}
		fitting, all := fits(*condition, d.Event, written[0].Data)
		written = written[1:]
		switch {
		case fitting == nil:
			n.removed = append(n.removed, d.ID)
			continue
		case !all:
			d.Event = *fitting
			n.replaced[d.ID] = d.Event
		}
		left = append(left, d)
	}
	return left, nil
}

// fits is the event with the results of which a condition holds: nil without one, and all if it holds of each.
func fits(c api.EventCondition, e events.Event, data api.EventData) (fitting *events.Event, all bool) {
	if len(data.Results) == 0 {
		if !holds(c, data.Answers) {
			return nil, false
		}
		return &e, true
	}
	var ids []prism.ResultID
	for i, id := range append([]prism.ResultID{e.Result}, e.Results...) {
		if i < len(data.Results) && holds(c, data.Results[i].Answers) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, false
	}
	all = len(ids) == len(e.Results)+1
	e.Result, e.Results = ids[0], ids[1:]
	return &e, all
}
