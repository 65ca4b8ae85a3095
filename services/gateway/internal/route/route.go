// Package route is the gateway's endpoints: what a request says, who answers it, and with which status. Each handler is
// thin; parsing is in request, the order of checks in checks, waiting and saving in answer.
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
	Answerer *execute.Executor
	// Stopping ends when the service begins to refuse calls: nothing waits for other calls from then on.
	Stopping func() context.Context
}

// Register adds every route to the app.
func Register(app *fiber.App, d Deps) {
	r := routes{d}
	r.answering(app)
	r.prisms(app)
	r.keys(app)
	apiDocuments(app)
}

type routes struct{ Deps }

// parse turns a request into what its operation needs, or lists what is wrong with it.
type parse[T any] func(*fiber.Ctx) (T, error)

// operate is the order that all operations share (contract 7): the body and everything that can be validated, then the
// API key, then what is stored.
func operate[T any](parse parse[T], act func(c *fiber.Ctx, key contract.KeyDigest, sent T) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		sent, err := parse(c)
		if err != nil {
			return err
		}
		// Several headers are one list (RFC 9110, 5.3), which is no key.
		header := bytes.Join(c.Request().Header.PeekAll(fiber.HeaderAuthorization), []byte(", "))
		key, err := request.ParseAuthorization(string(header), len(header) > 0)
		if err != nil {
			return err
		}
		return public(act(c, key, sent))
	}
}

// document is an operation that ends in a document with one status.
func document[T any](status int, parse parse[T], ask func(context.Context, contract.KeyDigest, T) (contract.Response, error)) fiber.Handler {
	return respond(func(T) int { return status }, parse, ask)
}

// created is an operation that stores something: 201, or 200 for a dry run, which stores nothing.
func created[T any](dryRun func(T) bool, parse parse[T], ask func(context.Context, contract.KeyDigest, T) (contract.Response, error)) fiber.Handler {
	return respond(func(sent T) int {
		if dryRun(sent) {
			return fiber.StatusOK
		}
		return fiber.StatusCreated
	}, parse, ask)
}

func respond[T any](status func(T) int, parse parse[T], ask func(context.Context, contract.KeyDigest, T) (contract.Response, error)) fiber.Handler {
	return operate(parse, func(c *fiber.Ctx, key contract.KeyDigest, sent T) error {
		doc, err := ask(c.UserContext(), key, sent)
		if err != nil {
			return err
		}
		return httpkit.Send(c, status(sent), doc.ContentType, doc.Body)
	})
}

// found is an operation that shows what is stored, or is unavailable while that can't be looked up in time.
func found[T any](parse parse[T], ask func(context.Context, contract.KeyDigest, T) (contract.Response, error)) fiber.Handler {
	return document(fiber.StatusOK, parse, func(ctx context.Context, key contract.KeyDigest, sent T) (contract.Response, error) {
		return execute.LookUp(ctx, func(ctx context.Context) (contract.Response, error) { return ask(ctx, key, sent) })
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
		return parse(c, request.Body{Kind: bodyKinds[b.Kind], Bytes: b.Bytes})
	}
}

var bodyKinds = map[httpkit.Kind]request.BodyKind{
	httpkit.Absent: request.Absent, httpkit.JSON: request.JSON, httpkit.Text: request.Text,
}

// query gives every value that was sent under a name. A query that can't be decoded is read as it is: it can only be an
// unknown value.
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

// public says 503 for a dependency that took nothing (decisions 9); every other fault is a 500.
func public(err error) error {
	if errors.Is(err, contract.ErrUnavailable) {
		return errors.Join(apierr.Unavailable(), err)
	}
	return err
}
