package wire_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/contracttest"
	"github.com/prism-results/prism/pkg/contract/wire"
)

// noDeliveries has no webhook that is due.
type noDeliveries struct{}

func (noDeliveries) LeaseDeliveries(context.Context, contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	return nil, nil
}

func (noDeliveries) SaveDeliveries(context.Context, contract.SaveDeliveries) error {
	return contract.ErrLeaseLost
}

func TestDeliveriesInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Deliveries(t, func(_ *testing.T, d contract.Deliveries) contract.Deliveries { return d })
}

func TestDeliveriesOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Deliveries(t, func(t *testing.T, d contract.Deliveries) contract.Deliveries {
		url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountDeliveries(app, d, tokens(deliveriesToken), log) })
		return dial(t, url, deliveriesToken, wire.NewDeliveries)
	})
}
