package httpkit

import (
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
)

// Param is a path parameter, percent-decoded. It is valid UTF-8, and may hold NUL.
func Param(c *fiber.Ctx, name string) string {
	raw := strings.Clone(c.Params(name)) // Fiber's is a view into a buffer of the connection
	decoded, _ := url.PathUnescape(raw)  // the guard refuses paths on which this fails
	return decoded
}

// route is the middleware around every handler. It also runs for paths that match no route.
func (s *Server) route(c *fiber.Ctx) error {
	x := exchangeOf(c)
	c.SetUserContext(x.ctx)
	err := recovered(c.Next)
	if err == nil {
		x.route = c.Route().Path
		return nil
	}
	var fromFiber *fiber.Error
	if errors.As(err, &fromFiber) && fromFiber.Code < fiber.StatusInternalServerError {
		// Only Fiber's router makes these: no such path, or not with this method.
		err = apierr.RouteNotFound()
	} else {
		x.route = c.Route().Path
	}
	x.streaming = false // when a handler fails after SendStream, the error replaces and closes the stream
	x.respondError(err)
	return nil
}

// panicked is the panic of a handler. It ends its request with a 500, and not the process. The value of the panic may hold
// what was sent, so only its type is kept (spec: values-are-never-repeated).
type panicked struct {
	kind  string
	stack []byte
}

func (p *panicked) Error() string { return "panic: " + p.kind }

// recovered calls f and returns a panic of f as an error.
func recovered(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{kind: fmt.Sprintf("%T", v), stack: debug.Stack()}
		}
	}()
	return f()
}
