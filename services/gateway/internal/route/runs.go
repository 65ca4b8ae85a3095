package route

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// fromLabels is a call with a new run whose file results may have to make first (spec: run-from-labels).
func fromLabels(
	runs contract.Runs, do func(context.Context, contract.KeyDigest, prism.Ref, contract.NewRun) (contract.Response, error),
) func(context.Context, contract.KeyDigest, prism.Ref, contract.NewRun) (contract.Response, error) {
	return func(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n contract.NewRun) (contract.Response, error) {
		if n.FromLabelsOf != 0 {
			waiting, cancel := context.WithTimeout(ctx, contract.LabelsRunWait)
			made, err := runs.LabelsRun(waiting, key, ref, n)
			cancel()
			if err != nil {
				return contract.Response{}, err
			}
			n = made
		}
		return do(ctx, key, ref, n)
	}
}

// dryFromLabels is fromLabels of a dry run: the file that it makes is deleted, or expires if it cannot be.
func (d Deps) dryFromLabels(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n contract.NewRun) (contract.Response, error) {
	return fromLabels(d.Results, func(ctx context.Context, key contract.KeyDigest, ref prism.Ref, made contract.NewRun) (contract.Response, error) {
		if n.FromLabelsOf != 0 {
			defer func() { _, _ = d.Results.DropLabelsFile(context.WithoutCancel(ctx), key, made.File) }()
		}
		return d.DryRun(ctx, key, ref, made)
	})(ctx, key, ref, n)
}

// runs are the calls on runs of files.
func runs(app *fiber.App, d Deps) {
	app.Post("/v1/prisms/:prism/runs", d.change(func(c *fiber.Ctx, b request.Body) (call, error) {
		sent, err := request.ParseNewRun(httpkit.Param(c, "prism"), b)
		if sent.DryRun {
			return two(d.dryFromLabels)(sent.Prism, sent.Run, err)
		}
		do, err := two(fromLabels(d.Results, d.Results.CreateRun))(sent.Prism, sent.Run, err)
		return within(contract.LabelsRunWait+api.StoreWait, created(do, false), err)
	}))
}

// follow looks the run up, and sends events that begin with it.
func (d Deps) follow(c *fiber.Ctx, sent request.Parsed, err error) error {
	return d.operate(c, err, func(ctx context.Context, key contract.KeyDigest, leave func(error)) error {
		read := func() (contract.Response, error) {
			return execute.LookUp(ctx, func(ctx context.Context) (contract.Response, error) {
				return d.Results.Do(ctx, key, api.ReadRun, sent.Request)
			})
		}
		first, err := read()
		if err != nil {
			leave(err)
			return err
		}
		return httpkit.SendEvents(c, leaving{newEvents(d.Stopping(), first.Body, read), leave})
	})
}
