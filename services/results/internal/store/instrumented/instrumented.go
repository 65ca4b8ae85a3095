// Package instrumented adds metrics to a store: how long each operation takes and how it ends.
package instrumented

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store is a store.Store that measures another store. It embeds nothing, so that a new method of the interface breaks the
// build here instead of being unmeasured.
type Store struct {
	inner     store.Store
	durations *prometheus.HistogramVec
}

var _ store.Store = (*Store)(nil)

// New measures inner in the histogram prism_store_operation_duration_seconds{operation,outcome}, where outcome is ok, not_found,
// conflict, unavailable or error. Several stores may share a registerer.
func New(inner store.Store, metrics prometheus.Registerer) *Store {
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
	return &Store{inner: inner, durations: durations}
}

// measure starts a measurement, and returns the function that ends it.
func (s *Store) measure(operation string) func(*error) {
	begun := time.Now()
	return func(err *error) {
		s.durations.WithLabelValues(operation, outcome(*err)).Observe(time.Since(begun).Seconds())
	}
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if _, retried := errors.AsType[*store.RetriedError](err); retried {
		return "conflict"
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "not_found"
	case errors.Is(err, store.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, contract.ErrKeyTaken), errors.Is(err, store.ErrSlugTaken), errors.Is(err, store.ErrNameTaken),
		errors.Is(err, store.ErrArchived), errors.Is(err, store.ErrStale):
		return "conflict"
	default:
		return "error"
	}
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer s.measure("ping")(&err)
	return s.inner.Ping(ctx)
}

// Close implements store.Store.
func (s *Store) Close() { s.inner.Close() }

// CreateFacts implements store.Results.
func (s *Store) CreateFacts(ctx context.Context, q contract.CreateQuery) (facts store.CreateFacts, err error) {
	defer s.measure("create_facts")(&err)
	return s.inner.CreateFacts(ctx, q)
}

// ResultFacts implements store.Results.
func (s *Store) ResultFacts(
	ctx context.Context, key contract.KeyDigest, id prism.ResultID, in store.Input,
) (facts store.ResultFacts, err error) {
	defer s.measure("result_facts")(&err)
	return s.inner.ResultFacts(ctx, key, id, in)
}

// SaveResult implements store.Results.
func (s *Store) SaveResult(
	ctx context.Context, account prism.AccountID, r prism.Result,
) (saved store.Saved, err error) {
	defer s.measure("save_result")(&err)
	return s.inner.SaveResult(ctx, account, r)
}

// SaveRetry implements store.Results.
func (s *Store) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (saved store.Saved, err error) {
	defer s.measure("save_retry")(&err)
	return s.inner.SaveRetry(ctx, account, r, of)
}

// CreatePrism implements store.Definitions.
func (s *Store) CreatePrism(ctx context.Context, account prism.AccountID, p prism.Prism) (err error) {
	defer s.measure("create_prism")(&err)
	return s.inner.CreatePrism(ctx, account, p)
}

// Prism implements store.Definitions.
func (s *Store) Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (p prism.Prism, err error) {
	defer s.measure("prism")(&err)
	return s.inner.Prism(ctx, account, ref)
}

// ListPrisms implements store.Definitions.
func (s *Store) ListPrisms(
	ctx context.Context, account prism.AccountID, archived bool, page store.Page,
) (prisms []prism.Prism, err error) {
	defer s.measure("list_prisms")(&err)
	return s.inner.ListPrisms(ctx, account, archived, page)
}

// Version implements store.Definitions.
func (s *Store) Version(
	ctx context.Context, account prism.AccountID, id prism.PrismID, number int32,
) (v prism.Version, err error) {
	defer s.measure("version")(&err)
	return s.inner.Version(ctx, account, id, number)
}

// AddVersion implements store.Definitions.
func (s *Store) AddVersion(
	ctx context.Context, account prism.AccountID, id prism.PrismID, v prism.Version, l prism.Lens,
) (err error) {
	defer s.measure("add_version")(&err)
	return s.inner.AddVersion(ctx, account, id, v, l)
}

// PutLens implements store.Definitions.
func (s *Store) PutLens(
	ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens,
) (err error) {
	defer s.measure("put_lens")(&err)
	return s.inner.PutLens(ctx, account, id, latest, l)
}

// SetArchived implements store.Definitions.
func (s *Store) SetArchived(
	ctx context.Context, account prism.AccountID, id prism.PrismID, at *time.Time,
) (err error) {
	defer s.measure("set_archived")(&err)
	return s.inner.SetArchived(ctx, account, id, at)
}

// ListResults implements store.Listing.
func (s *Store) ListResults(
	ctx context.Context, account prism.AccountID, f store.Filter, page store.Page,
) (saved []store.Saved, err error) {
	defer s.measure("list_results")(&err)
	return s.inner.ListResults(ctx, account, f, page)
}

// ExportResults implements store.Listing.
func (s *Store) ExportResults(
	ctx context.Context, account prism.AccountID, id prism.PrismID, f store.Filter, page store.Page,
) (results []prism.Result, err error) {
	defer s.measure("export_results")(&err)
	return s.inner.ExportResults(ctx, account, id, f, page)
}
