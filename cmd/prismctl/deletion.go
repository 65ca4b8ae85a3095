package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// manyCounted is where Prism stops counting what a deletion deletes.
const manyCounted = 1_000_000

// deletionFlags are the flags that select the results of a prism to delete.
var deletionFlags = []string{"ref", "from", "before", "status", "version", "model", "key-id", "run", "assignee", "q", "where"}

func (a *app) resultsDelete() *cobra.Command {
	var (
		prism       string
		yes, dryRun bool
		expect      int
		match       matchFlags
	)
	cmd := a.calling(description{
		use: "delete ID... | --prism PRISM", short: "Delete results for good",
		example: `prismctl results delete "$RESULT"
prismctl results delete --prism tickets --before 2026-01-01 --dry-run
prismctl results delete --prism tickets --version 2 --where topic:is:billing --expect 120`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		ctx, changed := cmd.Context(), cmd.Flags().Changed
		from, before, err := match.bounds("before")
		if err != nil {
			return err
		}
		d := client.ResultDeletion{
			From: from, Before: before, Status: client.Status(match.status), Version: match.version, Model: match.model,
			Assignee: match.assignee, SearchMembers: client.SearchMembers(match.search),
		}
		if changed("ref") {
			d.Ref = &match.ref
		}
		if changed("expect") {
			d.Expect = &expect
		}
		if d.Key, d.Run, err = filterIDs(match.key, match.run); err != nil {
			return err
		}
		filtered := slices.ContainsFunc(deletionFlags, changed)
		switch {
		case len(args) > 0 && prism == "" && !filtered && !dryRun:
			return a.deleteEach(ctx, "result", args, yes, func(id string) error { return c.DeleteResult(ctx, id) })
		case len(args) > 0 || prism == "" || !filtered:
			return usage(errors.New("name results by their ids, or by --prism with at least one of --" + strings.Join(deletionFlags, ", --")))
		}
		return a.deleteMatches(ctx, c, prism, d, yes, dryRun)
	})
	cmd.Long = `Delete results for good: their fields, context, ref and answers. Their idempotency keys are free again.

Results are named by their ids, or are those of a prism that results list finds with the same flags; what several flags ask for must all
hold. Those are deleted in the background: the first at once, and those that were saved less than a minute ago a minute later. Without
--yes, prismctl asks first; with --expect, another number of results deletes none.`
	f := cmd.Flags()
	a.prismFlag(cmd, &prism, "delete results of this prism")
	addMatchFlags(cmd, &match, "before")
	f.IntVar(&expect, "expect", 0, "delete none unless as many results match")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask before deleting")
	f.BoolVar(&dryRun, "dry-run", false, "print how many results match, and delete none")
	return cmd
}

func (a *app) deleteEach(ctx context.Context, noun string, ids []string, yes bool, deleteOne func(id string) error) error {
	if !yes {
		if err := a.ask(ctx, fmt.Sprintf("Delete %s for good?", plural(len(ids), noun))); err != nil {
			return err
		}
	}
	var missing error
	for _, id := range ids {
		switch err := deleteOne(id); {
		case errors.Is(err, client.ErrNotFound): // maybe deleted by the same command before, which was cut off
			missing = errors.Join(missing, &aboutError{id, err})
		case err != nil:
			return errors.Join(missing, &aboutError{id, err})
		default:
			_, _ = fmt.Fprintf(a.err, "%s is deleted.\n", printable(id))
		}
	}
	return missing
}

func (a *app) deleteMatches(ctx context.Context, c *client.Client, prism string, d client.ResultDeletion, yes, dryRun bool) error {
	if dryRun || !yes {
		found, err := c.DeleteResults(ctx, prism, d, client.WithDryRun())
		n := found.Deleting
		if err != nil {
			return err
		}
		if dryRun {
			_, err := fmt.Fprintln(a.out, n)
			return err
		}
		if n > 0 {
			if err := a.ask(ctx, fmt.Sprintf("Delete %s of %s for good?", resultsOf(n), printable(prism))); err != nil {
				return err
			}
		}
	}
	found, err := c.DeleteResults(ctx, prism, d)
	if err == nil {
		_, _ = fmt.Fprintf(a.err, "%s to delete.\n", resultsOf(found.Deleting))
	}
	return err
}

// resultsOf is a number of results in words. Prism counts only up to manyCounted.
func resultsOf(n int) string {
	text := plural(n, "result")
	if n >= manyCounted {
		text += " or more"
	}
	return text
}

func (a *app) prismsRetention() *cobra.Command {
	var yes bool
	cmd := a.calling(description{
		use: "retention PRISM [DAYS|forever]", short: "Show or set how long results are kept",
		example: `prismctl prisms retention tickets
prismctl prisms retention tickets 90
prismctl prisms retention tickets forever`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		ctx := cmd.Context()
		if len(args) == 1 {
			p, err := c.ReadPrism(ctx, args[0])
			if err == nil {
				_, err = fmt.Fprintln(a.out, retentionText(p))
			}
			return err
		}
		var days *int
		if args[1] != "forever" {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 1 {
				return usage(errors.New("the retention is a number of days, or forever"))
			}
			days = &n
		}
		if days != nil && !yes {
			old := time.Now().Add(-time.Duration(min(*days, 3650)) * 24 * time.Hour)
			found, err := c.DeleteResults(ctx, args[0], client.ResultDeletion{Before: &old}, client.WithDryRun())
			if err != nil {
				return err
			}
			if n := found.Deleting; n > 0 {
				if err := a.ask(ctx, fmt.Sprintf("Delete %s of %s that are older for good?", resultsOf(n), printable(args[0]))); err != nil {
					return err
				}
			}
		}
		p, err := c.SetRetention(ctx, args[0], days)
		if err == nil {
			_, _ = fmt.Fprintf(a.err, "Results of %s are kept: %s.\n", p.Slug, retentionText(p))
		}
		return err
	})
	cmd.Long = `Show or set how long the results of a prism are kept. Older ones are deleted for good, within an hour.
prismctl asks first if results are that old already, unless there is --yes.`
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before older results are deleted")
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

// retentionText says how long a prism keeps results.
func retentionText(p client.Prism) string {
	if p.RetentionDays == nil {
		return "forever"
	}
	return fmt.Sprintf("%d days", *p.RetentionDays)
}
