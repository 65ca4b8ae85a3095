package route

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
)

// file sends a file of the app (spec: console-files).
func (d Deps) file(c *fiber.Ctx) error {
	f := d.Site.Find(strings.Clone(c.Params("*")))
	if f == nil {
		return apierr.RouteNotFound()
	}
	return f.Send(c)
}
