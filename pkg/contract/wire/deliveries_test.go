package wire_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/contracttest"
	"github.com/prism-results/prism/pkg/contract/wire"
)

const deliveriesToken = "the-token-of-webhooks"

// noDeliveries has no webhook that is due.
type noDeliveries struct{}

func (noDeliveries) LeaseDeliveries(context.Context, contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	return nil, nil
}

func (noDeliveries) SaveDeliveries(context.Context, contract.SaveDeliveries) error {
	return contract.ErrLeaseLost
}

// Who sends events calls the internet, and may call nothing else of results; and nobody else learns the secrets of webhooks.
//
// spec: deliveries-token
func TestDeliveriesHaveATokenOfTheirOwn(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) {
		wire.MountConsole(app, emptyConsole{}, tokens(sessionToken), log)
		wire.MountDeliveries(app, noDeliveries{}, tokens(deliveriesToken), log)
		wire.MountResults(app, noResults{}, tokens(token), log)
	})
	for _, shown := range []string{token, sessionToken, deliveriesToken} {
		cfg := wire.ClientConfig{URL: url, Tokens: tokens(shown)}
		deliveries, err := wire.NewDeliveries(cfg, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		defer deliveries.Close()
		_, lease := deliveries.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{})
		save := deliveries.SaveDeliveries(t.Context(), contract.SaveDeliveries{})
		if own := shown == deliveriesToken; errors.Is(lease, contract.ErrUnavailable) == own || errors.Is(save, contract.ErrLeaseLost) != own {
			t.Errorf("with %s: %v, %v", shown, lease, save)
		}
		if shown != deliveriesToken {
			continue
		}
		results, err := wire.NewResults(cfg, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		defer results.Close()
		if _, err := results.Account(t.Context(), contract.KeyDigest{}); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("an account: %v", err)
		}
		console, err := wire.NewConsole(cfg, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		defer console.Close()
		if _, err := console.Session(t.Context(), contract.SessionDigest{}); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("a session: %v", err)
		}
	}
}

func TestDeliveriesInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Deliveries(t, func(_ *testing.T, d contract.Deliveries) contract.Deliveries { return d })
}

func TestDeliveriesOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Deliveries(t, func(t *testing.T, d contract.Deliveries) contract.Deliveries {
		url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountDeliveries(app, d, tokens(deliveriesToken), log) })
		client, err := wire.NewDeliveries(wire.ClientConfig{URL: url, Tokens: tokens(deliveriesToken)}, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	})
}
