package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
)

// The paths of the methods of deliveries.
const (
	pathLeaseDeliveries = "/internal/lease-deliveries"
	pathSaveDeliveries  = "/internal/save-deliveries"
)

// Deliveries is contract.Deliveries over HTTP. Close closes the idle connections; calls under way go on.
type Deliveries interface {
	contract.Deliveries
	Close()
}

// NewDeliveries makes the client of the service that sends events. Its first call connects.
func NewDeliveries(cfg ClientConfig, deps ClientDeps) (Deliveries, error) {
	return NewResults(cfg, deps)
}

func (r *results) LeaseDeliveries(ctx context.Context, q contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	return decode[*contract.DeliveriesLease](r.call(ctx, pathLeaseDeliveries, q))
}

func (r *results) SaveDeliveries(ctx context.Context, s contract.SaveDeliveries) error {
	_, err := r.call(ctx, pathSaveDeliveries, &s)
	return err
}

func mountDeliveries(app *fiber.App, d contract.Deliveries, log *slog.Logger) {
	postJSON(app, log, pathLeaseDeliveries, d.LeaseDeliveries)
	postJSON(app, log, pathSaveDeliveries, func(ctx context.Context, s contract.SaveDeliveries) (struct{}, error) {
		return struct{}{}, d.SaveDeliveries(ctx, s)
	})
}
