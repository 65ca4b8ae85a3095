package search

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/polling"
)

const (
	// indexEvery is how often a process looks for what is not indexed.
	indexEvery = time.Second
	// mostAtOnce bounds how many changes, or old results, are indexed in one transaction, and pieceTime is what it should take at most: it
	// has SQLite's only lock for writers.
	mostAtOnce, leastAtOnce = 250, 8
	pieceTime               = 50 * time.Millisecond
)

// Indexer keeps the indexes of all accounts (spec: index-lag).
type Indexer struct {
	store Store
	now   func() time.Time
	late  prometheus.Gauge
}

// NewIndexer makes an Indexer.
func NewIndexer(s Store, now func() time.Time) *Indexer {
	return &Indexer{store: s, now: now, late: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prism_index_late_seconds",
		Help: "How long ago the oldest change was made that is not in the index of results; 0 without one.",
	})}
}

// Measure registers the metrics.
func (i *Indexer) Measure(to prometheus.Registerer) error { return to.Register(i.late) }

// Run indexes until ctx ends. Changes come before old results, so that a new index is of use soon. What a failed attempt leaves, the next
// one indexes. The store's metrics have the error.
func (i *Indexer) Run(ctx context.Context) {
	atOnce := mostAtOnce
	polling.Repeat(ctx, func(ctx context.Context) time.Duration {
		lags, err := i.store.Behind(ctx)
		if err != nil {
			return indexEvery
		}
		late, pause := time.Duration(0), indexEvery
		for _, lag := range lags {
			began := time.Now()
			more := false
			if lag.At != nil {
				late = max(late, i.now().Sub(*lag.At))
				more, err = i.store.IndexChanges(ctx, lag.Account, atOnce)
			}
			if lag.Old && !more && err == nil {
				more, err = i.store.IndexOld(ctx, lag.Account, atOnce)
			}
			if more && err == nil {
				pause = 0
			}
			took := time.Since(began)
			if took > pieceTime {
				atOnce = max(atOnce/2, leastAtOnce)
			} else if took < pieceTime/2 {
				atOnce = min(atOnce*2, mostAtOnce)
			}
			// Others who write to SQLite's file look for its lock ten times a second, and give up when they never find it free.
			if !polling.Pause(ctx, took/2) {
				return 0
			}
		}
		i.late.Set(late.Seconds())
		return pause
	})
}
