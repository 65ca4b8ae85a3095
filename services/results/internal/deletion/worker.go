package deletion

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// pollEvery is the time between two looks for jobs that are due.
	pollEvery = 2 * time.Second
	// lease is how long no other worker takes a job. Each part renews it.
	lease = 30 * time.Second
	// partLimit bounds one part.
	partLimit = 10 * time.Second
	// mostServed bounds the accounts that are remembered.
	mostServed = 100
)

// turn is how much of a job is deleted before other jobs. With its pauses, deletions take at most a fifth of one connection, and leave
// the disk to the calls.
var turn = background.Turn{Pieces: 50, Limit: partLimit, Pause: func(took time.Duration) time.Duration {
	return max(20*time.Millisecond, 4*took)
}}

// Deps are what a Worker works with; all are required.
type Deps struct {
	Store Store
	// Find finds the next results of a job with a search. apierr.NotIndexed: not all of them can be found yet.
	Find func(context.Context, Job) (FoundPart, error)
	Now  func() time.Time
	// By makes the store.By of a change that the actor makes now.
	By  func(store.Actor) (store.By, error)
	Log *slog.Logger
}

// Worker works on one job at a time.
type Worker struct {
	deps    Deps
	deleted *prometheus.CounterVec
	parts   *prometheus.CounterVec
	jobs    prometheus.Gauge
	late    prometheus.Gauge
	served  []prism.AccountID // that had a turn since the last round of all accounts
}

// The reasons of a deletion, in the metric.
const (
	byCall      = "call"
	byRetention = "retention"
)

// New makes a Worker.
func New(d Deps) *Worker {
	return &Worker{
		deps: d,
		deleted: background.NewCounters(
			"prism_deleted_results_total",
			"Results that jobs deleted: those of a call, or those older than the retention of a prism.",
			"reason", byCall, byRetention,
		),
		parts: background.NewCounters(
			"prism_deletion_parts_total",
			"Parts of deletions by outcome: ok, failed.",
			"outcome", "ok", "failed",
		),
		jobs: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prism_deletion_jobs",
			Help: "Deletions of many results that are due or under way, also by other replicas.",
		}),
		late: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prism_deletion_late_seconds",
			Help: "How long the oldest of prism_deletion_jobs is due; 0 without one.",
		}),
	}
}

// Measure registers the metrics.
func (w *Worker) Measure(to prometheus.Registerer) error {
	return background.Register(to, w.deleted, w.parts, w.jobs, w.late)
}

// Run works until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	background.Work{
		Name: "a deletion of results", Do: background.Every(pollEvery, w.Work), AfterFailure: lease,
		Failures: w.parts.WithLabelValues("failed"), Log: w.deps.Log,
	}.Run(ctx)
}

// Work works on a job that is due, and returns false if there is none.
func (w *Worker) Work(ctx context.Context) (worked bool, err error) {
	if jobs, err := w.countDue(ctx); err != nil || jobs == 0 {
		return false, err
	}
	now := prism.Now(w.deps.Now)
	job, err := w.deps.Store.TakeDeletion(ctx, now, now.Add(lease), w.served)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if slices.Contains(w.served, job.Account) || len(w.served) == mostServed { // each other account with a job had its turn
		w.served = w.served[:0]
	}
	w.served = append(w.served, job.Account)
	more, err := turn.Do(ctx, func(ctx context.Context) (bool, error) { return w.part(ctx, &job) })
	switch {
	case errors.Is(err, apierr.NotIndexed()): // the job is taken again when its lease ends
		return false, nil
	case errors.Is(err, store.ErrNotFound): // changed by a call
		return true, nil
	case err != nil || !more:
		return true, err
	}
	return true, w.giveBack(context.WithoutCancel(ctx), job)
}

// countDue counts and measures what is due.
func (w *Worker) countDue(ctx context.Context) (jobs int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	now := prism.Now(w.deps.Now)
	jobs, since, err := w.deps.Store.DueDeletions(ctx, now)
	if err != nil {
		return 0, err
	}
	late := 0.
	if jobs > 0 {
		late = now.Sub(since).Seconds()
	}
	w.jobs.Set(float64(jobs))
	w.late.Set(late)
	return jobs, nil
}

// part deletes a part of a job, and returns whether another one follows.
func (w *Worker) part(ctx context.Context, job *Job) (more bool, err error) {
	by, err := w.deps.By(store.Actor{Kind: store.RetentionActor, Name: string(store.RetentionActor)})
	if err != nil {
		return false, err
	}
	if job.Search != "" {
		if job.Found, err = w.deps.Find(ctx, *job); err != nil {
			return false, err
		}
	}
	reason := byCall
	if job.Days > 0 {
		reason = byRetention
	}
	deleted, ended, err := w.deps.Store.DeletePart(ctx, job, by.At.Add(lease), by)
	if err == nil {
		crash.At(crash.InDeletion)
		w.deleted.WithLabelValues(reason).Add(float64(deleted))
		w.parts.WithLabelValues("ok").Inc()
	}
	return !ended, err
}

func (w *Worker) giveBack(ctx context.Context, job Job) error {
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	return w.deps.Store.ReturnDeletion(ctx, job, prism.Now(w.deps.Now))
}
