package access

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// A page holds its rows as they are stored and as they are sent, and its body, of up to store.ListBytes each. All pages together take
// at most a quarter of the memory limit, so that there are fewer places in less than 768 MiB.
const (
	maxPages   = 16
	maxScans   = 4
	pageMemory = 4 * 3 * store.ListBytes
)

// PlacesOf are how many operations of a class a process works on at once that has a memory limit and so many processors. The database
// works for each of them too.
func PlacesOf(memory int64, processors int) map[api.Class]int {
	return map[api.Class]int{
		api.Listing:  min(maxPages, processors, int(max(1, memory/pageMemory))),
		api.Scanning: min(maxScans, processors),
		// One measure at a time leaves a processor to the calls, and the memory is that of one.
		api.Measuring: 1,
	}
}

// placeWait bounds the wait for a place. Half of the time that the caller waits is left to the operation.
const placeWait = 5 * time.Second

// Places are the places of a process, for which accounts take turns (spec: place-classes).
type Places struct {
	Queues  map[api.Class]*fair.Queue
	refused *prometheus.CounterVec
}

func newPlaces(memory int64) *Places {
	p := &Places{Queues: map[api.Class]*fair.Queue{}, refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prism_places_refused_total",
		Help: "Operations that were refused because no place of their class became free in time.",
	}, []string{"class"})}
	for c, n := range PlacesOf(memory, runtime.GOMAXPROCS(0)) {
		p.Queues[c] = fair.NewQueue(n, 0)
		p.refused.WithLabelValues(string(c))
	}
	return p
}

// Measure registers the metrics of the places.
func (s *Access) Measure(to prometheus.Registerer) error {
	errs := []error{to.Register(s.Places.refused)}
	for c, q := range s.Places.Queues {
		labels := prometheus.Labels{"class": string(c)}
		for name, gauge := range map[string]struct {
			help string
			read func() int
		}{
			"taken":   {"Operations that hold a place of their class.", q.Taken},
			"waiting": {"Operations that wait for a place of their class.", q.Waiting},
		} {
			opts := prometheus.GaugeOpts{Name: "prism_places_" + name, Help: gauge.help, ConstLabels: labels}
			errs = append(errs, to.Register(prometheus.NewGaugeFunc(opts, func() float64 { return float64(gauge.read()) })))
		}
	}
	return errors.Join(errs...)
}

// take waits for a place of an operation's class: contract.ErrUnavailable. leave gives it back.
func (p *Places) take(ctx context.Context, account prism.AccountID, op contract.Operation) (leave func(), err error) {
	q := p.Queues[NeedOf(op).Class]
	if q == nil {
		return func() {}, nil
	}
	if err := p.wait(ctx, op, func(ctx context.Context) error { return q.Take(ctx, account.String(), fair.Preferred) }); err != nil {
		return nil, err
	}
	return func() { q.Give(account.String()) }, nil
}

// yield lets other accounts go first that wait for the place of an operation: contract.ErrUnavailable. The place is given back by
// the leave of take in any case.
func (p *Places) yield(ctx context.Context, account prism.AccountID, op contract.Operation) error {
	q := p.Queues[NeedOf(op).Class]
	return p.wait(ctx, op, func(ctx context.Context) error { return q.Yield(ctx, account.String(), fair.Preferred) })
}

func (p *Places) wait(ctx context.Context, op contract.Operation, wait func(context.Context) error) error {
	limit := placeWait
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := wait(ctx); err != nil {
		p.refused.WithLabelValues(string(NeedOf(op).Class)).Inc()
		return errors.Join(contract.ErrUnavailable, err)
	}
	return nil
}

// Yield lets other accounts go first that wait for the place of an operation: contract.ErrUnavailable.
func (s *Access) Yield(ctx context.Context, account prism.AccountID, op contract.Operation) error {
	return s.Places.yield(ctx, account, op)
}
