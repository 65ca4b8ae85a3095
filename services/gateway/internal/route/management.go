package route

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// onPrism is a management call on one prism. Each call sets the members that it reads.
type onPrism struct {
	ref     prism.Ref
	number  int32
	version contract.NewVersion
	lens    contract.NewLens
}

// prisms are the management calls on prisms.
func (r routes) prisms(app *fiber.App) {
	app.Post("/v1/prisms", created(func(p contract.NewPrism) bool { return p.DryRun }, withBody(parseNewPrism), r.Results.CreatePrism))
	app.Get("/v1/prisms", found(parsePrismList, r.Results.ListPrisms))
	app.Get("/v1/prisms/:prism", found(parsePrism, r.Results.Prism))
	app.Post("/v1/prisms/:prism/versions", created(func(on onPrism) bool { return on.version.DryRun }, withBody(parseNewVersion),
		func(ctx context.Context, key contract.KeyDigest, on onPrism) (contract.Response, error) {
			return r.Results.AddVersion(ctx, key, on.ref, on.version)
		}))
	app.Get("/v1/prisms/:prism/versions/:version", found(parseVersion,
		func(ctx context.Context, key contract.KeyDigest, on onPrism) (contract.Response, error) {
			return r.Results.Version(ctx, key, on.ref, on.number)
		}))
	app.Put("/v1/prisms/:prism/lens", changed(withBody(parseLens),
		func(ctx context.Context, key contract.KeyDigest, on onPrism) (contract.Response, error) {
			return r.Results.PutLens(ctx, key, on.ref, on.lens)
		}))
	app.Post("/v1/prisms/:prism/archive", r.setArchived(true))
	app.Post("/v1/prisms/:prism/unarchive", r.setArchived(false))
}

// keys are the management calls on API keys.
func (r routes) keys(app *fiber.App) {
	app.Post("/v1/keys", created(func(string) bool { return false }, withBody(parseNewKey), r.Results.CreateKey))
	app.Get("/v1/keys", found(parseNothing,
		func(ctx context.Context, key contract.KeyDigest, _ struct{}) (contract.Response, error) {
			return r.Results.ListKeys(ctx, key)
		}))
	app.Post("/v1/keys/:key_id/revoke", changed(withBody(parseKeyAction), r.Results.RevokeKey))
}

func (r routes) setArchived(archived bool) fiber.Handler {
	return changed(withBody(parsePrismAction),
		func(ctx context.Context, key contract.KeyDigest, ref prism.Ref) (contract.Response, error) {
			return r.Results.SetArchived(ctx, key, ref, archived)
		})
}

func parseNewPrism(_ *fiber.Ctx, b request.Body) (contract.NewPrism, error) {
	return request.ParseNewPrism(b)
}

func parsePrismList(c *fiber.Ctx) (contract.PrismList, error) {
	return request.ParsePrismList(query(c))
}

func parsePrism(c *fiber.Ctx) (prism.Ref, error) {
	return request.ParsePrism(httpkit.Param(c, "prism"))
}

func parsePrismAction(c *fiber.Ctx, b request.Body) (prism.Ref, error) {
	return request.ParsePrismAction(httpkit.Param(c, "prism"), b)
}

func parseNewVersion(c *fiber.Ctx, b request.Body) (on onPrism, err error) {
	on.ref, on.version, err = request.ParseNewVersion(httpkit.Param(c, "prism"), b)
	return on, err
}

func parseVersion(c *fiber.Ctx) (on onPrism, err error) {
	on.ref, on.number, err = request.ParseVersion(httpkit.Param(c, "prism"), httpkit.Param(c, "version"))
	return on, err
}

func parseLens(c *fiber.Ctx, b request.Body) (on onPrism, err error) {
	on.ref, on.lens, err = request.ParseLens(httpkit.Param(c, "prism"), b)
	return on, err
}

func parseNewKey(_ *fiber.Ctx, b request.Body) (string, error) { return request.ParseNewKey(b) }

func parseKeyAction(c *fiber.Ctx, b request.Body) (prism.KeyID, error) {
	return request.ParseKeyAction(httpkit.Param(c, "key_id"), b)
}

func parseNothing(*fiber.Ctx) (struct{}, error) { return struct{}{}, nil }
