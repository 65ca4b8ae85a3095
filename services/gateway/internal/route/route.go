// Package route has the endpoints of the gateway. A handler parses its request with package request, calls package execute
// or results, and sends the response with its status.
package route

import (
	"bytes"
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// Deps are what the routes work with; all are required.
type Deps struct {
	Results  contract.Results
	Executor *execute.Executor
	// Stopping ends when the service begins to refuse calls. Waits for locks end with it.
	Stopping func() context.Context
}

// Register adds every route to the app.
func Register(app *fiber.App, d Deps) {
	r := routes{d}
	r.results(app)
	r.prisms(app)
	r.keys(app)
	apiDocuments(app)
}

type routes struct{ Deps }

// parse turns a request into what its operation needs, or lists what is wrong with it.
type parse[T any] func(*fiber.Ctx) (T, error)

// operate has the order that all operations share: parse and validate, then the API key, then the call
// (spec: order-of-checks-create, order-of-checks-retry, order-of-checks-read).
func operate[T any](parse parse[T], act func(c *fiber.Ctx, key contract.KeyDigest, sent T) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		sent, err := parse(c)
		if err != nil {
			return err
		}
		// Several headers are one list (RFC 9110, 5.3), and a list is no key.
		header := bytes.Join(c.Request().Header.PeekAll(fiber.HeaderAuthorization), []byte(", "))
		key, err := request.ParseAuthorization(string(header), len(header) > 0)
		if err != nil {
			return err
		}
		return catalogued(act(c, key, sent))
	}
}

// call is a call that ends in a finished response.
type call[T any] func(context.Context, contract.KeyDigest, T) (contract.Response, error)

// respond is an operation whose status depends on the request or the response.
func respond[T any](status func(T, contract.Response) int, parse parse[T], call call[T]) fiber.Handler {
	return operate(parse, func(c *fiber.Ctx, key contract.KeyDigest, sent T) error {
		response, err := call(c.UserContext(), key, sent)
		if err != nil {
			return err
		}
		return httpkit.Send(c, status(sent, response), response.ContentType, response.Body)
	})
}

// changed is an operation that changes something: 200.
func changed[T any](parse parse[T], call call[T]) fiber.Handler {
	return respond(func(T, contract.Response) int { return fiber.StatusOK }, parse, call)
}

// created is an operation that stores something: 201, or 200 for a dry run, which stores nothing.
func created[T any](dryRun func(T) bool, parse parse[T], call call[T]) fiber.Handler {
	return respond(func(sent T, _ contract.Response) int {
		if dryRun(sent) {
			return fiber.StatusOK
		}
		return fiber.StatusCreated
	}, parse, call)
}

// found is an operation that changes nothing: 200, or 503 if results do not respond in time.
func found[T any](parse parse[T], call call[T]) fiber.Handler {
	return changed(parse, func(ctx context.Context, key contract.KeyDigest, sent T) (contract.Response, error) {
		return execute.LookUp(ctx, func(ctx context.Context) (contract.Response, error) { return call(ctx, key, sent) })
	})
}

// withBody parses a request that takes a body: up to the limit and of a type that is parsed, else 413 or 415.
func withBody[T any](parse func(*fiber.Ctx, request.Body) (T, error)) parse[T] {
	return func(c *fiber.Ctx) (T, error) {
		b, err := httpkit.ReadBody(c)
		if err != nil {
			var none T
			return none, err
		}
		return parse(c, b)
	}
}

// query returns the values of a query parameter. A value that cannot be decoded stays as sent, and so is an unknown value.
func query(c *fiber.Ctx) request.Query {
	args := c.Context().QueryArgs()
	return func(name string) []string {
		var values []string
		for _, v := range args.PeekMulti(name) {
			values = append(values, string(v))
		}
		return values
	}
}

// catalogued adds the 503 of the catalogue to the error of a dependency that is away
// (spec: dependency-away-before-the-model). Every other fault becomes a 500.
func catalogued(err error) error {
	if errors.Is(err, contract.ErrUnavailable) {
		return errors.Join(apierr.Unavailable(), err)
	}
	return err
}
