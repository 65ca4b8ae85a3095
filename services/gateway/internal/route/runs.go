package route

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// createRun makes a run, or answers the dry run of one. Of a run of results the file is made first, by the service of that name (spec:
// run-from-labels, run-from-results). The file of a dry run is deleted, or expires if it cannot be.
func (d Deps) createRun(ctx context.Context, key contract.KeyDigest, in api.CreateRunRequest) (contract.Response, error) {
	if !in.DryRun {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, api.LabelsRunWait+api.StoreWait)
		defer cancel()
	}
	if in.MakesFile() {
		if in.DryRun {
			in.IdempotencyKey = "" // it would find an earlier run instead of the labels
		}
		waiting, cancel := context.WithTimeout(ctx, api.LabelsRunWait)
		made, err := d.Results.LabelsRun(waiting, key, in.Prism, in.NewRun)
		cancel()
		if err != nil {
			return contract.Response{}, err
		}
		if in.DryRun {
			defer func() { _, _ = d.Results.DropLabelsFile(context.WithoutCancel(ctx), key, made.File) }()
		}
		in.NewRun = made
	}
	if in.DryRun {
		return d.DryRun(ctx, key, in.Prism, in.NewRun)
	}
	return d.Results.Do(ctx, key, api.CreateRun, &in)
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
