package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// assignmentFlags are the flags that select the results of a prism to assign.
var assignmentFlags = []string{"ref", "from", "to", "status", "version", "model", "key-id", "run", "assignee", "q", "where", "expect", "dry-run"}

func (a *app) resultsAssign() *cobra.Command {
	var (
		slug   string
		dryRun bool
		expect int
		match  matchFlags
	)
	cmd := a.calling(description{
		use: "assign ID [MEMBER] | --prism PRISM [MEMBER]", short: "Assign results to a member, or without one to nobody",
		example: `prismctl results assign "$RESULT" "$MEMBER"
prismctl results assign "$RESULT"
prismctl results assign --prism tickets --assignee none --q refund "$MEMBER"`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		changed := cmd.Flags().Changed
		if slug == "" {
			if slices.ContainsFunc(assignmentFlags, changed) || len(args) == 0 {
				return usage(errors.New("name a result by its id, or results by --prism"))
			}
			return a.assign(cmd, c, args)
		}
		if len(args) > 1 {
			return usage(errors.New("with --prism name the member alone"))
		}
		from, to, err := match.bounds("to")
		if err != nil {
			return err
		}
		many := client.ResultAssignment{
			From: from, To: to, Status: client.Status(match.status), Version: match.version, Model: match.model, Key: match.key, Run: match.run,
			Assignee: match.assignee, SearchMembers: client.SearchMembers(match.search),
		}
		if changed("ref") {
			many.Ref = &match.ref
		}
		if len(args) == 1 {
			many.Member = &args[0]
		}
		if dryRun || !changed("expect") {
			found, err := c.AssignResults(cmd.Context(), slug, many, 0, client.WithDryRun())
			if err != nil {
				return err
			}
			if expect = found.Assigned; dryRun {
				_, err = fmt.Fprintln(a.out, found.Assigned)
				return err
			}
		}
		done, err := c.AssignResults(cmd.Context(), slug, many, expect)
		if err == nil {
			_, _ = fmt.Fprintf(a.err, "%s assigned, %d of them not so before.\n", plural(done.Assigned, "result"), changedBy(done))
		}
		return err
	})
	cmd.Long = `Assign a result to a member of the account, or without a member to nobody.

With --prism these are the results that results list finds with the same flags, up to 1,000; with --expect, another number of results
assigns none.`
	f := cmd.Flags()
	a.prismFlag(cmd, &slug, "assign results of this prism")
	addMatchFlags(cmd, &match, "to")
	f.IntVar(&expect, "expect", 0, "assign none unless as many results match")
	f.BoolVar(&dryRun, "dry-run", false, "print how many results match, and assign none")
	return cmd
}

// changedBy is how many results had another assignee.
func changedBy(done client.Assigned) (n int) {
	for _, before := range done.Before {
		n += len(before.IDs)
	}
	return n
}

// assign assigns a result: the first argument to the second.
func (a *app) assign(cmd *cobra.Command, c *client.Client, args []string) error {
	member := ""
	if len(args) > 1 {
		member = args[1]
	}
	to, err := c.AssignResult(cmd.Context(), args[0], member)
	if err != nil {
		return err
	}
	name := "nobody"
	if to.Member != nil {
		name = printable(to.Member.Name)
	}
	_, _ = fmt.Fprintf(a.err, "%s is assigned to %s.\n", printable(args[0]), name)
	return nil
}
