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

// emptyConsole knows no session. Every method but Session would panic.
type emptyConsole struct{ contract.Console }

func (emptyConsole) Session(context.Context, contract.SessionDigest) (contract.Session, error) {
	return contract.Session{}, nil
}

func TestTheConsoleInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Console(t, func(_ *testing.T, c contract.Console) contract.Console { return c })
}

func TestTheConsoleOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Console(t, func(t *testing.T, c contract.Console) contract.Console {
		url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountConsole(app, c, tokens(sessionToken), log) })
		return dial(t, url, sessionToken, wire.NewConsole)
	})
}
