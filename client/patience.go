package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
)

// patience is how many times in a row a step of a long operation may fail without progress: about half a minute, in which a
// server can restart.
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

// mayPass tells whether a later try may succeed after an error.
func mayPass(err error) bool {
	var cut *ConnectionError
	var refused *Error
	return errors.As(err, &cut) || errors.As(err, &refused) && refused.Status >= http.StatusInternalServerError
}

// ended is the error of a context for which wait returned false, also if only its deadline is too early for the pause.
func ended(ctx context.Context) error { return cmp.Or(context.Cause(ctx), context.DeadlineExceeded) }
