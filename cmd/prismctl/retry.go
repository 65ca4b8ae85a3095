package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) retry() *cobra.Command {
	var (
		format, prism string
		allFailed     bool
		parallel      int
	)
	cmd := a.calling("retry ID... | --all-failed", "Call the model again for failed results", cobra.ArbitraryArgs, func(cmd *cobra.Command, c *client.Client, args []string) error {
		ctx := cmd.Context()
		f, err := formatOf(format)
		switch {
		case err != nil:
			return err
		case allFailed == (len(args) > 0):
			return usage(errors.New("name results by their ids, or give --all-failed"))
		case prism != "" && !allFailed:
			return usage(errors.New("--prism goes with --all-failed"))
		case allFailed && cmd.Flags().Changed("format"):
			return usage(errors.New("--format is for results named by their ids"))
		case parallel < 1 || parallel > 64:
			return usage(errors.New("--parallel is 1 to 64"))
		}
		if allFailed {
			return a.retryAll(ctx, c, prism, parallel)
		}
		var errs []error
		for _, id := range args {
			errs = append(errs, a.show(ctx, c, f, func(f client.Format) (io.ReadCloser, error) { return c.RetryResultAs(ctx, id, f) }))
		}
		return errors.Join(errs...)
	})
	cmd.Long = `Call the model again for failed results. Each retry saves a new result; a result can be retried once.

--all-failed retries every failed result that was not retried yet, of prisms that are not archived. You can
interrupt it and run it again.`
	formatFlag(cmd, &format)
	cmd.Flags().BoolVar(&allFailed, "all-failed", false, "retry every failed result")
	cmd.Flags().IntVar(&parallel, "parallel", 4, "with --all-failed, how many retries at once")
	a.prismFlag(cmd, &prism, "with --all-failed, only results of this prism")
	return cmd
}

// tally counts the outcomes of retries.
type tally struct {
	ok, failed, earlier, other int
	err                        error // the first of the others
}

// retryAll retries failed results while it lists them, newest first. Results that fail again are newer than the list's
// position, so they are not retried again.
func (a *app) retryAll(ctx context.Context, c *client.Client, prism string, parallel int) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var t tally
	var lock sync.Mutex // of t and the status line
	var calls sync.WaitGroup
	free := make(chan struct{}, parallel)
	for r, listErr := range c.Results(ctx, client.ResultFilter{Prism: prism, Status: client.Failed}) {
		free <- struct{}{} // calls end with ctx, so this does not block for long
		if err = cmp.Or(listErr, ctx.Err()); err != nil {
			break
		}
		calls.Go(func() {
			defer func() { <-free }()
			_, err := c.RetryResult(ctx, r.ID)
			lock.Lock()
			defer lock.Unlock()
			if t.add(err); fatal(err) {
				cancel()
			}
			a.err.status("%s", &t)
		})
	}
	calls.Wait()
	a.err.status("")
	_, _ = fmt.Fprintln(a.err, &t)
	switch {
	case t.err != nil:
		return t.err
	case err == nil && t.failed > 0:
		return &codeError{exitFailed, errTold}
	}
	return err
}

// fatal tells whether every other retry would get the same error.
func fatal(err error) bool {
	var cut *client.ConnectionError
	return errors.Is(err, client.ErrUnauthorized) || errors.Is(err, client.ErrUnexpected) || errors.As(err, &cut)
}

func (t *tally) add(err error) {
	var failed *client.FailedError
	switch {
	case err == nil:
		t.ok++
	case errors.As(err, &failed):
		t.failed++
	case errors.Is(err, client.ErrConflict), errors.Is(err, client.ErrNotFound):
		t.earlier++ // it was retried before, or its prism is archived
	default:
		t.other++
		t.err = cmp.Or(t.err, err)
	}
}

func (t *tally) String() string {
	text := fmt.Sprintf("%d answered, %d failed again, %d skipped (retried before, or of an archived prism)", t.ok, t.failed, t.earlier)
	if t.other > 0 {
		text += fmt.Sprintf(", %d not retried", t.other)
	}
	return text
}
