package route

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// answer answers a valid request of an operation.
type answer func(ctx context.Context, key contract.KeyDigest, request any) (contract.Response, error)

// own is the answer of an operation with requests of its type.
func own[In, Out any](
	op api.Op[In, Out], do func(ctx context.Context, key contract.KeyDigest, in In) (contract.Response, error),
) (name string, a answer) {
	return op.Name, func(ctx context.Context, key contract.KeyDigest, request any) (contract.Response, error) {
		in, ok := request.(*In)
		if !ok {
			return contract.Response{}, fmt.Errorf("route: %s takes a %T, not a %T", op.Name, in, request)
		}
		return do(ctx, key, *in)
	}
}

// owned are the answers of the operations that the gateway does not just pass to results: those that it answers, and those that it
// checks before results do.
func (d Deps) owned() map[string]answer {
	all := map[string]answer{}
	put := func(name string, a answer) { all[name] = a }
	put(own(api.CreatePrism, d.createPrism))
	put(own(api.CreateVersion, d.createVersion))
	put(own(api.ListModels, d.listModels))
	put(own(api.ListModelStates, d.listModelStates))
	put(own(api.TryDefinition, d.tryDefinition))
	put(own(api.CheckModel, func(ctx context.Context, key contract.KeyDigest, in api.CheckModelRequest) (contract.Response, error) {
		return d.Executor.CheckModel(ctx, key, in.Name)
	}))
	put(own(api.CreateRun, d.createRun))
	put(own(api.PutPart, func(ctx context.Context, key contract.KeyDigest, in api.PutPartRequest) (contract.Response, error) {
		return d.Results.PutPart(ctx, key, contract.FilePart{File: in.File, Number: in.Part, Data: in.Content})
	}))
	put(own(api.CreateResult, func(ctx context.Context, key contract.KeyDigest, in api.CreateResultRequest) (contract.Response, error) {
		return d.Executor.Create(ctx, d.Stopping(), key, in)
	}))
	put(own(api.CreateDecision, func(ctx context.Context, key contract.KeyDigest, in api.CreateDecisionRequest) (contract.Response, error) {
		return d.createForeign(ctx, key, in.Call)
	}))
	put(own(api.CreateSystemOne, func(ctx context.Context, key contract.KeyDigest, in api.CreateSystemOneRequest) (contract.Response, error) {
		return d.createForeign(ctx, key, in.Call)
	}))
	put(own(api.RetryResult, func(ctx context.Context, key contract.KeyDigest, in api.ResultInFormat) (contract.Response, error) {
		return d.Executor.Retry(ctx, d.Stopping(), key, in.Result, in.Format)
	}))
	return all
}

// answers finds the answer of an operation that is no stream.
func (d Deps) answers(op api.Operation, owned map[string]answer) answer {
	a, ok := owned[op.Declared().Name]
	switch {
	case ok:
		return a
	case op.Declared().ByGateway:
		panic("route: nothing answers " + op.Declared().Name) // a fault of the program, found at every start
	}
	return func(ctx context.Context, key contract.KeyDigest, request any) (contract.Response, error) {
		return d.Results.Do(ctx, key, op, request)
	}
}

// declared mounts the operations by their declarations.
func declared(app *fiber.App, d Deps) {
	owned := d.owned()
	for _, op := range api.Operations() {
		declaration := op.Declared()
		parser := request.NewParser(op)
		parse := func(c *fiber.Ctx, b request.Body) (request.Parsed, error) {
			return parser.Parse(request.Source{
				Param: func(name string) string { return httpkit.Param(c, name) }, Query: query(c), Header: header(c), Body: b,
			})
		}
		path := strings.NewReplacer("{", ":", "}", "").Replace(declaration.Path)
		get := func(handle func(c *fiber.Ctx, sent request.Parsed, err error) error) {
			app.Get(path, func(c *fiber.Ctx) error {
				sent, err := parse(c, request.Body{})
				return handle(c, sent, err)
			})
		}
		switch {
		case declaration.Name == api.FollowRun.Name:
			get(d.follow)
		case declaration.Name == api.FollowEvents.Name:
			get(d.followEvents)
		case declaration.Name == api.ListChanges.Name:
			get(d.listChanges)
		case declaration.Class == api.Streamed && declaration.Method != http.MethodGet:
			app.Add(declaration.Method, path, withBody(func(c *fiber.Ctx, b request.Body) (func() error, error) {
				sent, err := parse(c, b)
				return func() error { return d.stream(c, op, sent, nil) }, err
			}))
		case declaration.Class == api.Streamed:
			get(func(c *fiber.Ctx, sent request.Parsed, err error) error { return d.stream(c, op, sent, err) })
		case declaration.Method == http.MethodGet:
			answers := d.answers(op, owned)
			get(func(c *fiber.Ctx, sent request.Parsed, err error) error {
				return d.serveCall(c, asDeclared(declaration, answers, sent), err)
			})
		case parser.Octets():
			answers := d.answers(op, owned)
			app.Add(declaration.Method, path, func(c *fiber.Ctx) error {
				content, err := httpkit.ReadOctets(c)
				if err != nil {
					return err
				}
				sent, err := parse(c, request.Body{Bytes: content})
				return d.serveCall(c, asDeclared(declaration, answers, sent), err)
			})
		default:
			answers := d.answers(op, owned)
			handle := d.change(func(c *fiber.Ctx, b request.Body) (call, error) {
				sent, err := parse(c, b)
				return asDeclared(declaration, answers, sent), err
			})
			if declaration.Foreign {
				handle = foreignErrors(handle)
			}
			app.Add(declaration.Method, path, handle)
		}
	}
}

// asDeclared is the call with a valid request.
func asDeclared(declaration api.Declaration, answers answer, sent request.Parsed) call {
	c := call{
		status: declaration.SuccessStatus(), etag: declaration.ETag && !sent.DryRun, foreign: declaration.Foreign,
		do: func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
			return answers(ctx, key, sent.Request)
		},
	}
	switch {
	case declaration.Failing:
		c.status = statusOfResult
	case sent.DryRun:
		c.status = http.StatusOK
	}
	switch {
	case declaration.Reads():
		c = lookingUp(cmp.Or(declaration.Wait, contract.ResultsWait), c)
	case declaration.Wait > 0:
		c = within(declaration.Wait, c)
	}
	return c
}

// stream sends the stream of a valid request. err is the error of the parser.
func (d Deps) stream(c *fiber.Ctx, op api.Operation, sent request.Parsed, err error) error {
	return d.operate(c, err, func(ctx context.Context, key contract.KeyDigest, leave func(error)) error {
		stream, err := d.Results.Open(ctx, key, op, sent.Request)
		if err != nil {
			leave(err)
			return err
		}
		send := httpkit.SendStreamGzip
		if stream.ContentType == api.WorkbookMedia.Type || stream.ContentType == api.ParquetMedia.Type { // they are compressed already
			send = httpkit.SendStream
			c.Vary(fiber.HeaderAcceptEncoding) // as other formats are
		}
		return send(c, stream.ContentType, leaving{stream.Body, leave})
	})
}

// within is a call that results may take longer for.
func within(limit time.Duration, c call) call {
	do := c.do
	c.do = func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return do(ctx, key)
	}
	return c
}
