package runs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
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

// TenderDeps are what a Tender works with; all are required.
type TenderDeps struct {
	Store interface {
		Store
		store.Clocks
	}
	Now func() time.Time
	Log *slog.Logger
}

// Tender moves runs of files on in the background: it ends leases whose time is over, finishes runs that are pausing, cancelling or done, and
// pauses runs by themselves (spec: run-states, run-pauses-itself). It also mends the times of a clock that was set back
// (spec: clocks-that-jump). Every replica does so, as a change that another replica has made already is none.
type Tender struct {
	deps                        TenderDeps
	ended                       atomic.Bool // a lease has ended since the last look
	looks                       *prometheus.CounterVec
	runs, rows, leases, waiting prometheus.Gauge
}

// NewTender makes a Tender.
func NewTender(d TenderDeps) *Tender {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &Tender{
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
func (t *Tender) Measure(to prometheus.Registerer) error {
	return background.Register(to, t.looks, t.runs, t.rows, t.leases, t.waiting)
}

// LeaseEnded makes the Tender look at the runs at the next tick, as a run may be done.
func (t *Tender) LeaseEnded() { t.ended.Store(true) }

// Run works until ctx ends.
func (t *Tender) Run(ctx context.Context) {
	ticks := 0
	background.Work{
		Name: "tending runs of files", AfterFailure: tick, Log: t.deps.Log,
		Do: func(ctx context.Context) (pause time.Duration, err error) {
			n := ticks
			ticks++
			if ended := t.ended.Swap(false); ended || n%ticksPerLook == 0 {
				err = t.Tend(ctx)
			}
			if err == nil && n%ticksPerMend == 0 {
				err = t.mend(ctx)
			}
			if err == nil && n%ticksPerMeasure == 0 {
				err = t.measureQueue(ctx)
			}
			return tick, err
		},
	}.Run(ctx)
}

// Tend makes all changes that are due.
func (t *Tender) Tend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	for {
		changed, err := t.deps.Store.TendRuns(ctx, prism.Now(t.deps.Now))
		if err != nil {
			t.looks.WithLabelValues("failed").Inc()
			return err
		}
		if changed == 0 {
			t.looks.WithLabelValues("ok").Inc()
			return nil
		}
	}
}

// mend brings times of a clock that was ahead and was set back.
func (t *Tender) mend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	mended, err := t.deps.Store.MendTimes(ctx, prism.Now(t.deps.Now))
	if mended > 0 {
		t.deps.Log.WarnContext(ctx, "the clock was set back, and what would have waited until its former time was brought to now", "times", mended)
	}
	return err
}

// measureQueue sets the metrics of the queue.
func (t *Tender) measureQueue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	now := prism.Now(t.deps.Now)
	q, err := t.deps.Store.QueueOfRuns(ctx, now)
	if err != nil {
		return err
	}
	waiting := 0.
	if !q.OldestSince.IsZero() {
		waiting = max(0, now.Sub(q.OldestSince).Seconds())
	}
	t.runs.Set(float64(q.Runs))
	t.rows.Set(float64(q.PendingRows))
	t.leases.Set(float64(q.Leases))
	t.waiting.Set(waiting)
	return nil
}
