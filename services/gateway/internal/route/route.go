// Package route has the endpoints of the gateway. A handler parses its request with package request, calls package execute
// or results, and sends the response with its status.
package route

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/admission"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// Deps are what the routes work with; all but Pass are required.
type Deps struct {
	Results   contract.Results
	Models    contract.Models
	Executor  *execute.Executor
	Admission *admission.Admission
	// DryRun answers the dry run of a run of a file.
	DryRun func(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun) (contract.Response, error)
	// Stopping ends when the service begins to refuse calls. Waits for locks end with it.
	Stopping func() context.Context
	// HasConsole tells whether the server has a console, which is where browsers begin. Pass passes requests on to it; nil if it is
	// in this process, or there is none.
	HasConsole bool
	Pass       fiber.Handler
	Documents  Documents
}

// call is an operation whose request is valid. It ends in a finished response.
type call struct {
	status int
	etag   bool // the response has an ETag
	// foreign: it is one of a format of others, which has headers of its own.
	foreign bool
	do      func(context.Context, contract.KeyDigest) (contract.Response, error)
}

// statusOfResult instead of a status: 200 if the result is ok, 502 if it failed (spec: result-status).
const statusOfResult = 0

// header returns the values of a header.
func header(c *fiber.Ctx) request.Header {
	return func(name string) (values []string) {
		for _, v := range c.Request().Header.PeekAll(name) {
			values = append(values, string(v))
		}
		return values
	}
}

// lookingUp is a call that changes nothing: 503 if results do not respond in time.
func lookingUp(wait time.Duration, c call) call {
	do := c.do
	c.do = func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
		return execute.LookUpFor(ctx, wait, func(ctx context.Context) (contract.Response, error) { return do(ctx, key) })
	}
	return c
}

// change is an operation that takes a body: up to the limit and of a type that is parsed, else 413 or 415.
func (d Deps) change(parse func(*fiber.Ctx, request.Body) (call, error)) fiber.Handler {
	return withBody(func(c *fiber.Ctx, b request.Body) (func() error, error) {
		parsed, err := parse(c, b)
		return func() error { return d.serveCall(c, parsed, nil) }, err
	})
}

// withBody reads a body as change does, parses it, and serves what was parsed.
func withBody(parse func(*fiber.Ctx, request.Body) (serve func() error, err error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		b, err := httpkit.ReadBody(c)
		if err != nil {
			return err
		}
		done := httpkit.CheckLarge(c, len(b.Bytes))
		serve, err := parse(c, b)
		if err != nil {
			return err
		}
		done()
		return serve()
	}
}

func (d Deps) serveCall(c *fiber.Ctx, parsed call, err error) error {
	return d.operate(c, err, func(ctx context.Context, key contract.KeyDigest, leave func(error)) error {
		response, err := parsed.do(ctx, key)
		leave(err)
		if err != nil {
			return err
		}
		status := parsed.status
		switch {
		case status == statusOfResult && response.Failed:
			status = fiber.StatusBadGateway
		case status == statusOfResult:
			status = fiber.StatusOK
		}
		if response.Replayed {
			c.Set("Idempotent-Replayed", "true")
		}
		if parsed.foreign {
			foreignHeaders(c, response)
		}
		if parsed.etag {
			c.Set(fiber.HeaderETag, api.ETag(response.Body))
		}
		return httpkit.SendOwn(c, status, response.ContentType, response.Body, !httpkit.ReadOnly(c.Method()))
	})
}

// operate has the order that all operations share: parse and validate, then the API key and the limits of its account, then
// the call (spec: order-of-checks-create, order-of-checks-retry, order-of-checks-read). err is the error of the parser. act
// calls leave when the call has ended, with its error.
func (d Deps) operate(
	c *fiber.Ctx, err error, act func(ctx context.Context, key contract.KeyDigest, leave func(error)) error,
) error {
	if err != nil {
		return err
	}
	key, err := authorization(c.Context())
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	leave, err := d.Admission.Enter(ctx, key, httpkit.Client(c))
	if err != nil {
		return catalogued(err)
	}
	panicked := true
	defer func() {
		if panicked {
			leave(nil)
		}
	}()
	err = act(ctx, key, leave)
	panicked = false
	return catalogued(err)
}

// authorized is the parsed Authorization header of a request. The request keeps it, because the key is needed before the handler
// and in it.
type authorized struct {
	key contract.KeyDigest
	err error
}

type authorizedKey struct{}

func authorization(r *fasthttp.RequestCtx) (contract.KeyDigest, error) {
	parsed, ok := r.UserValue(authorizedKey{}).(*authorized)
	if !ok {
		// Several headers are one list (RFC 9110, 5.3), and a list is no key.
		header := bytes.Join(r.Request.Header.PeekAll(fiber.HeaderAuthorization), []byte(", "))
		parsed = &authorized{}
		parsed.key, parsed.err = request.ParseAuthorization(string(header), len(header) > 0)
		r.SetUserValue(authorizedKey{}, parsed)
	}
	return parsed.key, parsed.err
}

// AccountOf tells the account of a request whose API key was seen before; else "".
func AccountOf(accounts *execute.Accounts) func(*fasthttp.RequestCtx) string {
	return func(r *fasthttp.RequestCtx) string {
		key, err := authorization(r)
		if err != nil {
			return ""
		}
		if account, known := accounts.Get(key); known {
			return account.String()
		}
		return ""
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
