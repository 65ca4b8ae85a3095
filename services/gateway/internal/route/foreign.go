package route

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

const (
	// shouldRetry tells clients of OpenAI whether to repeat a call, which they otherwise do of every 409 and 5xx (spec: retries-of-others).
	shouldRetry = "X-Should-Retry"
	// failedRetryAfter is the pause that the 502 of a failed result asks for, in seconds. The client of System One knows no other word for
	// no: it gives up when the pause is longer than the 30 s that a call may take with its repeats.
	failedRetryAfter = "60"
)

// foreignHeaders sets the headers of a response in a format of others.
func foreignHeaders(c *fiber.Ctx, r contract.Response) {
	c.Set("Prism-Result-Id", r.Result.String())
	c.Set("Prism-Version", strconv.Itoa(int(r.Version)))
	if r.Failed {
		c.Set(shouldRetry, "false")
		c.Set(fiber.HeaderRetryAfter, failedRetryAfter)
	}
}

// createForeign makes a result of a call in a format of others. Whoever makes an ad-hoc prism has to be an editor, and its model has to be
// configured (spec: adhoc-order).
func (d Deps) createForeign(ctx context.Context, key contract.KeyDigest, sent api.ForeignCall) (contract.Response, error) {
	return d.Executor.CreateForeign(ctx, d.Stopping(), key, sent, func(ctx context.Context, asked prism.Definition) error {
		return d.configured(ctx, key, api.CreatePrism, "", asked)
	})
}

// foreignErrors gives errors the members of the formats of others too (spec: errors-of-others).
func foreignErrors(handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		httpkit.ExtendErrors(c, func(e *apierr.Error) (members []byte) {
			if e.Status == fiber.StatusConflict {
				c.Response().Header.Set(shouldRetry, "false")
			}
			return errorMembers(e)
		})
		return handle(c)
	}
}

// errorMembers are those of an error in the formats of others, beside code and message.
func errorMembers(e *apierr.Error) []byte {
	kind := map[int]string{
		fiber.StatusUnauthorized: "authentication_error", fiber.StatusForbidden: "permission_error",
		fiber.StatusInternalServerError: "server_error",
	}[e.Status]
	if kind == "" {
		kind = "invalid_request_error"
	}
	b := strictjson.AppendString([]byte(`"type":`), kind)
	b = append(b, `,"param":`...)
	if path := e.FirstPath(); path != "" {
		return strictjson.AppendString(b, path)
	}
	return append(b, "null"...)
}
