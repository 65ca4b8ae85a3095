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
	// WriteEvents are the bodies of events of an account, with columns of the Lens.
	WriteEvents(ctx context.Context, account prism.AccountID, told []events.Event, show events.Columns) ([]api.Event, error)
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
	return background.Register(to, s.deliveries, s.ending)
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
