// Package webhooks sends the events of webhooks: it leases a webhook from results, sends its events one after the other, and has
// results save what became of each try. It keeps nothing, so any number of senders share the work.
//
//	        ┌──────────────── Service.lease: while there is a place ────────────────┐
//	results ─ LeaseDeliveries ─▶ webhook ─ a try of each event ─▶ SaveDeliveries ─▶ results
//	   ▲                                       │
//	   └── not begun, as a try failed or DeliveryBegin is over: they are still due ──┘
//
// A lease takes a place until its tries are saved. Half of the places take only webhooks whose last try succeeded, so receivers that
// hang hold up only each other.
package webhooks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/backoff"
	"github.com/prism-results/prism/pkg/build"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/services/webhooks/internal/outbound"
)

// Settings are the settings of senders.
type Settings struct {
	Concurrency int `env:"PRISM_WEBHOOKS_CONCURRENCY" default:"256" help:"webhooks to which events are sent at once, at most; 0 sends none in this process"`
}

// Networks are networks that an operator allows beside the public ones.
type Networks = outbound.Networks

// Config is what differs between deployments.
type Config struct {
	// Concurrency is how many webhooks are sent to at once, at most. 0 means 256, unlike in Settings: a process that is to send nothing
	// does not call Run.
	Concurrency int
	// Allow are networks that are called beside the public ones.
	Allow Networks
}

// Deps are what a Service works with; all are required.
type Deps struct {
	Deliveries contract.Deliveries
	Metrics    prometheus.Registerer
	Log        *slog.Logger
	Tracer     trace.TracerProvider
}

const (
	// leaseTry bounds a try to lease. It is less than contract.DeliveryBegin, so a lease that arrives can begin.
	leaseTry = contract.ResultsWait
	// firstIdle and maxIdle are the pauses after which a sender looks again when no webhook was due.
	firstIdle, maxIdle = 50 * time.Millisecond, 200 * time.Millisecond
	// firstAway and maxAway are the pauses after which a sender looks again when leasing failed.
	firstAway, maxAway = 100 * time.Millisecond, 5 * time.Second
	// leasing is how many leases are asked for at once while webhooks are due. When none is, one is asked for.
	leasing = 4
)

// Service is a sender.
type Service struct {
	batchDeps
	places *places
	away   atomic.Bool // leasing failed the last time
	// busy wakes one of the goroutines that lease while webhooks are due.
	busy chan struct{}
}

// New makes a sender. It does no I/O. It panics if Deps.Metrics has the collectors of a sender already.
func New(cfg Config, d Deps) (*Service, error) {
	if cfg.Concurrency < 0 {
		return nil, errors.New("PRISM_WEBHOOKS_CONCURRENCY: must not be negative")
	}
	s := &Service{
		batchDeps: batchDeps{
			deliveries: d.Deliveries, log: d.Log, tracer: d.Tracer.Tracer("github.com/prism-results/prism/services/webhooks"),
			out: outbound.New(outbound.Config{
				Allow: cfg.Allow, UserAgent: "Prism-Webhooks/" + build.Read(debug.ReadBuildInfo).Version,
			}),
		},
		places: newPlaces(cmp.Or(cfg.Concurrency, 256)),
		busy:   make(chan struct{}, 1),
	}
	s.metrics = newMetrics(d.Metrics, s.places)
	return s, nil
}

// Run sends events until ctx ends, the tries under way have ended and are saved (spec: sender-stop).
func (s *Service) Run(ctx context.Context) {
	defer s.out.Close()
	outlive := context.WithoutCancel(ctx)
	var leases, sends sync.WaitGroup
	begin := func(b *batch) {
		sends.Go(func() {
			defer s.places.give(b.kind)
			b.run(outlive, ctx.Done())
		})
	}
	leases.Go(func() { s.leaseAlways(ctx, begin) })
	for range leasing - 1 {
		leases.Go(func() { s.leaseWhileDue(ctx, begin) })
	}
	leases.Wait()
	sends.Wait()
}

// Ready returns an error while results does not let the sender lease.
func (s *Service) Ready(context.Context) error {
	if s.away.Load() {
		return contract.ErrUnavailable
	}
	return nil
}

// leaseWhileDue leases until no webhook is due, whenever a lease wakes it, until ctx ends.
func (s *Service) leaseWhileDue(ctx context.Context, begin func(*batch)) {
	for {
		select {
		case <-s.busy:
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil {
			if leased, err := s.leaseOne(ctx, begin); err != nil || !leased {
				break
			}
		}
	}
}

// leaseAlways leases until ctx ends, and pauses when no webhook is due or results is away.
func (s *Service) leaseAlways(ctx context.Context, begin func(*batch)) {
	var waits backoff.Backoff
	for ctx.Err() == nil {
		leased, err := s.leaseOne(ctx, begin)
		var pause time.Duration
		switch {
		case err != nil:
			if !s.away.Load() {
				s.log.WarnContext(ctx, "leasing deliveries of webhooks failed", "error", err)
			}
			pause = waits.Next(firstAway, maxAway)
		case !leased:
			pause = waits.Next(firstIdle, maxIdle)
		default:
			waits = 0
		}
		s.away.Store(err != nil)
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
}

// leaseOne waits for a place, leases a webhook and begins to send to it. false: none is due, or ctx has ended.
func (s *Service) leaseOne(ctx context.Context, begin func(*batch)) (leased bool, err error) {
	kind, ok := s.places.take(ctx)
	if !ok {
		return false, nil
	}
	defer func() {
		if !leased {
			s.places.give(kind)
		}
	}()
	// The end of ctx does not interrupt it: nobody would know of the lease.
	try, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTry)
	defer cancel()
	began := time.Now()
	l, err := s.deliveries.LeaseDeliveries(try, contract.LeaseDeliveries{Healthy: kind == healthy})
	if err != nil || l == nil {
		return false, err
	}
	crash.At(crash.AfterDeliveriesLease)
	select {
	case s.busy <- struct{}{}: // there may be more
	default:
	}
	begin(&batch{DeliveriesLease: l, batchDeps: s.batchDeps, kind: kind, began: began})
	return true, nil
}
