package route

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// answering are the operations of the contract, and the listings of their results (decisions 7).
func (r routes) answering(app *fiber.App) {
	app.Post("/v1/prisms/:prism/results", answered(withBody(parseCreate),
		func(ctx context.Context, key contract.KeyDigest, sent request.Create) (contract.Response, error) {
			return r.Answerer.Create(ctx, r.Stopping(), key, sent)
		}))
	app.Post("/v1/results/:result_id/retry", answered(withBody(parseRetry),
		func(ctx context.Context, key contract.KeyDigest, sent request.Result) (contract.Response, error) {
			return r.Answerer.Retry(ctx, r.Stopping(), key, sent.ID, sent.Format)
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

// answered is an operation that ends in a new or stored result: 200 when it is ok, 502 when it failed (contract 3).
func answered[T any](parse parse[T], ask func(context.Context, contract.KeyDigest, T) (contract.Response, error)) fiber.Handler {
	return operate(parse, func(c *fiber.Ctx, key contract.KeyDigest, sent T) error {
		doc, err := ask(c.UserContext(), key, sent)
		if err != nil {
			return err
		}
		status := fiber.StatusOK
		if doc.Failed {
			status = fiber.StatusBadGateway
		}
		return httpkit.Send(c, status, doc.ContentType, doc.Body)
	})
}

func (r routes) export(c *fiber.Ctx, key contract.KeyDigest, sent contract.Export) error {
	stream, err := r.Results.Export(c.UserContext(), key, sent)
	if err != nil {
		return err
	}
	return httpkit.SendStream(c, stream.ContentType, stream.Body)
}
