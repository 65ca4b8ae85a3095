package route

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// declared mounts the operations that results answers by their declarations.
func declared(app *fiber.App, d Deps) {
	for _, op := range api.Operations() {
		declaration := op.Declared()
		parser := request.NewParser(op)
		parse := func(c *fiber.Ctx, b request.Body) (call, error) {
			sent, err := parser.Parse(request.Source{
				Param: func(name string) string { return httpkit.Param(c, name) }, Query: query(c), IfMatch: ifMatch(c), Body: b,
			})
			return d.asDeclared(op, sent), err
		}
		path := strings.NewReplacer("{", ":", "}", "").Replace(declaration.Path)
		if declaration.Method == http.MethodGet {
			app.Get(path, func(c *fiber.Ctx) error {
				parsed, err := parse(c, request.Body{})
				return d.respond(c, parsed, err)
			})
		} else {
			app.Add(declaration.Method, path, d.change(parse))
		}
	}
}

// asDeclared is the call of results with a valid request.
func (d Deps) asDeclared(op api.Operation, sent request.Parsed) call {
	declaration := op.Declared()
	c := call{
		status: declaration.SuccessStatus(), etag: declaration.ETag && !sent.DryRun,
		do: func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
			return d.Results.Do(ctx, key, op, sent.Request)
		},
	}
	if sent.DryRun {
		c.status = http.StatusOK
	}
	switch {
	case declaration.Reads():
		c = lookingUp(cmp.Or(declaration.Wait, contract.ResultsWait), c)
	case declaration.Wait > 0:
		c, _ = within(declaration.Wait, c, nil)
	}
	return c
}
