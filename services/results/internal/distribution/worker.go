package distribution

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/polling"
)

const (
	// pollEvery is the time between two looks for something to count. A look at many accounts takes longer, and is at most a twentieth.
	pollEvery, lookFactor = time.Second, 20
	// pieceSize is how many changes, and how many old results, are counted in a transaction: a few hundredths of a second.
	pieceSize = 1000
	// piecesInARow is how many pieces of an account are counted before the others get a turn.
	piecesInARow = 20
	// pieceLimit bounds a piece.
	pieceLimit = 10 * time.Second
	// retryAfter is the pause after an error.
	retryAfter = 5 * time.Second
)

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
	polling.Repeat(ctx, func(ctx context.Context) time.Duration {
		pause, err := w.Work(ctx)
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "the answers of results could not be counted, which will be repeated", "error", err)
			return retryAfter
		}
		return pause
	})
}

// Work counts some pieces of each account that waits, and returns how long to pause.
func (w *Worker) Work(ctx context.Context) (pause time.Duration, err error) {
	begun := time.Now()
	waiting, err := w.look(ctx)
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
		more := true
		for n := 0; more && n < piecesInARow; n++ {
			if more, err = w.piece(ctx, a); err != nil {
				return 0, err
			}
		}
		if more {
			pause = 0
		}
	}
	return pause, nil
}

func (w *Worker) look(ctx context.Context) (waiting []Waiting, err error) {
	ctx, cancel := context.WithTimeout(ctx, pieceLimit)
	defer cancel()
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

// piece counts a piece, and then pauses as long, so that it takes at most half of one connection.
func (w *Worker) piece(ctx context.Context, a Waiting) (more bool, err error) {
	begun := time.Now()
	counting, cancel := context.WithTimeout(ctx, pieceLimit)
	defer cancel()
	if more, err = w.store.Count(counting, a.Account, pieceSize); err != nil || !more {
		return more, err
	}
	if !polling.Pause(ctx, time.Since(begun)) {
		return false, ctx.Err()
	}
	return true, nil
}
