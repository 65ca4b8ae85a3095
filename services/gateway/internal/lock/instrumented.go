package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Instrumented returns inner with metrics of how long callers wait and how their waits end. No metric has a name as label.
func Instrumented(inner Locker, reg prometheus.Registerer) Locker {
	o := &instrumented{
		inner: inner,
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prism_lock_wait_seconds",
			Help: "Time that callers waited for a lock, by how the wait ended.",
			// From a round trip to Redis up to the longest wait.
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 25, 30, 35, 40},
		}, []string{"outcome"}),
		waiters: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prism_lock_waiters",
			Help: "Callers that wait for a lock now.",
		}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "prism_lock_lost_total",
			Help: "Leases that expired while their holder worked.",
		}),
	}
	reg.MustRegister(o.wait, o.waiters, o.expired)
	for _, outcome := range outcomes {
		o.wait.WithLabelValues(outcome) // a rate needs the zero before the first event
	}
	return o
}

const (
	acquired    = "acquired"
	timedOut    = "timeout"
	busy        = "busy"
	unavailable = "unavailable"
	canceled    = "canceled"
)

var outcomes = []string{acquired, timedOut, busy, unavailable, canceled}

type instrumented struct {
	inner   Locker
	wait    *prometheus.HistogramVec
	waiters prometheus.Gauge
	expired prometheus.Counter
}

func (o *instrumented) Acquire(ctx context.Context, name string) (Lease, error) {
	o.waiters.Inc()
	defer o.waiters.Dec()
	return o.observe(ctx, name, o.inner.Acquire)
}

// TryAcquire of a held name counts as no wait: the caller's Acquire will.
func (o *instrumented) TryAcquire(ctx context.Context, name string) (Lease, error) {
	return o.observe(ctx, name, o.inner.TryAcquire)
}

func (o *instrumented) observe(ctx context.Context, name string, take func(context.Context, string) (Lease, error)) (Lease, error) {
	began := time.Now()
	lease, err := take(ctx, name)
	took := time.Since(began).Seconds()
	switch {
	case errors.Is(err, ErrHeld):
		return nil, err
	case err != nil:
		o.wait.WithLabelValues(outcome(err)).Observe(took)
		return nil, err
	case lease.Expired(): // a lease of this process alone (see Layered)
		o.wait.WithLabelValues(unavailable).Observe(took)
		return lease, nil
	}
	o.wait.WithLabelValues(acquired).Observe(took)
	return &instrumentedLease{Lease: lease, expired: o.expired}, nil
}

func outcome(err error) string {
	switch {
	case errors.Is(err, ErrTimeout):
		return timedOut
	case errors.Is(err, ErrBusy):
		return busy
	case errors.Is(err, context.Canceled):
		return canceled
	default:
		return unavailable
	}
}

type instrumentedLease struct {
	Lease
	expired prometheus.Counter
	count   sync.Once
}

// Release counts an expired lease: every lease is released, so no goroutine has to watch each.
func (l *instrumentedLease) Release(ctx context.Context) {
	l.count.Do(func() {
		if l.Expired() {
			l.expired.Inc()
		}
	})
	l.Lease.Release(ctx)
}
