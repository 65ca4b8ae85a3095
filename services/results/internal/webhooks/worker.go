package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// foldEvery is how often what happened gets its place while a webhook is enabled, so that events are sent within a second, and lookEvery
	// how often the worker looks for an enabled one.
	foldEvery = 200 * time.Millisecond
	lookEvery = time.Second
	// behindAtOnce bounds the webhooks of a look, and eventsAtOnce the events of a piece.
	behindAtOnce, eventsAtOnce = 1000, 500
	// piecesAtOnce is how many pieces of an account are looked at before other accounts.
	piecesAtOnce = 10
	// rowsAtOnce is how many results of a run an event has at most (spec: webhook-run-rows).
	rowsAtOnce = 100
	// pieceLimit bounds a piece.
	pieceLimit = 10 * time.Second
	// removeEvery and measureEvery are how often a process removes what is kept no longer, and counts.
	removeEvery, measureEvery = 10 * time.Second, 15 * time.Second
)

// WorkerDeps are what a Worker works with; all are required.
type WorkerDeps struct {
	Store interface {
		Store
		Fold(ctx context.Context) error
	}
	Events events.Store
	Sender *Sender
	Now    func() time.Time
	NewID  func() (prism.UUID, error)
	Log    *slog.Logger
}

// Worker finds out which event is for which webhook, and removes deliveries that are kept no longer.
type Worker struct {
	deps    WorkerDeps
	pieces  *prometheus.CounterVec
	all     *prometheus.GaugeVec
	waiting prometheus.Gauge
	oldest  prometheus.Gauge
}

// NewWorker makes a Worker.
func NewWorker(d WorkerDeps) *Worker {
	return &Worker{
		deps: d,
		pieces: background.NewCounters(
			"prism_webhook_fan_outs_total",
			"Pieces of what happened that were looked at for the webhooks of an account, by outcome: ok, failed.",
			"outcome", "ok", "failed",
		),
		all: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "prism_webhooks", Help: "Webhooks of all accounts by state: enabled, disabled.",
		}, []string{"state"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prism_webhook_waiting", Help: "Events that wait to be sent to webhooks.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prism_webhook_oldest_waiting_seconds", Help: "How long the event waits that waits longest to be sent to a webhook; 0 if none does.",
		}),
	}
}

// Measure registers the metrics.
func (w *Worker) Measure(to prometheus.Registerer) error {
	return background.Register(to, w.pieces, w.all, w.waiting, w.oldest)
}

// Run works until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		background.Work{
			Name: "removing deliveries of webhooks", AfterFailure: removeEvery, Log: w.deps.Log,
			Do: background.Every(removeEvery, func(ctx context.Context) (bool, error) {
				return background.Within(ctx, pieceLimit, func(ctx context.Context) (bool, error) {
					return w.deps.Store.RemoveDeliveries(ctx, prism.Now(w.deps.Now))
				})
			}),
		}.Run(ctx)
	})
	group.Go(func() {
		background.Work{
			Name: "counting webhooks", AfterFailure: measureEvery, Log: w.deps.Log,
			Do: func(ctx context.Context) (time.Duration, error) { return measureEvery, w.measure(ctx) },
		}.Run(ctx)
	})
	background.Work{
		Name: "looking for events of webhooks", Do: w.Work, AfterFailure: lookEvery, Failures: w.pieces.WithLabelValues("failed"), Log: w.deps.Log,
	}.Run(ctx)
}

func (w *Worker) measure(ctx context.Context) error {
	m, err := background.Within(ctx, pieceLimit, w.deps.Store.MeasureWebhooks)
	if err != nil {
		return err
	}
	w.all.WithLabelValues("enabled").Set(float64(m.Enabled))
	w.all.WithLabelValues("disabled").Set(float64(m.Disabled))
	w.waiting.Set(float64(m.Waiting))
	oldest := 0.
	if !m.Oldest.IsZero() {
		oldest = max(0, w.deps.Now().Sub(m.Oldest).Seconds())
	}
	w.oldest.Set(oldest)
	return nil
}

// Work has each enabled webhook look at what happened since, and returns after which pause to look again. Without an enabled webhook it does
// nothing else.
func (w *Worker) Work(ctx context.Context) (pause time.Duration, err error) {
	enabled, err := background.Within(ctx, pieceLimit, w.deps.Store.AnyWebhook)
	if err != nil || !enabled {
		return lookEvery, err
	}
	if err := w.deps.Store.Fold(ctx); err != nil {
		return 0, err
	}
	behind, err := background.Within(ctx, pieceLimit, func(ctx context.Context) ([]Behind, error) {
		return w.deps.Store.WebhooksBehind(ctx, behindAtOnce)
	})
	if err != nil {
		return 0, err
	}
	pause = foldEvery
	for rest := behind; len(rest) > 0; {
		n := 1 // the webhooks of an account are next to each other
		for n < len(rest) && rest[n].Account == rest[0].Account {
			n++
		}
		more, failed := w.catchUp(ctx, rest[:n])
		err = errors.Join(err, failed)
		if rest = rest[n:]; more {
			pause = 0
		}
	}
	if len(behind) == behindAtOnce {
		pause = 0
	}
	return pause, err
}

