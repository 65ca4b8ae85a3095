package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
)

// The paths of contract.Deliveries.
const (
	pathLeaseDeliveries = "/internal/lease-deliveries"
	pathSaveDeliveries  = "/internal/save-deliveries"
)

// Deliveries is contract.Deliveries over HTTP. Close closes the idle connections; calls under way go on.
type Deliveries interface {
	contract.Deliveries
	Close()
}

type deliveries struct{ *client }

// NewDeliveries makes the client. Its first call connects.
func NewDeliveries(cfg ClientConfig, deps ClientDeps) (Deliveries, error) {
	c, err := newClient(cfg, deps)
	return deliveries{c}, err
}

func (d deliveries) LeaseDeliveries(ctx context.Context, q contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	return decode[*contract.DeliveriesLease](d.call(ctx, pathLeaseDeliveries, q))
}

func (d deliveries) SaveDeliveries(ctx context.Context, s contract.SaveDeliveries) error {
	_, err := d.call(ctx, pathSaveDeliveries, &s)
	return err
}

// MountDeliveries serves deliveries to callers that show one of their own tokens. It comes before MountResults, which asks for a token of
// results on every other path.
func MountDeliveries(app *fiber.App, d contract.Deliveries, tokens *Tokens, log *slog.Logger) {
	postOwn(app, tokens, log, pathLeaseDeliveries, d.LeaseDeliveries)
	postOwn(app, tokens, log, pathSaveDeliveries, func(ctx context.Context, s contract.SaveDeliveries) (struct{}, error) {
		return struct{}{}, d.SaveDeliveries(ctx, s)
	})
}
