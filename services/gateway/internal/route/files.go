package route

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// What takes results longer than other changes: they write or read content, which an object store may keep, or many rows.
const (
	storeWait    = 15 * time.Second
	completeWait = 55 * time.Second
)

// within is a call that results may take longer for.
func within(limit time.Duration, c call, err error) (call, error) {
	do := c.do
	c.do = func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return do(ctx, key)
	}
	return c, err
}

// files are the calls on files.
func files(app *fiber.App, d Deps) {
	app.Post("/v1/files", d.change(func(_ *fiber.Ctx, b request.Body) (call, error) {
		do, err := one(d.Results.CreateFile)(request.ParseNewFile(b))
		return created(do, false), err
	}))
	app.Put("/v1/files/:file_id/parts/:n", func(c *fiber.Ctx) error {
		content, err := httpkit.ReadOctets(c)
		if err != nil {
			return err
		}
		sent, err := request.ParsePart(httpkit.Param(c, "file_id"), httpkit.Param(c, "n"), content)
		do, err := one(d.Results.PutPart)(sent, err)
		do, err = within(storeWait, do, err)
		return d.respond(c, do, err)
	})
	app.Post("/v1/files/:file_id/complete", d.change(func(c *fiber.Ctx, b request.Body) (call, error) {
		do, err := one(d.Results.CompleteFile)(request.ParseFileAction(httpkit.Param(c, "file_id"), b))
		do.status = fiber.StatusAccepted
		return within(completeWait, do, err)
	}))
	app.Get("/v1/files", d.reading(func(c *fiber.Ctx) (call, error) {
		return one(d.Results.ListFiles)(request.ParseFileList(query(c)))
	}))
	app.Get("/v1/files/:file_id", d.reading(func(c *fiber.Ctx) (call, error) {
		return one(d.Results.File)(request.ParseFile(httpkit.Param(c, "file_id")))
	}))
	app.Get("/v1/files/:file_id/rows", d.reading(func(c *fiber.Ctx) (call, error) {
		return two(d.Results.FileRows)(request.ParseFileRows(httpkit.Param(c, "file_id"), query(c)))
	}))
	app.Delete("/v1/files/:file_id", d.change(func(c *fiber.Ctx, b request.Body) (call, error) {
		do, err := one(d.Results.DeleteFile)(request.ParseFileAction(httpkit.Param(c, "file_id"), b))
		do.status = fiber.StatusNoContent
		return within(storeWait, do, err)
	}))
}
