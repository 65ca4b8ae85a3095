package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) retry() *cobra.Command {
	var (
		prism, from, to        string
		allFailed, yes, dryRun bool
		search                 client.ResultSearch
		output                 *output
	)
	cmd := a.calling(description{
		use: "retry ID... | --all-failed", short: "Call the model again for failed results",
		example: `prismctl retry "$RESULT"
prismctl retry --all-failed --prism tickets --dry-run`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		ctx := cmd.Context()
		switch {
		case allFailed == (len(args) > 0):
			return usage(errors.New("name results by their ids, or give --all-failed"))
		case !allFailed && (prism != "" || from != "" || to != "" || search.Q != "" || search.Where != nil || yes || dryRun):
			return usage(errors.New("--prism, --from, --to, --q, --where, --yes and --dry-run go with --all-failed"))
		case allFailed && cmd.Flags().Changed("output"):
			return usage(errors.New("--output is for results named by their ids"))
		}
		if allFailed {
			r, err := retryOf(from, to)
			if err != nil {
				return err
			}
			r.SearchMembers = client.SearchMembers(search)
			return a.retryAll(ctx, c, prism, r, yes, dryRun)
		}
		var errs []error
		for _, id := range args {
			errs = append(errs, a.show(ctx, c, output, func(o client.CallOption) (client.Result, error) { return c.RetryResult(ctx, id, o) }))
		}
		return errors.Join(errs...)
	})
	cmd.Long = `Call the model again for failed results. Each retry saves a new result; a result can be retried once.

--all-failed retries every failed result that was not retried yet, of one prism or of all that are not archived,
in the background. prismctl shows how many they are and asks first, unless there is --yes.`
	output = outputFlag(cmd, resultFormats...)
	cmd.Flags().BoolVar(&allFailed, "all-failed", false, "retry every failed result")
	a.prismFlag(cmd, &prism, "with --all-failed, only results of this prism")
	timeFlags(cmd, &from, &to)
	searchFlags(cmd, &search)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --all-failed, do not ask before retrying")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --all-failed, print how many results match, and retry none")
	return cmd
}

// retryOf is a retry of the results of a period.
func retryOf(from, to string) (client.ResultRetry, error) {
	begin, end, err := period(from, to)
	return client.ResultRetry{From: optionalTime(begin), To: optionalTime(end)}, err
}

// retryAll retries the failed results of a prism, or of every prism.
func (a *app) retryAll(ctx context.Context, c *client.Client, prism string, r client.ResultRetry, yes, dryRun bool) error {
	prisms := []string{prism}
	if prism == "" {
		prisms = nil
		for p, err := range c.Prisms(ctx, client.PrismFilter{}) {
			if err != nil {
				return err
			}
			prisms = append(prisms, p.Slug)
		}
	}
	total := 0
	counts := map[string]int{}
	for _, name := range prisms {
		r.Prism = name
		found, err := c.RetryResults(ctx, r, 0, client.WithDryRun())
		if err != nil {
			return &aboutError{name, err}
		}
		counts[name] = found.Retrying
		total += found.Retrying
	}
	if dryRun {
		_, err := fmt.Fprintln(a.out, total)
		return err
	}
	if total > 0 && !yes {
		question := fmt.Sprintf("Retry %s?", plural(total, "failed result"))
		if prism != "" {
			question = fmt.Sprintf("Retry %s of %s?", plural(total, "failed result"), printable(prism))
		}
		if err := a.ask(ctx, question); err != nil {
			return err
		}
	}
	var errs []error
	retrying := 0
	for _, name := range prisms {
		if counts[name] == 0 {
			continue
		}
		r.Prism = name
		found, err := c.RetryResults(ctx, r, counts[name])
		if err != nil {
			errs = append(errs, &aboutError{name, err})
		}
		retrying += found.Retrying
	}
	_, _ = fmt.Fprintf(a.err, "%s to retry.\n", plural(retrying, "failed result"))
	return errors.Join(errs...)
}
