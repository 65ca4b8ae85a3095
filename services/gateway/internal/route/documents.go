package route

import (
	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/apidoc"
)

// apiDocuments are the OpenAPI document and its page, both without a key (spec: openapi-document, docs-page).
func apiDocuments(app *fiber.App, console bool) {
	// A browser that opens the address gets a page; for everyone else there is nothing here (spec: console-root).
	page := "/docs"
	if console {
		page = "/console/"
	}
	app.Get("/", func(c *fiber.Ctx) error {
		c.Vary(fiber.HeaderAccept)
		if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) != fiber.MIMETextHTML {
			return apierr.RouteNotFound()
		}
		return c.Redirect(page, fiber.StatusSeeOther)
	})
	app.Get("/openapi.json", func(c *fiber.Ctx) error {
		return httpkit.Send(c, fiber.StatusOK, httpkit.JSONType, apidoc.Document())
	})
	for _, file := range apidoc.Page() {
		app.Get(file.Path, func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderContentSecurityPolicy, apidoc.PageCSP)
			c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
			return httpkit.Send(c, fiber.StatusOK, file.MediaType, file.Content)
		})
	}
}
