package route

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
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

// parts is the call whose body is a part of a file.
func parts(app *fiber.App, d Deps) {
	app.Put("/v1/files/:file_id/parts/:n", func(c *fiber.Ctx) error {
		content, err := httpkit.ReadOctets(c)
		if err != nil {
			return err
		}
		sent, err := request.ParsePart(httpkit.Param(c, "file_id"), httpkit.Param(c, "n"), content)
		do, err := one(d.Results.PutPart)(sent, err)
		do, err = within(api.StoreWait, do, err)
		return d.respond(c, do, err)
	})
}
