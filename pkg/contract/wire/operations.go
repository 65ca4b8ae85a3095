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

// mountOperations serves the declared operations.
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
			if unmarshalRequest(body.Bytes, &args) != nil || unmarshalRequest(args.Request, request) != nil {
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

// hints are the members of requests that a service of an older release may ignore. All others it refuses (see Releases in the package
// comment).
type hints struct {
	// Background is that of contract.Ask. Without it, a call of a run counts as one that somebody waits for.
	Background bool `json:",omitzero"`
}

// UnmarshalJSON reads the hints that are known here.
func (h *hints) UnmarshalJSON(text []byte) error {
	type known hints
	return strictjson.Unmarshal(text, (*known)(h))
}

// marshalRequest writes the arguments of a call without the members that are zero (see Releases in the package comment).
func marshalRequest(args any) ([]byte, error) {
	return strictjson.Marshal(args, strictjson.OmitZeroMembers(true))
}

// unmarshalRequest reads the arguments of a call, and refuses members that are not known here.
func unmarshalRequest(text []byte, args any) error {
	return strictjson.Unmarshal(text, args, strictjson.RejectUnknownMembers(true))
}
