package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of the methods of quality.
const (
	pathQuality    = "/internal/quality"
	pathThresholds = "/internal/thresholds"
	pathCompare    = "/internal/compare"
)

type argsQuality struct {
	Key   contract.KeyDigest
	Of    contract.VersionRef
	Query contract.QualityQuery
}

type argsThresholds struct {
	Key   contract.KeyDigest
	Of    contract.VersionRef
	Query contract.ThresholdsQuery
}

type argsCompare struct {
	Key   contract.KeyDigest
	Ref   prism.Ref
	Query contract.CompareQuery
}

func (r *results) Quality(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.QualityQuery,
) (contract.Response, error) {
	return r.lookUp(ctx, pathQuality, argsQuality{key, of, q})
}

func (r *results) Thresholds(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.ThresholdsQuery,
) (contract.Response, error) {
	return r.lookUp(ctx, pathThresholds, argsThresholds{key, of, q})
}

func (r *results) Compare(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, q contract.CompareQuery,
) (contract.Response, error) {
	return r.lookUp(ctx, pathCompare, argsCompare{key, ref, q})
}

func mountQuality(app *fiber.App, q contract.Quality, log *slog.Logger) {
	find(app, log, pathQuality, func(ctx context.Context, a argsQuality) (contract.Response, error) {
		return q.Quality(ctx, a.Key, a.Of, a.Query)
	})
	find(app, log, pathThresholds, func(ctx context.Context, a argsThresholds) (contract.Response, error) {
		return q.Thresholds(ctx, a.Key, a.Of, a.Query)
	})
	find(app, log, pathCompare, func(ctx context.Context, a argsCompare) (contract.Response, error) {
		return q.Compare(ctx, a.Key, a.Ref, a.Query)
	})
}
