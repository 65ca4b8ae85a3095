package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of contract.Console.
const (
	pathLink       = "/internal/link"
	pathSignIn     = "/internal/sign-in"
	pathSignInAs   = "/internal/sign-in-as"
	pathSession    = "/internal/session"
	pathSessionKey = "/internal/session-key"
	pathLeave      = "/internal/leave"
	pathEndSession = "/internal/end-session"
)

// argsSession is the arguments of the methods of a session.
type argsSession struct {
	Session contract.SessionDigest
	Account prism.AccountID `json:",omitzero"` // SessionKey, Leave
}

type argsLink struct{ Link contract.LinkDigest }

// Console is contract.Console over HTTP. Close closes the idle connections; calls under way go on.
type Console interface {
	contract.Console
	Close()
}

type console struct{ *client }

// NewConsole makes the client. Its first call connects.
func NewConsole(cfg ClientConfig, deps ClientDeps) (Console, error) {
	c, err := newClient(cfg, deps)
	return console{c}, err
}

func (c console) Link(ctx context.Context, link contract.LinkDigest) (contract.LinkOwner, error) {
	return decode[contract.LinkOwner](c.lookUp(ctx, pathLink, argsLink{link}))
}

func (c console) SignIn(ctx context.Context, s contract.SignIn) (contract.Session, error) {
	return decode[contract.Session](c.call(ctx, pathSignIn, s))
}

func (c console) SignInAs(ctx context.Context, s contract.SignInAs) (contract.Session, error) {
	return decode[contract.Session](c.call(ctx, pathSignInAs, s))
}

func (c console) Session(ctx context.Context, session contract.SessionDigest) (contract.Session, error) {
	return decode[contract.Session](c.lookUp(ctx, pathSession, argsSession{Session: session}))
}

func (c console) SessionKey(
	ctx context.Context, session contract.SessionDigest, account prism.AccountID,
) (contract.SessionKey, error) {
	return decode[contract.SessionKey](c.call(ctx, pathSessionKey, argsSession{session, account}))
}

func (c console) Leave(ctx context.Context, session contract.SessionDigest, account prism.AccountID) error {
	_, err := c.call(ctx, pathLeave, argsSession{session, account})
	return err
}

func (c console) EndSession(ctx context.Context, session contract.SessionDigest) error {
	_, err := c.call(ctx, pathEndSession, argsSession{Session: session})
	return err
}

// MountConsole serves the console to callers that show one of its own tokens. It comes before MountResults, which asks for a token
// of results on every other path.
func MountConsole(app *fiber.App, c contract.Console, tokens *Tokens, log *slog.Logger) {
	for _, path := range []string{pathLink, pathSignIn, pathSignInAs, pathSession, pathSessionKey, pathLeave, pathEndSession} {
		app.Post(path, authorize(tokens))
	}
	findJSON(app, log, pathLink, func(ctx context.Context, a argsLink) (contract.LinkOwner, error) {
		return c.Link(ctx, a.Link)
	})
	postJSON(app, log, pathSignIn, c.SignIn)
	postJSON(app, log, pathSignInAs, c.SignInAs)
	findJSON(app, log, pathSession, func(ctx context.Context, a argsSession) (contract.Session, error) {
		return c.Session(ctx, a.Session)
	})
	postJSON(app, log, pathSessionKey, func(ctx context.Context, a argsSession) (contract.SessionKey, error) {
		return c.SessionKey(ctx, a.Session, a.Account)
	})
	postJSON(app, log, pathLeave, func(ctx context.Context, a argsSession) (struct{}, error) {
		return struct{}{}, c.Leave(ctx, a.Session, a.Account)
	})
	postJSON(app, log, pathEndSession, func(ctx context.Context, a argsSession) (struct{}, error) {
		return struct{}{}, c.EndSession(ctx, a.Session)
	})
}
