package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) resultsComment() *cobra.Command {
	return a.calling(description{
		use: "comment ID TEXT", short: "Comment on a result and print the comment's id",
		example: `prismctl results comment "$RESULT" "The customer means the second invoice."`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		made, err := c.CreateComment(cmd.Context(), args[0], args[1])
		if err == nil {
			_, err = fmt.Fprintln(a.out, made.ID)
		}
		return err
	})
}

func (a *app) resultsComments() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "comments ID", short: "List the comments of a result, newest first",
		example: `prismctl results comments "$RESULT"`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		return list(cmd.Context(), a, output, c.Comments(cmd.Context(), args[0]), commentColumns, func(m client.Comment) row {
			return row{cells: []string{m.ID, m.Author.Kind, m.Author.ID, m.Author.Name, m.Text, m.CreatedAt.String()}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var commentColumns = columns{"id kind author_id author text created_at", "id author~ text~ created_at:created"}

func (a *app) resultsUncomment() *cobra.Command {
	return a.calling(description{
		use: "uncomment ID COMMENT", short: "Delete a comment of your own, or as an owner any",
		example: `prismctl results uncomment "$RESULT" "$COMMENT"`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		if err := c.DeleteComment(cmd.Context(), args[0], args[1]); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "%s is deleted.\n", printable(args[1]))
		return nil
	})
}

func (a *app) resultsAssignee() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "assignee ID", short: "Read whom a result is assigned to", example: `prismctl results assignee "$RESULT"`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		to, err := c.ReadAssignee(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.write(cmd.Context(), output, to)
	})
	output = outputFlag(cmd, "json", "yaml", "jsonl")
	return cmd
}

func (a *app) resultsAssignees() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "assignees", short: "List the members whom results can be assigned to, newest first", example: "prismctl results assignees",
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(cmd.Context(), a, output, c.Assignees(cmd.Context()), assigneeColumns, func(m client.AssignedMember) row {
			return row{cells: []string{m.ID, m.Name}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var assigneeColumns = columns{"id name", "id name~"}
