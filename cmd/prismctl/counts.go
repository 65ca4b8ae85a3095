package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// valueCount is a line of the counts of results.
type valueCount struct {
	By string `json:"by"`
	client.ValueCount
}

func (a *app) resultsCounts() *cobra.Command {
	var (
		status, from, to string
		by               []string
		filter           client.ResultFilter
		output           *output
	)
	cmd := a.calling(description{
		use: "counts", short: "Count results by answers, labels, versions and models",
		example: `prismctl results counts --prism tickets --by topic,@version
prismctl results counts --prism tickets --by refund --where topic:is:billing -o csv`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) (err error) {
		filter.Status = client.Status(status)
		filter.EmptyRef = cmd.Flags().Changed("ref") && filter.Ref == ""
		if filter.From, filter.To, err = period(from, to); err != nil {
			return err
		}
		counts, err := c.CountResults(cmd.Context(), filter, by)
		if err != nil {
			return err
		}
		if output.format == "json" || output.format == "yaml" {
			return a.write(cmd.Context(), output, counts)
		}
		lines := []valueCount{{By: "total", ValueCount: client.ValueCount{Count: counts.Total}}}
		for _, name := range by {
			for _, v := range counts.By[name] {
				lines = append(lines, valueCount{name, v})
			}
		}
		if !counts.Exact {
			_, _ = fmt.Fprintln(a.err, "These are the counts of the newest results only: there was no time for all.")
		}
		return list(cmd.Context(), a, output, each(lines), countColumns, func(v valueCount) row {
			return row{cells: []string{v.By, v.Value, v.Label, number(v.Count)}}
		})
	})
	f := cmd.Flags()
	f.StringSliceVar(&by, "by", nil, "questions, @version, @model, @status and @labelled, with commas between")
	completeFlag(cmd, "by", a.completeQuestions)
	selectFlags(cmd, &status, &filter.Ref, &filter.Model, &filter.KeyID, &filter.Run, &filter.ResultSearch)
	f.IntVar(&filter.Version, "version", 0, "only results of this version")
	timeFlags(cmd, &from, &to)
	a.prismFlag(cmd, &filter.Prism, "only results of this prism")
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var countColumns = columns{"by value label count", "by~ label~ count"}
