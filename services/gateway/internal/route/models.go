package route

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/gateway/internal/execute"
)

// models is the list of the configured models, which model-proxy knows.
func models(app *fiber.App, d Deps) {
	app.Get("/v1/models", d.look(func(*fiber.Ctx) (call, error) {
		return call{status: fiber.StatusOK, do: d.listModels}, nil
	}))
}

func (d Deps) listModels(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
	found, err := d.authorizedList(ctx, key, contract.ListModels)
	if err != nil {
		return contract.Response{}, err
	}
	body, err := strictjson.Marshal(struct {
		Data []contract.Model `json:"data"`
	}{found})
	return contract.Response{ContentType: httpkit.JSONType, Body: body}, err
}

// authorizedList asks model-proxy for the models only for a key whose role allows the operation, so that nobody else can make
// it work (spec: order-of-checks-model).
func (d Deps) authorizedList(ctx context.Context, key contract.KeyDigest, op contract.Operation) ([]contract.Model, error) {
	if err := d.Results.Authorize(ctx, key, op); err != nil {
		return nil, err
	}
	return d.Models.List(ctx)
}

// configured is a call that stores or tries a definition, with a look at the configured models first, if the definition names
// a model, in the member of this path. The list is not cached: definitions are rarely stored, and a model counts from the
// moment in which it is configured.
func (d Deps) configured(c call, op contract.Operation, path, model string) call {
	if model == "" {
		return c
	}
	store := c.do
	c.do = func(ctx context.Context, key contract.KeyDigest) (contract.Response, error) {
		known, err := execute.LookUp(ctx, func(ctx context.Context) ([]contract.Model, error) {
			return d.authorizedList(ctx, key, op)
		})
		if err != nil {
			return contract.Response{}, err
		}
		if !slices.ContainsFunc(known, func(m contract.Model) bool { return m.Name == model }) {
			return contract.Response{}, apierr.Invalid(apierr.Problem{Path: path, Text: "No such model"})
		}
		return store(ctx, key)
	}
	return c
}
