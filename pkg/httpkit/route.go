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
	decoded, err := url.PathUnescape(raw)
	if err != nil {
		return raw // cannot be: the guard refuses paths that do not decode
	}
	return decoded
}

// route is the middleware around every handler. It runs for unknown routes too, as Fiber's match of everything.
func (s *Server) route(c *fiber.Ctx) error {
	x := exchangeOf(c)
	c.SetUserContext(x.ctx)
	err := call(c)
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
	x.streaming = false // of a handler that failed after SendStream; the error replaces and closes the stream
	x.answerError(err)
	return nil
}

// panicked is a handler's panic. A panic costs its request, not the process.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func call(c *fiber.Ctx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return c.Next()
}
