package route

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// results are the calls on results.
func (r routes) results(app *fiber.App) {
	app.Post("/v1/prisms/:prism/results", executed(withBody(parseCreate),
		func(ctx context.Context, key contract.KeyDigest, sent request.Create) (contract.Response, error) {
			return r.Executor.Create(ctx, r.Stopping(), key, sent)
		}))
	app.Post("/v1/results/:result_id/retry", executed(withBody(parseRetry),
		func(ctx context.Context, key contract.KeyDigest, sent request.Result) (contract.Response, error) {
			return r.Executor.Retry(ctx, r.Stopping(), key, sent.ID, sent.Format)
		}))
	app.Get("/v1/results/:result_id", found(parseRead,
		func(ctx context.Context, key contract.KeyDigest, sent request.Result) (contract.Response, error) {
			return r.Results.Read(ctx, key, sent.ID, sent.Format)
		}))
	app.Get("/v1/results", found(parseResultList, r.Results.ListResults))
	app.Get("/v1/prisms/:prism/results", operate(parseExport, r.export))
}

func parseCreate(c *fiber.Ctx, b request.Body) (request.Create, error) {
	return request.ParseCreate(httpkit.Param(c, "prism"), query(c)("format"), b)
}

func parseRetry(c *fiber.Ctx, b request.Body) (request.Result, error) {
	return request.ParseRetry(httpkit.Param(c, "result_id"), query(c)("format"), b)
}

func parseRead(c *fiber.Ctx) (request.Result, error) {
	return request.ParseRead(httpkit.Param(c, "result_id"), query(c)("format"))
}

func parseResultList(c *fiber.Ctx) (contract.ResultList, error) {
	return request.ParseResultList(query(c))
}

func parseExport(c *fiber.Ctx) (contract.Export, error) {
	return request.ParseExport(httpkit.Param(c, "prism"), query(c))
}

// executed is an operation that returns a result: 200 if it is ok, 502 if it failed (spec: result-status).
func executed[T any](parse parse[T], call call[T]) fiber.Handler {
	return respond(func(_ T, response contract.Response) int {
		if response.Failed {
			return fiber.StatusBadGateway
		}
		return fiber.StatusOK
	}, parse, call)
}

func (r routes) export(c *fiber.Ctx, key contract.KeyDigest, sent contract.Export) error {
	stream, err := r.Results.Export(c.UserContext(), key, sent)
	if err != nil {
		return err
	}
	return httpkit.SendStream(c, stream.ContentType, stream.Body)
}
