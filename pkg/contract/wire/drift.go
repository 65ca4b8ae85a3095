package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of the methods of drift.
const (
	pathReadDrift = "/internal/read-drift"
	pathSetDrift  = "/internal/set-drift"
)

// argsDrift are the arguments of the methods of drift. What a method does not need is left out.
type argsDrift struct {
	Key     contract.KeyDigest
	Ref     prism.Ref
	Version int32                `json:",omitzero"` // ReadDrift
	Change  contract.DriftChange `json:",omitzero"` // SetDrift
}

func (r *results) ReadDrift(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, version int32,
) (contract.Response, error) {
	return r.lookUp(ctx, pathReadDrift, argsDrift{Key: key, Ref: ref, Version: version})
}

func (r *results) SetDrift(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, c contract.DriftChange,
) (contract.Response, error) {
	return r.call(ctx, pathSetDrift, argsDrift{Key: key, Ref: ref, Change: c})
}

func mountDrift(app *fiber.App, d contract.Drift, log *slog.Logger) {
	find(app, log, pathReadDrift, func(ctx context.Context, a argsDrift) (contract.Response, error) {
		return d.ReadDrift(ctx, a.Key, a.Ref, a.Version)
	})
	post(app, log, pathSetDrift, func(ctx context.Context, a argsDrift) (contract.Response, error) {
		return d.SetDrift(ctx, a.Key, a.Ref, a.Change)
	})
}
