package route

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// Register adds every route to the app.
func Register(app *fiber.App, d Deps) {
	results(app, d)
	prisms(app, d.Results)
	keys(app, d.Results)
	audit(app, d.Results)
	apiDocuments(app)
}

// results are the calls on results.
func results(app *fiber.App, d Deps) {
	app.Post("/v1/prisms/:prism/results", change(func(c *fiber.Ctx, b request.Body) (call, error) {
		sent, err := request.ParseCreate(httpkit.Param(c, "prism"), query(c)("format"), b)
		return call{statusOfResult, func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
			return d.Executor.Create(ctx, d.Stopping(), key, sent)
		}}, err
	}))
	app.Post("/v1/results/:result_id/retry", change(func(c *fiber.Ctx, b request.Body) (call, error) {
		sent, err := request.ParseRetry(httpkit.Param(c, "result_id"), query(c)("format"), b)
		return call{statusOfResult, func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
			return d.Executor.Retry(ctx, d.Stopping(), key, sent.ID, sent.Format)
		}}, err
	}))
	app.Get("/v1/results/:result_id", look(func(c *fiber.Ctx) (call, error) {
		sent, err := request.ParseRead(httpkit.Param(c, "result_id"), query(c)("format"))
		return two(d.Results.Read)(sent.ID, sent.Format, err)
	}))
	app.Get("/v1/results", look(func(c *fiber.Ctx) (call, error) {
		return one(d.Results.ListResults)(request.ParseResultList(query(c)))
	}))
	app.Get("/v1/prisms/:prism/results", func(c *fiber.Ctx) error {
		sent, err := request.ParseExport(httpkit.Param(c, "prism"), query(c))
		return operate(c, err, func(ctx context.Context, key contract.KeyDigest) error {
			stream, err := d.Results.Export(ctx, key, sent)
			if err != nil {
				return err
			}
			return httpkit.SendStream(c, stream.ContentType, stream.Body)
		})
	})
}

// prisms are the management calls on prisms.
func prisms(app *fiber.App, results contract.Results) {
	app.Post("/v1/prisms", change(func(_ *fiber.Ctx, b request.Body) (call, error) {
		sent, err := request.ParseNewPrism(b)
		c, err := one(results.CreatePrism)(sent, err)
		return created(c, sent.DryRun), err
	}))
	app.Get("/v1/prisms", look(func(c *fiber.Ctx) (call, error) {
		return one(results.ListPrisms)(request.ParsePrismList(query(c)))
	}))
	app.Get("/v1/prisms/:prism", look(func(c *fiber.Ctx) (call, error) {
		return one(results.Prism)(request.ParsePrism(httpkit.Param(c, "prism")))
	}))
	app.Post("/v1/prisms/:prism/versions", change(func(c *fiber.Ctx, b request.Body) (call, error) {
		ref, sent, err := request.ParseNewVersion(httpkit.Param(c, "prism"), b)
		do, err := two(results.AddVersion)(ref, sent, err)
		return created(do, sent.DryRun), err
	}))
	app.Get("/v1/prisms/:prism/versions/:version", look(func(c *fiber.Ctx) (call, error) {
		return two(results.Version)(request.ParseVersion(httpkit.Param(c, "prism"), httpkit.Param(c, "version")))
	}))
	app.Put("/v1/prisms/:prism/lens", change(func(c *fiber.Ctx, b request.Body) (call, error) {
		return two(results.PutLens)(request.ParseLens(httpkit.Param(c, "prism"), b))
	}))
	for action, archived := range map[string]bool{"archive": true, "unarchive": false} {
		app.Post("/v1/prisms/:prism/"+action, change(func(c *fiber.Ctx, b request.Body) (call, error) {
			ref, err := request.ParsePrismAction(httpkit.Param(c, "prism"), b)
			return two(results.SetArchived)(ref, archived, err)
		}))
	}
}

// keys are the management calls on API keys.
func keys(app *fiber.App, results contract.Results) {
	app.Post("/v1/keys", change(func(_ *fiber.Ctx, b request.Body) (call, error) {
		do, err := one(results.CreateKey)(request.ParseNewKey(b))
		return created(do, false), err
	}))
	app.Get("/v1/keys", look(func(c *fiber.Ctx) (call, error) {
		return one(results.ListKeys)(request.ParseKeyList(query(c)))
	}))
	app.Post("/v1/keys/:key_id/revoke", change(func(c *fiber.Ctx, b request.Body) (call, error) {
		return one(results.RevokeKey)(request.ParseKeyAction(httpkit.Param(c, "key_id"), b))
	}))
}

// audit is the list of who changed what.
func audit(app *fiber.App, results contract.Results) {
	app.Get("/v1/audit", look(func(c *fiber.Ctx) (call, error) {
		return one(results.ListAudit)(request.ParseAuditList(query(c)))
	}))
}
