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
	"github.com/prism-results/prism/pkg/prism"
)

const operatorToken = "the-token-of-the-operator"

// noDeclarations has no account that an object declared.
type noDeclarations struct{}

func (noDeclarations) DeclareAccount(context.Context, contract.DeclareAccount) (prism.AccountID, error) {
	return prism.AccountID{}, contract.ErrNameTaken
}

func (noDeclarations) DeclareKey(context.Context, contract.DeclareKey) (contract.DeclaredKey, error) {
	return contract.DeclaredKey{}, contract.ErrNotDeclared
}

func (noDeclarations) WithdrawKey(context.Context, contract.WithdrawKey) error {
	return contract.ErrNotDeclared
}

func (noDeclarations) OperatorKey(context.Context, contract.OperatorKey) (contract.DeclaredKey, error) {
	return contract.DeclaredKey{}, contract.ErrNotDeclared
}

// Who makes accounts and keys may call nothing else of results; and nobody else may make them.
//
// spec: operator-token
func TestDeclarationsHaveATokenOfTheirOwn(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) {
		wire.MountConsole(app, emptyConsole{}, tokens(sessionToken), log)
		wire.MountDeliveries(app, noDeliveries{}, tokens(deliveriesToken), log)
		wire.MountDeclarations(app, noDeclarations{}, tokens(operatorToken), log)
		wire.MountResults(app, noResults{}, tokens(token), log)
	})
	for _, shown := range []string{token, sessionToken, deliveriesToken, operatorToken} {
		cfg := wire.ClientConfig{URL: url, Tokens: tokens(shown)}
		declarations, err := wire.NewDeclarations(cfg, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		defer declarations.Close()
		_, account := declarations.DeclareAccount(t.Context(), contract.DeclareAccount{})
		_, key := declarations.DeclareKey(t.Context(), contract.DeclareKey{})
		_, own := declarations.OperatorKey(t.Context(), contract.OperatorKey{})
		for i, err := range []error{account, key, own, declarations.WithdrawKey(t.Context(), contract.WithdrawKey{})} {
			if errors.Is(err, contract.ErrUnavailable) == (shown == operatorToken) {
				t.Errorf("%d with %s: %v", i, shown, err)
			}
		}
		if shown != operatorToken {
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
		deliveries, err := wire.NewDeliveries(cfg, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		defer deliveries.Close()
		if _, err := deliveries.LeaseDeliveries(t.Context(), contract.LeaseDeliveries{}); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("deliveries: %v", err)
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

func TestDeclarationsInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Declarations(t, func(_ *testing.T, d contract.Declarations) contract.Declarations { return d })
}

func TestDeclarationsOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Declarations(t, func(t *testing.T, d contract.Declarations) contract.Declarations {
		url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountDeclarations(app, d, tokens(operatorToken), log) })
		client, err := wire.NewDeclarations(wire.ClientConfig{URL: url, Tokens: tokens(operatorToken)}, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	})
}
