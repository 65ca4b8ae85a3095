package route

import (
	"io/fs"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/apidoc"
)

// Documents are the OpenAPI document and the files of its page, ready to be served.
type Documents struct {
	document, page *httpkit.File
	assets         map[string]*httpkit.File // by their names below assets/
}

// ReadDocuments takes the page from the built pages, which have it as docs.html, and its files in assets.
func ReadDocuments(built fs.FS) (d Documents, err error) {
	if d.document, err = httpkit.NewFile("openapi.json", apidoc.Document(), false); err != nil {
		return d, err
	}
	page, err := fs.ReadFile(built, "docs.html")
	if err != nil {
		return d, err
	}
	if d.page, err = httpkit.NewFile("docs.html", page, false); err != nil {
		return d, err
	}
	names, err := fs.Glob(built, "assets/*")
	if err != nil {
		return d, err
	}
	d.assets = make(map[string]*httpkit.File, len(names))
	for _, name := range names {
		body, err := fs.ReadFile(built, name)
		if err != nil {
			return d, err
		}
		if d.assets[strings.TrimPrefix(name, "assets/")], err = httpkit.NewFile(name, body, true); err != nil {
			return d, err
		}
	}
	return d, nil
}

// apiDocuments are the OpenAPI document and its page, both without a key (spec: openapi-document, docs-page).
func apiDocuments(app *fiber.App, d Documents, console bool) {
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
	app.Get("/openapi.json", d.document.Send)
	app.Get("/docs", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentSecurityPolicy, httpkit.PagePolicy)
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		return d.page.Send(c)
	})
	app.Get("/docs/assets/:name", func(c *fiber.Ctx) error {
		file, known := d.assets[httpkit.Param(c, "name")]
		if !known {
			return apierr.RouteNotFound()
		}
		return file.Send(c)
	})
}