// catchUp has the webhooks of an account look at some of what happened, first those that are furthest behind. more: there may be more.
func (w *Worker) catchUp(ctx context.Context, behind []Behind) (more bool, err error) {
	for range piecesAtOnce {
		same := slices.IndexFunc(behind, func(b Behind) bool { return b.Cursor != behind[0].Cursor })
		if same < 0 {
			same = len(behind)
		}
		next, err := background.Within(ctx, pieceLimit, func(ctx context.Context) (events.Cursor, error) { return w.piece(ctx, behind[:same]) })
		if err != nil {
			return false, err
		}
		w.pieces.WithLabelValues("ok").Inc()
		// Behind a page that is not full there is nothing, or what happened since, which waits for the next look: a look is a transaction,
		// so one for each event would hold up those that make events happen.
		if from := behind[0].Cursor; max(next.Change-from.Change, next.Other-from.Other) < eventsAtOnce {
			if behind = behind[same:]; len(behind) == 0 {
				return false, nil
			}
			continue
		}
		for i := range behind[:same] {
			behind[i].Cursor = next
		}
		// Those that are now as far as others go on with them.
		slices.SortStableFunc(behind, func(a, b Behind) int {
			if a.Cursor.Change != b.Cursor.Change {
				return int(min(1, max(-1, a.Cursor.Change-b.Cursor.Change)))
			}
			return int(min(1, max(-1, a.Cursor.Other-b.Cursor.Other)))
		})
	}
	return true, nil
}

// piece has webhooks with one place look at what follows it, and returns the place behind that.
func (w *Worker) piece(ctx context.Context, behind []Behind) (next events.Cursor, err error) {
	account, from := behind[0].Account, behind[0].Cursor
	created := slices.ContainsFunc(behind, func(b Behind) bool { return slices.Contains(b.Events, api.ResultCreated) })
	happened, next, err := w.deps.Events.ReadEvents(ctx, account, from, eventsAtOnce, created)
	if errors.Is(err, store.ErrChangesRemoved) || errors.Is(err, store.ErrNoSuchChange) {
		// Nobody has looked for a month, or the database lacks what it had: what is there no more cannot be told.
		w.deps.Log.WarnContext(ctx, "webhooks skip events that are not there any more", "webhooks", len(behind), "error", err)
		happened = nil
		next, err = w.deps.Events.LatestEvents(ctx, account)
	}
	if err != nil || next == from {
		return next, err
	}
	out := FanOut{Account: account, From: from, To: next, Now: prism.Now(w.deps.Now)}
	for _, b := range behind {
		least, err := w.deps.NewID()
		if err != nil {
			return next, err
		}
		out.Told = append(out.Told, Told{Webhook: b.Webhook, Generation: b.Generation, Least: least, Events: b.Select(happened)})
	}
	overflowed, err := w.deps.Store.FanOut(ctx, out, w.deps.Sender.prismBy)
	if err != nil {
		return next, err
	}
	crash.At(crash.AfterFanOut)
	w.deps.Sender.ending.WithLabelValues(string(api.Overflow)).Add(float64(len(overflowed)))
	return next, nil
}

// Select is what a webhook is told of what happened, in order. Rows of a run are told together, at the place of the first of them.
func (s Settings) Select(happened []events.Event) (told []events.Event) {
	open := map[prism.RunID]int{} // the index in told of the event that has room for results of a run
	for _, e := range happened {
		if !s.wants(e) {
			continue
		}
		if e.Type != api.ResultCreated || e.Run.IsZero() {
			told = append(told, e)
			continue
		}
		if i, ok := open[e.Run]; ok && len(told[i].Results)+1 < rowsAtOnce {
			told[i].Results = append(told[i].Results, e.Result)
			continue
		}
		open[e.Run] = len(told)
		e.Results = []prism.ResultID{} // the rows of its run are told together
		told = append(told, e)
	}
	return told
}

// wants reports whether a webhook is told of an event, but for its condition.
func (s Settings) wants(e events.Event) bool {
	if !slices.Contains(s.Events, e.Type) || s.Prisms != nil && !slices.Contains(s.Prisms, e.Prism) {
		return false
	}
	if e.Type != api.ResultCreated {
		return true
	}
	return (s.RunRows || e.Run.IsZero()) && (s.Status == "" || s.Status == e.Status)
}
