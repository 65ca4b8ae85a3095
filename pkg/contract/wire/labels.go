package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of the methods of labels.
const (
	pathPutLabels    = "/internal/put-labels"
	pathResultLabels = "/internal/result-labels"
	pathAddLabels    = "/internal/add-labels"
	pathListLabels   = "/internal/list-labels"
	pathLabelQueue   = "/internal/label-queue"
)

// The arguments of the methods of labels.
type (
	argsLabels struct {
		Key    contract.KeyDigest
		ID     prism.ResultID
		Labels contract.NewLabels `json:",omitzero"` // PutLabels
	}
	argsOfPrism[Q any] struct {
		Key   contract.KeyDigest
		Ref   prism.Ref
		Query Q
	}
)

func (r *results) PutLabels(
	ctx context.Context, key contract.KeyDigest, id prism.ResultID, l contract.NewLabels,
) (contract.Response, error) {
	return r.call(ctx, pathPutLabels, argsLabels{key, id, l})
}

func (r *results) ResultLabels(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.Response, error) {
	return r.lookUp(ctx, pathResultLabels, argsLabels{Key: key, ID: id})
}

func (r *results) AddLabels(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, l contract.ManyLabels,
) (contract.Response, error) {
	return r.call(ctx, pathAddLabels, argsOfPrism[contract.ManyLabels]{key, ref, l})
}

func (r *results) ListLabels(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, q contract.LabelList,
) (contract.Response, error) {
	return r.lookUp(ctx, pathListLabels, argsOfPrism[contract.LabelList]{key, ref, q})
}

func (r *results) LabelQueue(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, q contract.LabelQueue,
) (contract.Response, error) {
	return r.lookUp(ctx, pathLabelQueue, argsOfPrism[contract.LabelQueue]{key, ref, q})
}

func mountLabels(app *fiber.App, l contract.Labels, log *slog.Logger) {
	post(app, log, pathPutLabels, func(ctx context.Context, a argsLabels) (contract.Response, error) {
		return l.PutLabels(ctx, a.Key, a.ID, a.Labels)
	})
	find(app, log, pathResultLabels, func(ctx context.Context, a argsLabels) (contract.Response, error) {
		return l.ResultLabels(ctx, a.Key, a.ID)
	})
	post(app, log, pathAddLabels, func(ctx context.Context, a argsOfPrism[contract.ManyLabels]) (contract.Response, error) {
		return l.AddLabels(ctx, a.Key, a.Ref, a.Query)
	})
	find(app, log, pathListLabels, func(ctx context.Context, a argsOfPrism[contract.LabelList]) (contract.Response, error) {
		return l.ListLabels(ctx, a.Key, a.Ref, a.Query)
	})
	find(app, log, pathLabelQueue, func(ctx context.Context, a argsOfPrism[contract.LabelQueue]) (contract.Response, error) {
		return l.LabelQueue(ctx, a.Key, a.Ref, a.Query)
	})
}
