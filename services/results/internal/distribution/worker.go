package distribution

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/background"
)

const (
	// pollEvery is the time between two looks for something to count. A look at many accounts takes longer, and is at most a twentieth.
	pollEvery, lookFactor = time.Second, 20
	// pieceSize is how many changes, and how many old results, are counted in a transaction: a few hundredths of a second.
	pieceSize = 1000
	// pieceLimit bounds a piece.
	pieceLimit = 10 * time.Second
	// retryAfter is the pause after an error.
	retryAfter = 5 * time.Second
)

// turn is how much of an account is counted before the others. With its pauses, counting takes at most half of one connection.
var turn = background.Turn{Pieces: 20, Limit: pieceLimit, Pause: func(took time.Duration) time.Duration { return took }}

// Worker counts for all accounts.
type Worker struct {
	store  Store
	log    *slog.Logger
	behind prometheus.Gauge
}

// NewWorker makes a Worker over a store.
func NewWorker(s Store, log *slog.Logger) *Worker {
	return &Worker{store: s, log: log, behind: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prism_distribution_behind_changes",
		Help: "Changes of results that are not counted in distributions yet, of all accounts.",
	})}
}

// Measure registers the metrics.
func (w *Worker) Measure(to prometheus.Registerer) error { return to.Register(w.behind) }

// Run counts until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	background.Work{Name: "counting the answers of results", Do: w.Work, AfterFailure: retryAfter, Log: w.log}.Run(ctx)
}

// Work counts some pieces of each account that waits, and returns how long to pause.
func (w *Worker) Work(ctx context.Context) (pause time.Duration, err error) {
	begun := time.Now()
	waiting, err := background.Within(ctx, pieceLimit, w.look)
	if err != nil {
		return 0, err
	}
	pause = max(pollEvery, lookFactor*time.Since(begun))
	for _, a := range waiting {
		if !a.Begun {
			if err := w.store.BeginCounting(ctx, a.Account); err != nil {
				return 0, err
			}
		}
		more, err := turn.Do(ctx, func(ctx context.Context) (bool, error) { return w.store.Count(ctx, a.Account, pieceSize) })
		if err != nil {
			return 0, err
		}
		if more {
			pause = 0
		}
	}
	return pause, nil
}

func (w *Worker) look(ctx context.Context) (waiting []Waiting, err error) {
	if waiting, err = w.store.WaitingAccounts(ctx); err != nil {
		return nil, err
	}
	behind := int64(0)
	for _, a := range waiting {
		behind += a.Changes
	}
	w.behind.Set(float64(behind))
	return waiting, nil
}
