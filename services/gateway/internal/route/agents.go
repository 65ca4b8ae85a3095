package route

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/agents"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// agentTools is the endpoint of agents, whose tools are operations (spec: mcp).
func agentTools(app *fiber.App, d Deps) {
	operations := operationsOf(d)
	app.Post("/mcp", func(c *fiber.Ctx) error {
		if err := ownOrigin(c); err != nil {
			return err
		}
		body, err := httpkit.ReadBody(c)
		if err != nil {
			return err
		}
		asked, err := url.ParseQuery(string(c.Context().QueryArgs().QueryString()))
		if err != nil {
			return apierr.Malformed()
		}
		header := http.Header{}
		for key, value := range c.Request().Header.All() {
			header.Add(string(key), string(value))
		}
		return d.operate(c, nil, func(ctx context.Context, key contract.KeyDigest, leave func(error)) error {
			calls := agentCalls{operations: operations, results: d.Results, key: key}
			answer, err := agents.Serve(ctx, calls, header, asked, body.Bytes, slog.New(slog.DiscardHandler))
			leave(err)
			if err != nil {
				return err
			}
			return httpkit.SendOwn(c, answer.Status, answer.ContentType, answer.Body, answer.Effect)
		})
	})
	// The protocol asks for 405, and not for the 404 of other paths (spec: unknown-methods).
	notAllowed := func(c *fiber.Ctx) error {
		if err := ownOrigin(c); err != nil {
			return err
		}
		return apierr.MethodNotAllowed()
	}
	app.Get("/mcp", notAllowed)
	app.Delete("/mcp", notAllowed)
}

// ownOrigin refuses a page of another site, which could make a browser send what its user does not see (spec: mcp-origin).
func ownOrigin(c *fiber.Ctx) error {
	for _, origin := range c.Request().Header.PeekAll(fiber.HeaderOrigin) {
		if u, err := url.Parse(string(origin)); err != nil || u.Host == "" || u.Host != string(c.Request().Header.Host()) {
			return apierr.ForeignOrigin()
		}
	}
	return nil
}

// operation is an operation as the API has it: how its requests are read, and what answers them.
type operation struct {
	parser  *request.Parser
	answers answer
}

func operationsOf(d Deps) map[string]operation {
	owned, all := d.owned(), map[string]operation{}
	for _, op := range []api.Operation{
		api.CreateResult, api.ListPrisms, api.ReadPrism, api.ReadResult, api.RetryResult, api.ListResults, api.CreateRun, api.ReadRun, api.PutLabels,
		api.ReadQuality,
	} {
		all[op.Declared().Name] = operation{request.NewParser(op), d.answers(op, owned)}
	}
	return all
}

// agentCalls are the operations for the key of a request.
type agentCalls struct {
	operations map[string]operation
	results    contract.Results
	key        contract.KeyDigest
}

// Do implements agents.Calls: the request is read, bounded in time and answered as over HTTP.
func (a agentCalls) Do(ctx context.Context, op api.Operation, in agents.Request) (body []byte, failed bool, err error) {
	o := a.operations[op.Declared().Name]
	source := request.Source{
		Param: func(name string) string { return in.Path[name] },
		Query: func(name string) []string { return in.Query[name] },
	}
	if in.Body != nil {
		source.Body = request.Body{Kind: httpkit.JSON, Bytes: in.Body}
	}
	parsed, err := o.parser.Parse(source)
	if err != nil {
		return nil, false, err
	}
	response, err := asDeclared(op.Declared(), o.answers, parsed).do(ctx, a.key)
	return response.Body, response.Failed, err
}

// May implements agents.Calls.
func (a agentCalls) May(ctx context.Context, op api.Operation) error {
	return a.results.Authorize(ctx, a.key, contract.Operation(op.Declared().Name))
}
