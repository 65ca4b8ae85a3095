package route

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// listChanges reads a page of changes. A call that may wait has a place of event streams meanwhile.
func (d Deps) listChanges(c *fiber.Ctx, sent request.Parsed, err error) error {
	return d.operate(c, err, func(ctx context.Context, key contract.KeyDigest, leave func(error)) (err error) {
		defer func() { leave(err) }()
		in := *sent.Request.(*api.ListChangesRequest) //nolint:forcetypeassert // of the parser of the operation
		if in.Wait > 0 {
			free, err := httpkit.TakeEventPlace(c)
			if err != nil {
				return err
			}
			defer free()
		}
		wait := time.Duration(in.Wait) * time.Second
		in.Wait = 0 // results do not wait
		response, err := awaitChanges(d.Stopping(), in.After, wait, func(after int64) (contract.Response, error) {
			in.After = after
			return execute.LookUp(ctx, func(ctx context.Context) (contract.Response, error) {
				return d.Results.Do(ctx, key, api.ListChanges, &in)
			})
		})
		if err != nil {
			return err
		}
		return httpkit.SendOwn(c, fiber.StatusOK, response.ContentType, response.Body, false)
	})
}

// awaitChanges reads pages behind a change until one has a change, wait is over, or the service stops. Each page begins where the one
// before ended, and is read with the key of the caller, so a key that is revoked sees nothing more.
func awaitChanges(
	stopping context.Context, after int64, wait time.Duration, read func(after int64) (contract.Response, error),
) (response contract.Response, err error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	pause := time.NewTicker(eventPause)
	defer pause.Stop()
	var page struct {
		Data []strictjson.Value `json:"data"`
		Next int64              `json:"next"`
	}
	atOnce := make(chan time.Time)
	close(atOnce)
	for {
		if response, err = read(after); err != nil || wait == 0 {
			return response, err
		}
		if err := strictjson.Unmarshal(response.Body, &page); err != nil || len(page.Data) > 0 {
			return response, err
		}
		again := pause.C
		if page.Next > after { // there may be more to look through
			again = atOnce
		}
		after = page.Next
		select {
		case <-over.C:
			return response, nil
		case <-stopping.Done():
			return response, nil
		case <-again:
		}
	}
}
