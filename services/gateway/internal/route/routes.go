package route

import (
	"io"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/httpkit"
)

// Register adds every route to the app.
func Register(app *fiber.App, d Deps) {
	declared(app, d)
	agentTools(app, d)
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

// leaving is a body whose request ends when the body is closed.
type leaving struct {
	io.ReadCloser
	leave func(error)
}

// Held passes on how many bytes of rows the body holds, which count as a response (spec: response-budget). A body that comes from
// another process holds none here.
func (l leaving) HeldBytes() int { return httpkit.HeldBytes(l.ReadCloser) }

func (l leaving) Close() error {
	defer l.leave(nil)
	return l.ReadCloser.Close()
}
