package route

import (
	"context"
	"io"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// Register adds every route to the app.
func Register(app *fiber.App, d Deps) {
	declared(app, d)
	results(app, d)
	prisms(app, d)
	apiDocuments(app, d.Documents, d.HasConsole)
	if d.Pass != nil {
		passed(app, d.Pass)
	}
}

// passed are the requests that the console answers, which is behind the gateway (spec: console-behind-the-gateway).
func passed(app *fiber.App, pass fiber.Handler) {
	for _, path := range []string{"/console", "/console/*"} {
		app.Get(path, pass)
		app.Post(path, pass)
		app.Delete(path, pass)
	}
}

// results are the calls that answer.
func results(app *fiber.App, d Deps) {
	app.Post("/v1/try", d.change(func(_ *fiber.Ctx, b request.Body) (call, error) {
		sent, err := request.ParseTry(b)
		do := call{status: statusOfResult, do: func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
			return d.Executor.Try(ctx, key, sent)
		}}
		return d.configured(do, contract.TryDefinition, "definition.", sent.Definition), err
	}))
}

// prisms are the management calls on prisms.
func prisms(app *fiber.App, d Deps) {
	app.Post("/v1/prisms", d.change(func(_ *fiber.Ctx, b request.Body) (call, error) {
		sent, err := request.ParseNewPrism(b)
		c, err := one(d.Results.CreatePrism)(sent, err)
		return tagged(created(d.configured(c, contract.CreatePrism, "", sent.Definition), sent.DryRun), sent.DryRun), err
	}))
	app.Post("/v1/prisms/:prism/versions", d.change(func(c *fiber.Ctx, b request.Body) (call, error) {
		ref, sent, err := request.ParseNewVersion(httpkit.Param(c, "prism"), ifMatch(c), b)
		do, err := two(d.Results.AddVersion)(ref, sent, err)
		return created(d.configured(do, contract.CreateVersion, "", sent.Definition), sent.DryRun), err
	}))
	app.Put("/v1/prisms/:prism/lens", d.change(func(c *fiber.Ctx, b request.Body) (call, error) {
		ref, sent, err := request.ParseLens(httpkit.Param(c, "prism"), ifMatch(c), b)
		do, err := two(d.Results.PutLens)(ref, sent, err)
		return tagged(do, sent.DryRun), err
	}))
	app.Post("/v1/prisms/:prism/lens/preview", d.change(func(c *fiber.Ctx, b request.Body) (call, error) {
		do, err := two(d.Results.PreviewLens)(request.ParseLensPreview(httpkit.Param(c, "prism"), b))
		return lookingUp(contract.ResultsWait, do), err
	}))
}

// leaving is a body whose request ends when the body is closed.
type leaving struct {
	io.ReadCloser
	leave func(error)
}

// Held passes on how many bytes of rows the body holds, which count as a response (spec: response-budget). A body that comes from
// another process holds none here.
func (l leaving) Held() int { return httpkit.Held(l.ReadCloser) }

func (l leaving) Close() error {
	defer l.leave(nil)
	return l.ReadCloser.Close()
}
