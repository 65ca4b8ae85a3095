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
	args := &operationArgs[any]{key, request}
	if op.Declared().Reads() {
		return r.lookUp(ctx, operationPath(op), args)
	}
	return r.call(ctx, operationPath(op), args)
}

// Open implements contract.Results.
func (r *results) Open(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Stream, error) {
	return r.open(ctx, operationPath(op), operationArgs[any]{key, request})
}

// mountOperations serves the declared operations that are one call of results.
func mountOperations(app *fiber.App, r contract.Results, log *slog.Logger) {
	for _, op := range api.Operations() {
		switch path := operationPath(op); {
		case op.Declared().ByGateway:
		case op.Declared().Class == api.Streamed:
			app.Post(path, func(c *fiber.Ctx) error {
				key, request, err := readOperation(c, op)
				if err != nil {
					return err
				}
				stream, err := r.Open(c.UserContext(), key, op, request)
				return sendStream(c, log, path, stream, err)
			})
		default:
			changes := !op.Declared().Reads()
			app.Post(path, func(c *fiber.Ctx) error {
				key, request, err := readOperation(c, op)
				if err != nil {
					return err
				}
				ctx, cancel := context.WithTimeout(c.UserContext(), workTimeout(c))
				defer cancel()
				response, err := r.Do(ctx, key, op, request)
				return sendResponse(c, log, path, changes, response, err)
			})
		}
	}
}

// readOperation reads the arguments of a call of a declared operation.
func readOperation(c *fiber.Ctx, op api.Operation) (key contract.KeyDigest, request any, err error) {
	body, err := httpkit.ReadBody(c)
	if err != nil {
		return key, nil, err
	}
	args := operationArgs[any]{Request: op.NewRequest()}
	if unmarshalRequest(body.Bytes, &args) != nil {
		return key, nil, apierr.Malformed()
	}
	return args.Key, args.Request, nil
}

// hints are the members of requests that a service which does not know them may ignore. All others it refuses
// (spec: releases-side-by-side).
type hints struct {
	// Background is that of contract.Ask. Without it, a call of a run counts as one that somebody waits for.
	Background bool `json:",omitzero"`
}

// UnmarshalJSON reads the hints that are known here.
func (h *hints) UnmarshalJSON(text []byte) error {
	type known hints
	return strictjson.Unmarshal(text, (*known)(h))
}

// marshalRequest writes the arguments of a call without the members that are zero (spec: releases-side-by-side).
func marshalRequest(args any) ([]byte, error) {
	return strictjson.Marshal(args, strictjson.OmitZeroMembers(true))
}

// unmarshalRequest reads the arguments of a call, and refuses members that are not known here.
func unmarshalRequest(text []byte, args any) error {
	return strictjson.Unmarshal(text, args, strictjson.RejectUnknownMembers(true))
}
