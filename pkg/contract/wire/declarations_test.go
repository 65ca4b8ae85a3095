package wire_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/contracttest"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
)

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

func TestDeclarationsInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Declarations(t, func(_ *testing.T, d contract.Declarations) contract.Declarations { return d })
}

func TestDeclarationsOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Declarations(t, func(t *testing.T, d contract.Declarations) contract.Declarations {
		url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountDeclarations(app, d, tokens(operatorToken), log) })
		return dial(t, url, operatorToken, wire.NewDeclarations)
	})
}
