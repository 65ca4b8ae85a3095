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
		return call{status: statusOfResult, do: func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
			if err := d.configured(ctx, key, contract.TryDefinition, "definition.", sent.Definition); err != nil {
				return contract.Response{}, err
			}
			return d.Executor.Try(ctx, key, sent)
		}}, err
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
