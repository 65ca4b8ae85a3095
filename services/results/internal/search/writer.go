package search

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/background"
)

const (
	// indexEvery is how often a process looks for what is not indexed.
	indexEvery = time.Second
	// mostAtOnce bounds how many changes, or old results, are indexed in one transaction, and pieceTime is what it should take at most: it
	// has SQLite's only lock for writers.
	mostAtOnce, leastAtOnce = 250, 8
	pieceTime               = 50 * time.Millisecond
	pieceLimit              = 10 * time.Second
)

// Indexer keeps the indexes of all accounts (spec: index-lag).
type Indexer struct {
	store  Store
	now    func() time.Time
	log    *slog.Logger
	late   prometheus.Gauge
	atOnce int // changes or old results of the next piece
}

// NewIndexer makes an Indexer.
func NewIndexer(s Store, now func() time.Time, log *slog.Logger) *Indexer {
	return &Indexer{store: s, now: now, log: log, atOnce: mostAtOnce, late: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prism_index_late_seconds",
		Help: "How long ago the oldest change was made that is not in the index of results; 0 without one.",
	})}
}

// Measure registers the metrics.
func (i *Indexer) Measure(to prometheus.Registerer) error { return to.Register(i.late) }

// Run indexes until ctx ends.
func (i *Indexer) Run(ctx context.Context) {
	background.Work{Name: "indexing results", Do: i.work, AfterFailure: indexEvery, Log: i.log}.Run(ctx)
}

// work indexes a piece of each account that waits.
func (i *Indexer) work(ctx context.Context) (pause time.Duration, err error) {
	lags, err := background.Within(ctx, pieceLimit, i.store.Behind)
	if err != nil {
		return 0, err
	}
	late, pause := time.Duration(0), indexEvery
	// Others who write to SQLite's file look for its lock ten times a second, and give up when they never find it free.
	turn := background.Turn{Pieces: 1, Limit: pieceLimit, Pause: func(took time.Duration) time.Duration { return took / 2 }}
	var errs []error
	for _, lag := range lags {
		if lag.At != nil {
			late = max(late, i.now().Sub(*lag.At))
		}
		more, err := turn.Do(ctx, func(ctx context.Context) (bool, error) { return i.piece(ctx, lag) })
		if more {
			pause = 0
		}
		errs = append(errs, err)
	}
	i.late.Set(late.Seconds())
	return pause, errors.Join(errs...)
}

// piece indexes changes and, when no others follow, old results, so that a new index is of use soon.
func (i *Indexer) piece(ctx context.Context, lag Lag) (more bool, err error) {
	began := time.Now()
	if lag.At != nil {
		more, err = i.store.IndexChanges(ctx, lag.Account, i.atOnce)
	}
	if lag.Old && !more && err == nil {
		more, err = i.store.IndexOld(ctx, lag.Account, i.atOnce)
	}
	if took := time.Since(began); took > pieceTime {
		i.atOnce = max(i.atOnce/2, leastAtOnce)
	} else if took < pieceTime/2 {
		i.atOnce = min(i.atOnce*2, mostAtOnce)
	}
	return more, err
}
