package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of contract.Declarations.
const (
	pathDeclareAccount = "/internal/declare-account"
	pathDeclareKey     = "/internal/declare-key"
	pathWithdrawKey    = "/internal/withdraw-key"
	pathOperatorKey    = "/internal/operator-key"
)

// Declarations is contract.Declarations over HTTP. Close closes the idle connections; calls under way go on.
type Declarations interface {
	contract.Declarations
	Close()
}

type declarations struct{ *client }

// NewDeclarations makes the client. Its first call connects.
func NewDeclarations(cfg ClientConfig, deps ClientDeps) (Declarations, error) {
	c, err := newClient(cfg, deps)
	return declarations{c}, err
}

func (d declarations) DeclareAccount(ctx context.Context, a contract.DeclareAccount) (prism.AccountID, error) {
	return decode[prism.AccountID](d.call(ctx, pathDeclareAccount, &a))
}

func (d declarations) DeclareKey(ctx context.Context, k contract.DeclareKey) (contract.DeclaredKey, error) {
	return decode[contract.DeclaredKey](d.call(ctx, pathDeclareKey, k))
}

func (d declarations) WithdrawKey(ctx context.Context, k contract.WithdrawKey) error {
	_, err := d.call(ctx, pathWithdrawKey, k)
	return err
}

func (d declarations) OperatorKey(ctx context.Context, k contract.OperatorKey) (contract.DeclaredKey, error) {
	return decode[contract.DeclaredKey](d.call(ctx, pathOperatorKey, k))
}

// MountDeclarations serves declarations to callers that show one of their own tokens. It comes before MountResults, which asks for a token
// of results on every other path.
func MountDeclarations(app *fiber.App, d contract.Declarations, tokens *Tokens, log *slog.Logger) {
	postOwn(app, tokens, log, pathDeclareAccount, d.DeclareAccount)
	postOwn(app, tokens, log, pathDeclareKey, d.DeclareKey)
	postOwn(app, tokens, log, pathWithdrawKey, func(ctx context.Context, k contract.WithdrawKey) (struct{}, error) {
		return struct{}{}, d.WithdrawKey(ctx, k)
	})
	postOwn(app, tokens, log, pathOperatorKey, d.OperatorKey)
}
