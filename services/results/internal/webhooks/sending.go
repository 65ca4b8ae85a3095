package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// leasesAtOnce is how many webhooks a call leases at most until it finds one with an event that fits its condition, and leaseLimit how
	// long it goes on.
	leasesAtOnce = 50
	leaseLimit   = time.Second
	// undoLimit bounds how long a lease that nobody has is ended.
	undoLimit = 2 * time.Second
)

// Writer makes the bodies of events.
type Writer interface {
	// WriteEvents are the bodies of events of an account, with the columns of the Lens if answers are asked for.
	WriteEvents(ctx context.Context, account prism.AccountID, told []events.Event, answers bool) ([]api.Event, error)
}

// SenderDeps are what a Sender works with; all are required.
type SenderDeps struct {
	Store  Store
	Writer Writer
	Now    func() time.Time
	NewID  func() (prism.UUID, error)
	By     func(store.Actor) (store.By, error)
}

// Sender implements contract.Deliveries.
type Sender struct {
	deps               SenderDeps
	deliveries, ending *prometheus.CounterVec
}

// NewSender makes a Sender.
func NewSender(d SenderDeps) *Sender {
	return &Sender{
		deps: d,
		deliveries: background.NewCounters(
			"prism_webhook_deliveries_total",
			"Tries to send events to webhooks by what became of the event: delivered, again (it is tried later), failed.",
			"outcome", "delivered", "again", "failed",
		),
		ending: background.NewCounters(
			"prism_webhooks_disabled_total",
			"Webhooks that Prism has disabled, by reason: gone, failing, overflow.",
			"reason", api.DisabledReason("").Values()...,
		),
	}
}

// MeasureSending registers the metrics.
func (s *Sender) MeasureSending(to prometheus.Registerer) error {
	return errors.Join(to.Register(s.deliveries), to.Register(s.ending))
}

// prismBy is a change that Prism makes by itself.
func (s *Sender) prismBy() (store.By, error) {
	return s.deps.By(store.Actor{Kind: store.WebhookActor, Name: string(store.WebhookActor)})
}

// LeaseDeliveries implements contract.Deliveries.
func (s *Sender) LeaseDeliveries(ctx context.Context, q contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	begun := time.Now()
	for range leasesAtOnce {
		token, err := s.deps.NewID()
		if err != nil {
			return nil, err
		}
		now := prism.Now(s.deps.Now)
		leased, err := s.deps.Store.TakeDeliveries(ctx, q.Healthy, token, now, now.Add(contract.DeliveryLease))
		if leased == nil || err != nil {
			return nil, access.Translate(err, nil)
		}
		crash.At(crash.AfterTake)
		lease, err := s.fill(ctx, *leased)
		if err == nil && lease != nil {
			return lease, nil
		}
		s.giveBack(ctx, leased.WebhookLease)
		if err != nil && !errors.Is(err, contract.ErrLeaseLost) {
			return nil, access.Translate(err, nil)
		}
		if time.Since(begun) > leaseLimit {
			break
		}
	}
	return nil, nil
}

// giveBack ends a lease of which nothing was sent. If it cannot, the lease ends by itself.
func (s *Sender) giveBack(ctx context.Context, l contract.WebhookLease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	_, _ = s.deps.Store.EndDeliveries(ctx, contract.SaveDeliveries{WebhookLease: l}, prism.Now(s.deps.Now), s.prismBy)
}

// fill makes the bodies of a lease: nil if none of its events fits the condition.
func (s *Sender) fill(ctx context.Context, leased Leased) (*contract.DeliveriesLease, error) {
	if err := s.narrow(ctx, &leased); err != nil || len(leased.Deliveries) == 0 {
		return nil, err
	}
	told := make([]events.Event, len(leased.Deliveries))
	for i, d := range leased.Deliveries {
		told[i] = d.Event
	}
	written, err := s.deps.Writer.WriteEvents(ctx, leased.Account, told, leased.Answers)
	if err != nil {
		return nil, err
	}
	lease := &contract.DeliveriesLease{WebhookLease: leased.WebhookLease, URL: leased.URL, Secrets: leased.Secrets}
	bytes := 0
	for i, w := range written {
		body, err := strictjson.Marshal(w, strictjson.Numbers)
		if err != nil {
			return nil, err
		}
		if bytes += len(body); i > 0 && bytes > contract.LeasedDeliveryBytes {
			break
		}
		lease.Deliveries = append(lease.Deliveries, contract.Delivery{ID: leased.Deliveries[i].ID, Body: body})
	}
	return lease, nil
}

// narrow takes what does not fit the condition out of a lease, of what is tried for the first time (spec: webhook-condition).
func (s *Sender) narrow(ctx context.Context, leased *Leased) error {
	if leased.Condition == nil {
		return nil
	}
	var told []events.Event
	for _, d := range leased.Deliveries {
		if d.First && d.Event.Type == api.ResultCreated {
			told = append(told, d.Event)
		}
	}
	if len(told) == 0 {
		return nil
	}
	written, err := s.deps.Writer.WriteEvents(ctx, leased.Account, told, true)
	if err != nil {
		return err
	}
	var (
		left     []LeasedDelivery
		removed  []prism.DeliveryID
		replaced = map[prism.DeliveryID]events.Event{}
	)
	for _, d := range leased.Deliveries {
		if !d.First || d.Event.Type != api.ResultCreated {
			left = append(left, d)
			continue
		}
		fitting, all := fits(*leased.Condition, d.Event, written[0].Data)
		written = written[1:]
		switch {
		case fitting == nil:
			removed = append(removed, d.ID)
			continue
		case !all:
			d.Event = *fitting
			replaced[d.ID] = d.Event
		}
		left = append(left, d)
	}
	leased.Deliveries = left
	if len(removed)+len(replaced) == 0 {
		return nil
	}
	return s.deps.Store.NarrowDeliveries(ctx, leased.WebhookLease, removed, replaced)
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

// SaveDeliveries implements contract.Deliveries.
func (s *Sender) SaveDeliveries(ctx context.Context, in contract.SaveDeliveries) error {
	crash.At(crash.BeforeOutcome)
	ended, err := s.deps.Store.EndDeliveries(ctx, in, prism.Now(s.deps.Now), s.prismBy)
	if err != nil {
		return access.Translate(err, nil)
	}
	crash.At(crash.AfterOutcome)
	s.deliveries.WithLabelValues("delivered").Add(float64(ended.Delivered))
	s.deliveries.WithLabelValues("again").Add(float64(ended.Again))
	s.deliveries.WithLabelValues("failed").Add(float64(ended.Failed))
	if ended.Disabled != "" {
		s.ending.WithLabelValues(string(ended.Disabled)).Inc()
	}
	return nil
}
