package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// changesWait is how long a call of a follower waits for a change.
const changesWait = 25 * time.Second

func (a *app) changes() *cobra.Command {
	var (
		filter client.ChangeFilter
		follow bool
		size   listSize
		output *output
	)
	cmd := a.calling(description{
		use: "changes", short: "List what happened to results, oldest first",
		example: `prismctl changes --all -o jsonl
prismctl changes --follow --after 4183`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		limit, err := size.items()
		if err != nil {
			return err
		}
		if follow {
			if !cmd.Flags().Changed("output") {
				output.format = "jsonl"
			}
			if output.format != "jsonl" {
				return usage(errors.New("--follow goes with -o jsonl"))
			}
			filter.Wait, limit = changesWait, 0
		}
		err = list(cmd.Context(), a, output, first(c.Changes(cmd.Context(), filter), limit), changeColumns, changeRow)
		if follow && cmd.Context().Err() != nil {
			return &codeError{exitInterrupted, errTold}
		}
		return err
	})
	output = outputFlag(cmd, listFormats...)
	cmd.Flags().Int64Var(&filter.After, "after", 0, "the seq behind which they begin (before the first that is kept)")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "wait for further changes, until Ctrl-C, one JSON line each")
	a.prismFlag(cmd, &filter.Prism, "only changes of results of this prism")
	size.flags(cmd)
	return cmd
}

var changeColumns = columns{"seq at type prism result_id", "seq type prism~ result_id at:when"}

func changeRow(c client.Change) row {
	return row{cells: []string{strconv.FormatInt(c.Seq, 10), c.At.String(), string(c.Type), c.Prism, c.ResultID}}
}
