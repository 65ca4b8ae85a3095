package wire_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
)

// The tokens of those who call results, beside token, which answers callers of the API.
const (
	sessionToken    = "the-token-of-the-console"
	deliveriesToken = "the-token-of-webhooks"
	operatorToken   = "the-token-of-the-operator"
)

// Who answers callers of the API may not say that somebody has signed in, who sends events calls the internet, and who makes accounts and
// keys could make any: each may call what its token is of, and nothing else of results.
//
// spec: session-tokens, deliveries-token, operator-token
func TestEachTokenAllowsWhatItIsOfAlone(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) {
		wire.MountConsole(app, emptyConsole{}, tokens(sessionToken), log)
		wire.MountDeliveries(app, noDeliveries{}, tokens(deliveriesToken), log)
		wire.MountDeclarations(app, noDeclarations{}, tokens(operatorToken), log)
		wire.MountResults(app, noResults{}, tokens(token), log)
	})
	for _, shown := range []string{token, sessionToken, deliveriesToken, operatorToken} {
		for allowed, calls := range callAll(t, wire.ClientConfig{URL: url, Tokens: tokens(shown)}) {
			for name, err := range calls {
				if refused := errors.Is(err, contract.ErrUnavailable); refused == (shown == allowed) {
					t.Errorf("%s with %s: %v", name, shown, err)
				}
			}
		}
	}
}

// callAll makes calls of all kinds, and returns their errors by their names, and by the token that allows them.
func callAll(t *testing.T, cfg wire.ClientConfig) map[string]map[string]error {
	t.Helper()
	results, errResults := wire.NewResults(cfg, wire.ClientDeps{})
	console, errConsole := wire.NewConsole(cfg, wire.ClientDeps{})
	deliveries, errDeliveries := wire.NewDeliveries(cfg, wire.ClientDeps{})
	declarations, errDeclarations := wire.NewDeclarations(cfg, wire.ClientDeps{})
	if err := errors.Join(errResults, errConsole, errDeliveries, errDeclarations); err != nil {
		t.Fatal(err)
	}
	for _, client := range []interface{ Close() }{results, console, deliveries, declarations} {
		defer client.Close()
	}
	ctx := t.Context()
	_, account := results.Account(ctx, contract.KeyDigest{})
	_, session := console.Session(ctx, contract.SessionDigest{})
	_, signIn := console.SignInAs(ctx, contract.SignInAs{})
	_, lease := deliveries.LeaseDeliveries(ctx, contract.LeaseDeliveries{})
	_, declared := declarations.DeclareAccount(ctx, contract.DeclareAccount{})
	_, key := declarations.DeclareKey(ctx, contract.DeclareKey{})
	_, operator := declarations.OperatorKey(ctx, contract.OperatorKey{})
	return map[string]map[string]error{
		token:        {"an account": account},
		sessionToken: {"a session": session, "a sign-in": signIn},
		deliveriesToken: {
			"a lease of deliveries": lease, "saved deliveries": deliveries.SaveDeliveries(ctx, contract.SaveDeliveries{}),
		},
		operatorToken: {
			"a declared account": declared, "a declared key": key, "the operator's key": operator,
			"a withdrawn key": declarations.WithdrawKey(ctx, contract.WithdrawKey{}),
		},
	}
}
