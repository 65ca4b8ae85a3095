package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
)

// patience is how often a step of something that takes long may fail in a row without progress: half a minute or more, in which
// a server restarts.
const patience = 10

// patiently repeats a step that fails for a reason that may pass, until it succeeds. The step tells whether it made progress.
func (c *Client) patiently(ctx context.Context, step func() (progress bool, err error)) error {
	for n := 1; ; n++ {
		progress, err := step()
		if err == nil {
			return nil
		}
		if progress {
			n = 1
		}
		if n >= patience || !mayPass(err) || !c.pause.wait(ctx, n, RetryAfter(err)) {
			return err
		}
	}
}

// mayPass tells whether an error may be gone at the next try.
func mayPass(err error) bool {
	var cut *ConnectionError
	var refused *Error
	return errors.As(err, &cut) || errors.As(err, &refused) && refused.Status >= http.StatusInternalServerError
}

// ended is the error of a context for which wait returned false, also if only its deadline is too early for the pause.
func ended(ctx context.Context) error { return cmp.Or(context.Cause(ctx), context.DeadlineExceeded) }
