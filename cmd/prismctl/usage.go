package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// recordOf reads the record of a result.
func (a *app) recordOf() *cobra.Command {
	var output string
	cmd := a.calling("record ID", "Read everything that is kept of the call of a result", cobra.ExactArgs(1),
		func(cmd *cobra.Command, c *client.Client, args []string) error {
			indent, known := map[string]string{"json": "  ", "jsonl": ""}[output]
			if !known {
				return usage(fmt.Errorf("unknown output %q: json or jsonl", output))
			}
			record, err := c.ReadRecord(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return writeJSON(a.out, record, indent)
		})
	cmd.Flags().StringVarP(&output, "output", "o", "json", "format: json or jsonl")
	choices(cmd, "output", "json", "jsonl")
	return cmd
}

func (a *app) usage() *cobra.Command {
	var (
		output, from, to, by string
		filter               client.UsageFilter
	)
	cmd := a.calling("usage", "Add up results, tokens and cost", cobra.NoArgs, func(cmd *cobra.Command, c *client.Client, _ []string) (err error) {
		if filter.From, filter.To, err = period(from, to); err != nil {
			return err
		}
		filter.By = client.UsageBy(by)
		used, err := c.ReadUsage(cmd.Context(), filter)
		if err != nil {
			return err
		}
		column := by
		if by == string(client.ByKey) {
			column = "key_id"
		}
		return list(a, output, each(used.Data), column+" results failed input_tokens output_tokens cost currency",
			func(s client.UsageSum) row { return usageRow(s, output == "table" && !a.exact) })
	})
	outputFlag(cmd, &output)
	cmd.Flags().StringVar(&from, "from", "", "the first day in UTC, such as 2026-11-01 (30 days before --to)")
	cmd.Flags().StringVar(&to, "to", "", "the day after the last (tomorrow)")
	cmd.Flags().StringVar(&by, "by", string(client.ByDay), "what the sums are of: day, prism, model or key")
	choices(cmd, "by", string(client.ByDay), string(client.ByPrism), string(client.ByModel), string(client.ByKey))
	callFlags(cmd, &filter.Model, &filter.KeyID)
	a.prismFlag(cmd, &filter.Prism, "only results of this prism")
	return cmd
}

// each iterates over items that are there.
func each[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func usageRow(s client.UsageSum, short bool) row {
	return row{cells: []string{
		s.Day + optional(s.Prism) + optional(s.Model) + optional(s.KeyID), number(s.Results), number(s.Failed), number(s.InputTokens),
		number(s.OutputTokens), cost(s.Cost, short), optional(s.Currency),
	}}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// cost is an amount with all its digits, or for people with two to six behind the point.
func cost(exact *json.Number, short bool) string {
	if exact == nil {
		return ""
	}
	if !short {
		return exact.String()
	}
	whole, rest, _ := strings.Cut(exact.String(), ".")
	if len(rest) > 6 { // the last digit is rounded
		if f, err := exact.Float64(); err == nil {
			whole, rest, _ = strings.Cut(strconv.FormatFloat(f, 'f', 6, 64), ".")
		}
		rest = strings.TrimRight(rest, "0")
	}
	return whole + "." + rest + strings.Repeat("0", max(0, 2-len(rest)))
}
