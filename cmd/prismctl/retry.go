package main

import (
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
	cmd.Flags().StringVar(&prism, "prism", "", "with --all-failed, only results of this prism")
	cmd.Flags().IntVar(&parallel, "parallel", 4, "with --all-failed, how many retries at once")
	a.completePrismFlag(cmd)
	return cmd
}

// tally counts the outcomes of retries.
type tally struct {
	mu                         sync.Mutex
	ok, failed, earlier, other int
	err                        error // the first of the others
}

// retryAll retries failed results while it lists them, newest first. Results that fail again are newer than the list's
// position, so they are not retried again.
func (a *app) retryAll(ctx context.Context, c *client.Client, prism string, parallel int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var t tally
	var workers sync.WaitGroup
	ids := make(chan string)
	for range parallel {
		workers.Go(func() {
			for id := range ids {
				_, err := c.RetryResult(ctx, id)
				if t.add(err); fatal(err) {
					cancel()
				}
				a.err.status("%s", &t)
			}
		})
	}
	err := feed(ctx, c, prism, ids)
	close(ids)
	workers.Wait()
	a.err.status("")
	_, _ = fmt.Fprintln(a.err, &t)
	switch {
	case t.err != nil:
		return t.err
	case err != nil:
		return err
	case t.failed > 0:
		return &codeError{exitFailed, nil}
	}
	return nil
}

func feed(ctx context.Context, c *client.Client, prism string, ids chan<- string) error {
	for r, err := range c.Results(ctx, client.ResultFilter{Prism: prism, Status: client.Failed}) {
		if err != nil {
			return err
		}
		select {
		case ids <- r.ID:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// fatal tells whether every other retry would get the same error.
func fatal(err error) bool {
	var cut *client.ConnectionError
	return errors.Is(err, client.ErrUnauthorized) || errors.Is(err, client.ErrUnexpected) || errors.As(err, &cut)
}

func (t *tally) add(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
		if t.err == nil {
			t.err = err
		}
	}
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprintf("%d answered, %d failed again, %d skipped (retried before, or of an archived prism)", t.ok, t.failed, t.earlier)
	if t.other > 0 {
		text += fmt.Sprintf(", %d not retried", t.other)
	}
	return text
}
