package drift

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// pollEvery is the time between two looks for watches that are due, and countEvery how long a watch is not due after all its
	// results were counted.
	pollEvery  = 2 * time.Second
	countEvery = 30 * time.Second
	// lease is how long no other worker takes a watch. Each part renews it.
	lease = 30 * time.Second
	// partLimit bounds one part.
	partLimit = 10 * time.Second
	// maxSpans ends a part when it has as many counts, and maxTargets when they are of as many targets, which bounds its memory: each has
	// 4 KB. A result has leastSpans of them.
	maxSpans, leastSpans = 64, 3
	maxTargets           = 64 * maxSpans
	// Lag is how old the id of a result is when it is counted. The model has 15 s, and a save is repeated for less than a minute.
	Lag = 2 * time.Minute
)

// turn is how much of a watch is counted before other watches.
var turn = background.Turn{Pieces: 20, Limit: partLimit}

// Deps are what a Worker works with; all are required.
type Deps struct {
	Store interface {
		Store
		Versions
	}
	Now func() time.Time
	Log *slog.Logger
}

// Worker counts the answers of watched prisms, and measures the drift of their latest versions.
type Worker struct {
	deps     Deps
	parts    *prometheus.CounterVec
	counted  prometheus.Counter
	measures measures
}

// New makes a Worker.
func New(d Deps) *Worker {
	return &Worker{
		deps: d,
		parts: background.NewCounters(
			"prism_drift_parts_total",
			"Parts of counting the answers of watched prisms by outcome: ok, failed.",
			"outcome", "ok", "failed",
		),
		counted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "prism_drift_counted_results_total",
			Help: "Results of watched prisms whose answers were counted.",
		}),
	}
}

// Measure registers the metrics.
func (w *Worker) Measure(to prometheus.Registerer) error {
	return background.Register(to, w.parts, w.counted, &w.measures)
}

// Run works until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		background.Work{
			Name: "measuring the drift of watched prisms", AfterFailure: measureEvery, Log: w.deps.Log,
			Do: func(ctx context.Context) (time.Duration, error) { return measureEvery, w.MeasureWatched(ctx) },
		}.Run(ctx)
	})
	background.Work{
		Name: "counting the answers of a watched prism", Do: background.Every(pollEvery, w.Work), AfterFailure: pollEvery,
		Failures: w.parts.WithLabelValues("failed"), Log: w.deps.Log,
	}.Run(ctx)
}

