package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of the methods of calibrations.
const (
	pathCreateCalibration  = "/internal/create-calibration"
	pathListCalibrations   = "/internal/list-calibrations"
	pathCalibration        = "/internal/calibration"
	pathPinCalibrations    = "/internal/pin-calibrations"
	pathPinnedCalibrations = "/internal/pinned-calibrations"
)

// The arguments of the methods of calibrations. What a method does not need is left out.
type argsCalibration struct {
	Key  contract.KeyDigest
	Of   contract.VersionRef
	New  contract.NewCalibration   `json:",omitzero"`
	List contract.CalibrationList  `json:",omitzero"`
	ID   prism.CalibrationID       `json:",omitzero"`
	Pins []contract.CalibrationPin `json:",omitzero"`
}

func (r *results) CreateCalibration(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, n contract.NewCalibration,
) (contract.Response, error) {
	return r.call(ctx, pathCreateCalibration, argsCalibration{Key: key, Of: of, New: n})
}

func (r *results) ListCalibrations(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.CalibrationList,
) (contract.Response, error) {
	return r.lookUp(ctx, pathListCalibrations, argsCalibration{Key: key, Of: of, List: q})
}

func (r *results) Calibration(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, id prism.CalibrationID,
) (contract.Response, error) {
	return r.lookUp(ctx, pathCalibration, argsCalibration{Key: key, Of: of, ID: id})
}

func (r *results) PinCalibrations(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef, pins []contract.CalibrationPin,
) (contract.Response, error) {
	return r.call(ctx, pathPinCalibrations, argsCalibration{Key: key, Of: of, Pins: pins})
}

func (r *results) PinnedCalibrations(
	ctx context.Context, key contract.KeyDigest, of contract.VersionRef,
) (contract.Response, error) {
	return r.lookUp(ctx, pathPinnedCalibrations, argsCalibration{Key: key, Of: of})
}

func mountCalibrations(app *fiber.App, c contract.Calibrations, log *slog.Logger) {
	post(app, log, pathCreateCalibration, func(ctx context.Context, a argsCalibration) (contract.Response, error) {
		return c.CreateCalibration(ctx, a.Key, a.Of, a.New)
	})
	find(app, log, pathListCalibrations, func(ctx context.Context, a argsCalibration) (contract.Response, error) {
		return c.ListCalibrations(ctx, a.Key, a.Of, a.List)
	})
	find(app, log, pathCalibration, func(ctx context.Context, a argsCalibration) (contract.Response, error) {
		return c.Calibration(ctx, a.Key, a.Of, a.ID)
	})
	post(app, log, pathPinCalibrations, func(ctx context.Context, a argsCalibration) (contract.Response, error) {
		return c.PinCalibrations(ctx, a.Key, a.Of, a.Pins)
	})
	find(app, log, pathPinnedCalibrations, func(ctx context.Context, a argsCalibration) (contract.Response, error) {
		return c.PinnedCalibrations(ctx, a.Key, a.Of)
	})
}
