package wire

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// BodyLimit is for the server under a Mount: a call carries up to 1 MiB of fields, escaped anew, and a definition.
const BodyLimit = 16 << 20

// AccountOf tells for whom a call counts, as the caller says; else "".
func AccountOf(r *fasthttp.RequestCtx) string { return string(r.Request.Header.Peek(headerAccount)) }

// MountResults serves results to callers that show a token. Every path of the app asks for it, known or not.
func MountResults(app *fiber.App, r contract.Results, tokens *Tokens, log *slog.Logger) {
	app.Use(authorize(tokens))
	findJSON(app, log, pathCreateFacts, serveCreateFacts(r))
	findJSON(app, log, pathRetryFacts, func(ctx context.Context, a argsResult) (contract.RetryFacts, error) {
		return r.RetryFacts(ctx, a.Key, a.ID)
	})
	post(app, log, pathSave, r.Save)
	findJSON(app, log, pathAccount, func(ctx context.Context, a argsAccount) (prism.AccountID, error) {
		return r.Account(ctx, a.Key)
	})
	findJSON(app, log, pathAuthorize, func(ctx context.Context, a argsAuthorize) (struct{}, error) {
		return struct{}{}, r.Authorize(ctx, a.Key, a.Operation)
	})
	findJSON(app, log, pathLimits, func(ctx context.Context, _ argsLimits) ([]contract.AccountLimits, error) {
		return r.Limits(ctx)
	})
	mountOperations(app, r, log)
	mountTries(app, r, log)
	mountFiles(app, r, log)
	mountRuns(app, r, log)
	mountLeases(app, r, log)
}

func mountTries(app *fiber.App, t contract.Tries, log *slog.Logger) {
	findJSON(app, log, pathTryFacts, func(ctx context.Context, a argsAccount) (contract.TryFacts, error) {
		return t.TryFacts(ctx, a.Key)
	})
	post(app, log, pathFinishTry, t.FinishTry)
}

// MountModels serves the model to callers that show a token.
func MountModels(app *fiber.App, models contract.Models, tokens *Tokens, log *slog.Logger) {
	app.Use(authorize(tokens))
	s := askServer{models, newDefinitionCache[prism.DefinitionHash]()}
	postJSON(app, log, pathAsk, s.full)
	postJSON(app, log, pathAskByHash, s.byHash)
	findJSON(app, log, pathListModels, func(ctx context.Context, _ argsListModels) ([]api.Model, error) {
		return models.List(ctx)
	})
	findJSON(app, log, pathModelStates, func(ctx context.Context, _ argsModelStates) ([]api.ModelState, error) {
		return models.States(ctx)
	})
	postJSON(app, log, pathCheckModel, func(ctx context.Context, a argsCheckModel) (contract.ModelCheck, error) {
		return models.Check(ctx, a.Name)
	})
}

func authorize(tokens *Tokens) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !tokens.Accepts(c.Request().Header.Peek(fiber.HeaderAuthorization)) {
			return apierr.InvalidAPIKey()
		}
		return c.Next()
	}
}

// postJSON serves a method whose result is sent as JSON.
func postJSON[Q, A any](app *fiber.App, log *slog.Logger, path string, method func(context.Context, Q) (A, error)) {
	post(app, log, path, inJSON(method))
}

// postOwn is postJSON for callers that show one of their own tokens instead of one of results.
func postOwn[Q, A any](app *fiber.App, tokens *Tokens, log *slog.Logger, path string, method func(context.Context, Q) (A, error)) {
	app.Post(path, authorize(tokens))
	postJSON(app, log, path, method)
}

// findJSON is postJSON for a look-up.
func findJSON[Q, A any](app *fiber.App, log *slog.Logger, path string, method func(context.Context, Q) (A, error)) {
	find(app, log, path, inJSON(method))
}

func inJSON[Q, A any](method func(context.Context, Q) (A, error)) func(context.Context, Q) (contract.Response, error) {
	return func(ctx context.Context, q Q) (contract.Response, error) {
		found, err := method(ctx, q)
		if err != nil {
			return contract.Response{}, err
		}
		body, err := strictjson.Marshal(&found)
		return contract.Response{ContentType: contentJSON, Body: body}, err
	}
}

// post serves a method whose result is a finished response.
func post[Q any](app *fiber.App, log *slog.Logger, path string, method func(context.Context, Q) (contract.Response, error)) {
	app.Post(path, handler(log, path, method, true))
}

// find is post for a method that changes nothing: a response that is too large for the memory left is refused.
func find[Q any](app *fiber.App, log *slog.Logger, path string, method func(context.Context, Q) (contract.Response, error)) {
	app.Post(path, handler(log, path, method, false))
}

func handler[Q any](
	log *slog.Logger, path string, method func(context.Context, Q) (contract.Response, error), changes bool,
) fiber.Handler {
	return func(c *fiber.Ctx) error {
		var q Q
		if err := readArgs(c, &q); err != nil {
			return err
		}
		// Soon after this time the caller reads no response.
		ctx, cancel := context.WithTimeout(c.UserContext(), workTimeout(c))
		defer cancel()
		r, err := method(ctx, q)
		return sendResponse(c, log, path, changes, r, err)
	}
}

func sendResponse(c *fiber.Ctx, log *slog.Logger, path string, changes bool, r contract.Response, err error) error {
	if err != nil {
		return sendError(c, log, path, err)
	}
	if r.Failed {
		c.Set(headerFailed, "1")
	}
	return httpkit.SendOwn(c, fiber.StatusOK, r.ContentType, r.Body, changes)
}

// sendStream has no time limit for the whole: the stream's reader sets the pace.
func sendStream(c *fiber.Ctx, log *slog.Logger, path string, stream contract.Stream, err error) error {
	if err != nil {
		return sendError(c, log, path, err)
	}
	c.Set(headerAccount, fair.Account(c.UserContext()))
	return httpkit.SendStream(c, stream.ContentType, stream.Body)
}

func readArgs(c *fiber.Ctx, q any) error {
	var args []byte
	if w, ok := q.(withOctets); ok {
		content, err := httpkit.ReadOctets(c)
		if err != nil {
			return err
		}
		*w.octets(), args = content, c.Request().Header.Peek(headerArgs)
	} else {
		body, err := httpkit.ReadBody(c)
		if err != nil {
			return err
		}
		args = body.Bytes
	}
	if err := unmarshalRequest(args, q); err != nil {
		return apierr.Malformed()
	}
	return nil
}

// workTimeout is how long the service has for a call (see headerTimeout).
func workTimeout(c *fiber.Ctx) time.Duration {
	ms, err := strconv.ParseInt(c.Get(headerTimeout), 10, 64)
	if err != nil || ms <= 0 {
		return defaultTimeout
	}
	return min(time.Duration(ms)*time.Millisecond, maxTimeout)
}

// sendError sends an error as encodeError writes it. What the caller is not told is logged.
func sendError(c *fiber.Ctx, log *slog.Logger, path string, err error) error {
	status, body := encodeError(err)
	if status != statusFailure && status != statusUnknown {
		log.ErrorContext(c.UserContext(), "internal call failed", "method", path, "error", err)
	}
	if status == statusUnavailable {
		return apierr.Unavailable() // the same body, with Retry-After
	}
	return httpkit.Send(c, status, contentJSON, body)
}
