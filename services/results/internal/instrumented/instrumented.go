// Package instrumented adds metrics to the database of a store: how long each operation takes and how it ends.
package instrumented

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// database is a sqldb.Database that measures another one. It embeds nothing, so that a new method of the interface breaks
// the build here instead of being unmeasured.
type database struct {
	inner     sqldb.Database
	durations *prometheus.HistogramVec
}

// New measures inner in the histogram prism_store_operation_duration_seconds{operation,outcome}, where outcome is ok, not_found,
// conflict, unavailable or error. Several stores may share a registerer.
func New(inner sqldb.Database, metrics prometheus.Registerer) sqldb.Database {
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "prism_store_operation_duration_seconds",
		Help: "How long operations of the store took, waiting for a connection included.",
		// From a cached read to a wait for a connection that never comes.
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"operation", "outcome"})
	if err := metrics.Register(durations); err != nil {
		known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err)
		if !ok {
			panic(err) // another metric has this name: a mistake in the code
		}
		durations = known.ExistingCollector.(*prometheus.HistogramVec) // the same name and labels
	}
	return &database{inner: inner, durations: durations}
}

// measure calls fn and measures how long it takes and how it ends.
func (d *database) measure(operation string, fn func() error) error {
	begun := time.Now()
	err := fn()
	d.durations.WithLabelValues(operation, outcome(err)).Observe(time.Since(begun).Seconds())
	return err
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case store.IsNotFound(err):
		return "not_found"
	case errors.Is(err, store.ErrUnavailable):
		return "unavailable"
	case store.IsConflict(err):
		return "conflict"
	default:
		return "error"
	}
}

// LookUp implements sqldb.Database.
func (d *database) LookUp(ctx context.Context, s sqldb.Statement, read func(*sqldb.Row)) error {
	return d.measure(s.Operation, func() error { return d.inner.LookUp(ctx, s, read) })
}

// Run implements sqldb.Database.
func (d *database) Run(ctx context.Context, s sqldb.Statement, read sqldb.Reader) error {
	return d.measure(s.Operation, func() error { return d.inner.Run(ctx, s, read) })
}

// Transaction implements sqldb.Database.
func (d *database) Transaction(ctx context.Context, operation string, fn func(sqldb.Run) error) error {
	return d.measure(operation, func() error { return d.inner.Transaction(ctx, operation, fn) })
}

// SaveResult implements sqldb.Database.
func (d *database) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (saved store.Saved, err error) {
	err = d.measure("save_result", func() (err error) {
		saved, err = d.inner.SaveResult(ctx, account, r)
		return err
	})
	return saved, err
}

// SaveRetry implements sqldb.Database.
func (d *database) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (saved store.Saved, err error) {
	err = d.measure("save_retry", func() (err error) {
		saved, err = d.inner.SaveRetry(ctx, account, r, of)
		return err
	})
	return saved, err
}

// InsertRows implements sqldb.Database. It is part of a transaction, which is measured.
func (d *database) InsertRows(ctx context.Context, run sqldb.Run, rows sqldb.Rows) error {
	return d.inner.InsertRows(ctx, run, rows)
}

// Snapshot implements sqldb.Database. It is part of a transaction, which is measured.
func (d *database) Snapshot(ctx context.Context, run sqldb.Run) error {
	return d.inner.Snapshot(ctx, run)
}

// Locking implements sqldb.Database.
func (d *database) Locking(skip bool) string { return d.inner.Locking(skip) }

// Sharing implements sqldb.Database.
func (d *database) Sharing() string { return d.inner.Sharing() }

// Size implements sqldb.Database.
func (d *database) Size(columns ...string) string { return d.inner.Size(columns...) }

// EndAfter implements sqldb.Database.
func (d *database) EndAfter(text string, bytes int, wide ...string) string {
	return d.inner.EndAfter(text, bytes, wide...)
}

// IndexResults implements sqldb.Database. It is part of a transaction, which is measured.
func (d *database) IndexResults(ctx context.Context, run sqldb.Run, account prism.AccountID, rows []sqldb.Indexed) error {
	return d.inner.IndexResults(ctx, run, account, rows)
}

// Alternatives implements sqldb.Database.
func (d *database) Alternatives(n finding.Needs) []finding.Needs { return d.inner.Alternatives(n) }

// Rarity implements sqldb.Database.
func (d *database) Rarity(ctx context.Context, n finding.Needs) (r sqldb.Rarity, err error) {
	err = d.measure("rarity", func() error {
		r, err = d.inner.Rarity(ctx, n)
		return err
	})
	return r, err
}

// Having implements sqldb.Database.
func (d *database) Having(l *sqldb.List, account prism.AccountID, n finding.Needs, r sqldb.Rarity) {
	d.inner.Having(l, account, n, r)
}

// TouchKeys implements sqldb.Database.
func (d *database) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	return d.measure("touch_keys", func() error { return d.inner.TouchKeys(ctx, used) })
}

// Confirm implements sqldb.Database.
func (d *database) Confirm(ctx context.Context, account prism.AccountID, id prism.ResultID) error {
	return d.measure("confirm", func() error { return d.inner.Confirm(ctx, account, id) })
}

// ConfirmAll implements sqldb.Database.
func (d *database) ConfirmAll(ctx context.Context, account prism.AccountID) error {
	return d.measure("confirm", func() error { return d.inner.ConfirmAll(ctx, account) })
}

// Fold implements sqldb.Database.
func (d *database) Fold(ctx context.Context) error {
	return d.measure("fold", func() error { return d.inner.Fold(ctx) })
}

// FoldAll implements sqldb.Database.
func (d *database) FoldAll(ctx context.Context) error {
	return d.measure("fold_all", func() error { return d.inner.FoldAll(ctx) })
}

// Ping implements sqldb.Database.
func (d *database) Ping(ctx context.Context) error {
	return d.measure("ping", func() error { return d.inner.Ping(ctx) })
}

// Full implements sqldb.Database.
func (d *database) Full() bool { return d.inner.Full() }

// ProbeWrite implements sqldb.Database.
func (d *database) ProbeWrite(ctx context.Context) error {
	return d.measure("probe_write", func() error { return d.inner.ProbeWrite(ctx) })
}

// Close implements sqldb.Database.
func (d *database) Close() { d.inner.Close() }