// Work counts for a watch that is due, and returns false if there is none.
func (w *Worker) Work(ctx context.Context) (worked bool, err error) {
	now := prism.Now(w.deps.Now)
	taken, err := background.Within(ctx, partLimit, func(ctx context.Context) (Watch, error) {
		return w.deps.Store.TakeDriftWatch(ctx, now, now.Add(lease))
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	// Rows of runs have the ids of when their chunk was leased, and may be saved long after.
	oldest, err := background.Within(ctx, partLimit, func(ctx context.Context) (time.Time, error) {
		return w.deps.Store.OldestLease(ctx, taken.Account, taken.Prism)
	})
	if err != nil {
		return true, err
	}
	until := now.Add(-Lag)
	if !oldest.IsZero() && oldest.Before(until) {
		until = oldest
	}
	t := &counting{Worker: w, watch: taken, last: prism.FirstUUID(until), versions: map[int32]*version{}}
	_, err = turn.Do(ctx, t.part)
	if err == nil && t.ended {
		_, err = background.Within(ctx, partLimit, func(ctx context.Context) (none struct{}, err error) { return none, t.tell(ctx, now) })
	}
	if errors.Is(err, store.ErrNotFound) { // another worker counts it, or it is not watched any more
		err = nil
	}
	return true, err
}

// counting is the work on a watch.
type counting struct {
	*Worker
	watch    Watch
	last     prism.UUID // up to which results are counted
	parser   answerjson.Parser
	versions map[int32]*version
	done     int  // parts of this turn
	results  int  // that this turn has counted
	ended    bool // everything is counted
}

// version is a version whose results are counted.
type version struct {
	VersionReference
	plan    *plan
	changed bool // its first results
}

// spanKey names counts.
type spanKey struct {
	version int32
	span    Span
	at      time.Time
}

// part counts the next results, and returns whether others follow. After the last part of a turn the watch is due again.
func (t *counting) part(ctx context.Context) (more bool, err error) {
	t.done++
	now := prism.Now(t.deps.Now)
	step := Step{Reached: t.watch.Reached, DueAt: now.Add(lease), Add: Add}
	var results []Answer
	// A lease that is older than what was counted leaves nothing to count.
	if step.Ended = true; string(t.last[:]) > string(t.watch.Reached[:]) {
		results, err = t.deps.Store.DriftAnswers(ctx, t.watch.Account, t.watch.Prism, t.watch.Reached, t.last)
		if err != nil {
			return false, err
		}
		step.Ended = len(results) < PartResults
		step.Reached = t.last
	}
	counts, n := map[spanKey]*Counts{}, 0
	for i, r := range results {
		if full(counts) {
			step.Ended, n = false, i
			break
		}
		if err := t.count(ctx, r, counts, now); err != nil {
			return false, err
		}
		n = i + 1
	}
	switch {
	case step.Ended:
		step.DueAt = now.Add(countEvery)
	case t.done == turn.Pieces:
		step.DueAt = now
	}
	if !step.Ended {
		step.Reached = results[n-1].ID.UUID
	}
	for of, c := range counts {
		step.Counts = append(step.Counts, SpanCounts{
			Version: of.version, Span: of.span, At: of.at, Results: c.Results, Counts: c.encode(),
		})
	}
	for _, v := range t.versions {
		if v.changed {
			step.Versions = append(step.Versions, v.VersionReference)
		}
	}
	if err := t.deps.Store.AddDrift(ctx, t.watch, step); err != nil {
		return false, err
	}
	t.watch.Reached, t.ended = step.Reached, step.Ended
	t.results += n
	for _, v := range t.versions {
		v.changed = false
	}
	t.parts.WithLabelValues("ok").Inc()
	t.counted.Add(float64(n))
	return !step.Ended, nil
}

// full tells whether a part has so many counts that it ends.
func full(counts map[spanKey]*Counts) bool {
	targets := 0
	for _, c := range counts {
		targets += len(c.Targets)
	}
	return len(counts) > maxSpans || targets > maxTargets && len(counts) > leastSpans
}

// count counts a result in the spans that it is of (spec: drift-spans).
func (t *counting) count(ctx context.Context, r Answer, counts map[spanKey]*Counts, now time.Time) error {
	if r.Answers == nil {
		return nil
	}
	v, err := t.version(ctx, r.Version)
	if err != nil {
		return err
	}
	answers, err := t.parser.Parse(r.Answers)
	if err != nil {
		t.deps.Log.WarnContext(ctx, "the answers of a result cannot be read and are not counted", "result", r.ID.String(), "error", err)
		return nil
	}
	at := r.ID.Time()
	in := func(span Span) {
		of := spanKey{r.Version, span, span.Begin(at)}
		c := counts[of]
		if c == nil {
			c = v.plan.newCounts()
			counts[of] = c
		}
		v.plan.add(c, answers)
	}
	if v.First < FirstResults {
		v.First, v.FirstTo, v.changed = v.First+1, at, true
		if v.First == 1 {
			v.FirstFrom = at
		}
		in(OfFirst)
	} else if now.Sub(at) < RecentTime {
		in(OfTenMinutes)
	}
	in(OfHour)
	return nil
}

func (t *counting) version(ctx context.Context, number int32) (*version, error) {
	if v, known := t.versions[number]; known {
		return v, nil
	}
	defined, err := t.deps.Store.Version(ctx, t.watch.Account, t.watch.Prism, number)
	if err != nil {
		return nil, err
	}
	first, err := t.deps.Store.DriftVersion(ctx, t.watch.Account, t.watch.Prism, number)
	if err != nil {
		return nil, err
	}
	v := &version{VersionReference: first, plan: newPlan(defined.Definition)}
	t.versions[number] = v
	return v, nil
}
