package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/digits"
)

func (a *app) results() *cobra.Command {
	results := group("results", "Read, list, retry and export results")
	results.AddCommand(a.resultsGet(), a.resultsList(), a.retry(), a.export())
	return results
}

func (a *app) resultsGet() *cobra.Command {
	var format string
	cmd := a.calling("get ID", "Read a result", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		f, err := formatOf(format)
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		return a.show(f, reply{
			result: func() (client.Result, error) { return c.ReadResult(ctx, args[0]) },
			as:     func(f client.Format) (io.ReadCloser, error) { return c.ReadResultAs(ctx, args[0], f) },
			prism:  prismOf(ctx, c, args[0]),
		})
	})
	formatFlag(cmd, &format)
	return cmd
}

func (a *app) resultsList() *cobra.Command {
	var (
		output, status string
		filter         client.ResultFilter
		limit          int
		all            bool
	)
	cmd := a.calling("list", "List results, newest first", cobra.NoArgs, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		if limit < 1 {
			return usage(errors.New("--limit is at least 1; --all lists all"))
		}
		if all {
			limit = 0
		}
		filter.Status = client.Status(status)
		return list(a, output, first(c.Results(cmd.Context(), filter), limit), a.resultColumns())
	})
	outputFlag(cmd, &output)
	filterFlags(cmd, &filter.Prism, &status)
	cmd.Flags().StringVar(&filter.Ref, "ref", "", "only results with this ref")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most")
	cmd.Flags().BoolVar(&all, "all", false, "list all, however many there are")
	a.completePrismFlag(cmd)
	return cmd
}

func filterFlags(cmd *cobra.Command, prism, status *string) {
	cmd.Flags().StringVar(prism, "prism", "", "only results of this prism")
	cmd.Flags().StringVar(status, "status", "", "only results with this status: ok or failed")
	choices(cmd, "status", "ok", "failed")
}

func (a *app) completePrismFlag(cmd *cobra.Command) {
	err := cmd.RegisterFlagCompletionFunc("prism", func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return a.completePrisms(cmd, nil, start)
	})
	if err != nil {
		panic("prismctl: no such flag: prism")
	}
}

func (a *app) resultColumns() []column[client.Result] {
	failed := func(r client.Result) color {
		if r.Status == client.Failed {
			return red
		}
		return ""
	}
	return []column[client.Result]{
		{name: "id", cell: func(r client.Result) string { return r.ID }},
		{name: "ref", cell: func(r client.Result) string { return optional(r.Ref) }},
		{name: "prism", cell: func(r client.Result) string { return r.Prism }},
		{name: "version", cell: func(r client.Result) string { return strconv.Itoa(r.Version) }},
		{name: "status", cell: func(r client.Result) string { return string(r.Status) }, color: failed},
		{name: "took_ms", cell: func(r client.Result) string { return strconv.FormatInt(r.TookMS, 10) }},
		{name: "created_at", cell: func(r client.Result) string { return r.CreatedAt.String() }},
		{name: "answers", cell: a.answersCell},
	}
}

// answersCell is the answers as JSON, or why there are none.
func (a *app) answersCell(r client.Result) string {
	if r.Error != nil {
		return *r.Error
	}
	answers := r.Answers
	if !a.exact {
		answers = digits.Answers(answers)
	}
	text, err := json.Marshal(answers)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}
