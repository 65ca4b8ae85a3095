package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) usage() *cobra.Command {
	var (
		from, to, by string
		filter       client.UsageFilter
		output       *output
	)
	cmd := a.calling(description{
		use: "usage", short: "Add up results, tokens and cost",
		example: `prismctl usage
prismctl usage --by prism --from 2026-11-01 -o csv`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) (err error) {
		if filter.From, filter.To, err = period(from, to); err != nil {
			return err
		}
		filter.By = client.UsageBy(by)
		used, err := c.ReadUsage(cmd.Context(), filter)
		if err != nil {
			return err
		}
		if used.More {
			_, _ = fmt.Fprintln(a.err, "These have the most results. There are others: --prism, --model and --key-id find them.")
		}
		column := by
		if by == string(client.ByKey) {
			column = "key_id"
		}
		short := (output.format == "table" || output.format == "wide") && !a.exact
		return list(cmd.Context(), a, output, each(used.Data), usageColumns(column), func(s client.UsageSum) row { return usageRow(s, short) })
	})
	output = outputFlag(cmd, listFormats...)
	cmd.Flags().StringVar(&from, "from", "", "the first day in UTC, such as 2026-11-01 (30 days before --to)")
	cmd.Flags().StringVar(&to, "to", "", "the day after the last (tomorrow)")
	cmd.Flags().StringVar(&by, "by", string(client.ByDay), "what the sums are of: day, prism, model or key")
	choices(cmd, "by", string(client.ByDay), string(client.ByPrism), string(client.ByModel), string(client.ByKey))
	callFlags(cmd, &filter.Model, &filter.KeyID)
	a.prismFlag(cmd, &filter.Prism, "only results of this prism")
	return cmd
}

// usageColumns are the columns of sums by a column. Beside the long id of a key there is no room for tokens.
func usageColumns(title string) columns {
	narrow := title + "~ results failed input_tokens:in output_tokens:out cost currency"
	if title == "key_id" {
		narrow = "key_id results failed cost currency"
	}
	return columns{title + " results failed input_tokens output_tokens cost currency", narrow}
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
