// Package tending moves runs of files on in the background: it ends leases whose time is over, finishes runs that are pausing,
// cancelling or done, and pauses runs by themselves (spec: run-states, run-pauses-itself). It also mends the times of a clock that
// was set back (spec: clocks-that-jump). Every replica does so, as a change
// that another replica has made already is none.
package tending

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// tick is the time between two checks of whether a lease has ended. lookLimit bounds one look at the runs, or one
	// measurement.
	tick      = 250 * time.Millisecond
	lookLimit = 10 * time.Second
	// ticksPerLook is how many ticks are between two looks while no lease ends. ticksPerMeasure is how many are between two
	// measurements of the queue, which read the chunks of all runs.
	ticksPerLook, ticksPerMeasure = 4, 20
	// ticksPerMend is how many are between two looks for times of a clock that was ahead.
	ticksPerMend = 120
)

// Deps are what a Worker works with; all are required.
type Deps struct {
	Store interface {
		runs.Store
		store.Clocks
	}
	Now func() time.Time
	Log *slog.Logger
}

// Worker tends runs.
type Worker struct {
	deps                        Deps
	ended                       atomic.Bool // a lease has ended since the last look
	looks                       *prometheus.CounterVec
	runs, rows, leases, waiting prometheus.Gauge
}

// New makes a Worker.
func New(d Deps) *Worker {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &Worker{
		deps: d,
		looks: background.NewCounters(
			"prism_runs_tended_total",
			"Looks at the runs for what has waited long enough, by outcome: ok, failed.",
			"outcome", "ok", "failed",
		),
		runs:   gauge("prism_run_queue_runs", "Runs of files that are queued or running, and retries of many results."),
		rows:   gauge("prism_run_queue_rows", "Rows of queued and running runs that wait for their outcome."),
		leases: gauge("prism_run_queue_leases", "Chunks of rows that workers have leased."),
		waiting: gauge("prism_run_queue_seconds",
			"How long the queued or running run waits for a lease that waits longest; 0 if none waits."),
	}
}

// Measure registers the metrics.
func (w *Worker) Measure(to prometheus.Registerer) error {
	var errs []error
	for _, c := range []prometheus.Collector{w.looks, w.runs, w.rows, w.leases, w.waiting} {
		errs = append(errs, to.Register(c))
	}
	return errors.Join(errs...)
}

// LeaseEnded makes the worker look at the runs at the next tick, as a run may be done.
func (w *Worker) LeaseEnded() { w.ended.Store(true) }

// Run works until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	ticks := 0
	background.Work{
		Name: "tending runs of files", AfterFailure: tick, Log: w.deps.Log,
		Do: func(ctx context.Context) (pause time.Duration, err error) {
			n := ticks
			ticks++
			if ended := w.ended.Swap(false); ended || n%ticksPerLook == 0 {
				err = w.Tend(ctx)
			}
			if err == nil && n%ticksPerMend == 0 {
				err = w.mend(ctx)
			}
			if err == nil && n%ticksPerMeasure == 0 {
				err = w.measureQueue(ctx)
			}
			return tick, err
		},
	}.Run(ctx)
}

// Tend makes all changes that are due.
func (w *Worker) Tend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	for {
		changed, err := w.deps.Store.TendRuns(ctx, prism.Now(w.deps.Now))
		if err != nil {
			w.looks.WithLabelValues("failed").Inc()
			return err
		}
		if changed == 0 {
			w.looks.WithLabelValues("ok").Inc()
			return nil
		}
	}
}

// mend brings times of a clock that was ahead and was set back.
func (w *Worker) mend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	mended, err := w.deps.Store.MendTimes(ctx, prism.Now(w.deps.Now))
	if mended > 0 {
		w.deps.Log.WarnContext(ctx, "the clock was set back, and what would have waited until its former time was brought to now", "times", mended)
	}
	return err
}

// measureQueue sets the metrics of the queue.
func (w *Worker) measureQueue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	now := prism.Now(w.deps.Now)
	q, err := w.deps.Store.QueueOfRuns(ctx, now)
	if err != nil {
		return err
	}
	waiting := 0.
	if !q.OldestSince.IsZero() {
		waiting = max(0, now.Sub(q.OldestSince).Seconds())
	}
	w.runs.Set(float64(q.Runs))
	w.rows.Set(float64(q.PendingRows))
	w.leases.Set(float64(q.Leases))
	w.waiting.Set(waiting)
	return nil
}
