package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Instrumented returns inner with metrics of how long callers wait and why they stop. No metric tells names apart.
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
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "prism_lock_lost_total",
			Help: "Leases that were lost while their holder worked.",
		}),
	}
	reg.MustRegister(o.wait, o.waiters, o.lost)
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
	lost    prometheus.Counter
}

func (o *instrumented) Acquire(ctx context.Context, name string) (Lease, error) {
	began := time.Now()
	o.waiters.Inc()
	lease, err := o.inner.Acquire(ctx, name)
	o.waiters.Dec()
	took := time.Since(began).Seconds()
	if err != nil {
		o.wait.WithLabelValues(outcome(err)).Observe(took)
		return nil, err
	}
	if isLost(lease) { // it never was more than this process' own (see Layered)
		o.wait.WithLabelValues(unavailable).Observe(took)
		return lease, nil
	}
	o.wait.WithLabelValues(acquired).Observe(took)
	return &instrumentedLease{inner: lease, lost: o.lost}, nil
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
	inner Lease
	lost  prometheus.Counter
	count sync.Once
}

// Release counts a loss here, since a goroutine for each lease would be dear and every lease is released.
func (l *instrumentedLease) Release(ctx context.Context) {
	l.count.Do(func() {
		if isLost(l.inner) {
			l.lost.Inc()
		}
	})
	l.inner.Release(ctx)
}

func (l *instrumentedLease) Lost() <-chan struct{} { return l.inner.Lost() }

func isLost(l Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}
