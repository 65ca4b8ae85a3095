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

// emptyConsole knows no session. Every method but Session would panic.
type emptyConsole struct{ contract.Console }

func (emptyConsole) Session(context.Context, contract.SessionDigest) (contract.Session, error) {
	return contract.Session{}, nil
}

// serveBoth serves results to token, and the console to sessionToken.
func serveBoth(t *testing.T) string {
	t.Helper()
	return serve(t, func(app *fiber.App, log *slog.Logger) {
		wire.MountConsole(app, emptyConsole{}, tokens(sessionToken), log)
		wire.MountResults(app, noResults{}, tokens(token), log)
	})
}

const sessionToken = "the-token-of-the-console"

// Who may call results for callers of the API may not say that somebody has signed in, and the console may call nothing else.
//
// spec: session-tokens
func TestTheConsoleHasATokenOfItsOwn(t *testing.T) {
	t.Parallel()
	url := serveBoth(t)
	for name, shown := range map[string]string{"that of results": token, "that of the console": sessionToken} {
		console, err := wire.NewConsole(wire.ClientConfig{URL: url, Tokens: tokens(shown)}, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		defer console.Close()
		_, sessionErr := console.Session(t.Context(), contract.SessionDigest{})
		_, signErr := console.SignInAs(t.Context(), contract.SignInAs{})
		results, err := wire.NewResults(wire.ClientConfig{URL: url, Tokens: tokens(shown)}, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		defer results.Close()
		_, accountErr := results.Account(t.Context(), contract.KeyDigest{})
		ofConsole := shown == sessionToken
		if refused := errors.Is(sessionErr, contract.ErrUnavailable); refused == ofConsole {
			t.Errorf("a session, with %s: %v", name, sessionErr)
		}
		if refused := errors.Is(signErr, contract.ErrUnavailable); refused == ofConsole {
			t.Errorf("a sign-in, with %s: %v", name, signErr)
		}
		if refused := errors.Is(accountErr, contract.ErrUnavailable); refused != ofConsole {
			t.Errorf("an account, with %s: %v", name, accountErr)
		}
	}
}

func TestTheConsoleInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Console(t, func(_ *testing.T, c contract.Console) contract.Console { return c })
}

func TestTheConsoleOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Console(t, func(t *testing.T, c contract.Console) contract.Console {
		url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountConsole(app, c, tokens(sessionToken), log) })
		client, err := wire.NewConsole(wire.ClientConfig{URL: url, Tokens: tokens(sessionToken)}, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	})
}
