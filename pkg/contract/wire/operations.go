package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/strictjson"
)

// operationPath is the path of a declared operation.
func operationPath(op api.Operation) string { return "/internal/operations/" + op.Declared().Name }

// operationArgs are the arguments of a declared operation. Request is the operation's request.
type operationArgs[R any] struct {
	Key     contract.KeyDigest
	Request R
}

// Do implements contract.Results.
func (r *results) Do(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Response, error) {
	args := operationArgs[any]{key, request}
	if op.Declared().Reads() {
		return r.lookUp(ctx, operationPath(op), args)
	}
	return r.call(ctx, operationPath(op), args)
}

// mountOperations serves the declared operations. A member that this release does not know is refused, so that a caller of a later
// release is told that the call was not taken, and nothing that it asked for is ignored. Members that are zero are not sent.
func mountOperations(app *fiber.App, r contract.Results, log *slog.Logger) {
	for _, op := range api.Operations() {
		path, changes := operationPath(op), !op.Declared().Reads()
		app.Post(path, func(c *fiber.Ctx) error {
			body, err := httpkit.ReadBody(c)
			if err != nil {
				return err
			}
			args := operationArgs[strictjson.Value]{}
			request := op.NewRequest()
			if strictjson.Unmarshal(body.Bytes, &args, refuseUnknown) != nil || strictjson.Unmarshal(args.Request, request, refuseUnknown) != nil {
				return apierr.Malformed()
			}
			ctx, cancel := context.WithTimeout(c.UserContext(), callerTimeout(c))
			defer cancel()
			response, err := r.Do(ctx, args.Key, op, request)
			if err != nil {
				return sendError(c, log, path, err)
			}
			if response.Failed {
				c.Set(headerFailed, "1")
			}
			return httpkit.SendOwn(c, fiber.StatusOK, response.ContentType, response.Body, changes)
		})
	}
}

var refuseUnknown = strictjson.RejectUnknownMembers(true)
