package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) prismsDistribution() *cobra.Command {
	var (
		from, to, by string
		filter       client.DistributionFilter
		output       *output
	)
	cmd := a.calling(description{
		use: "distribution PRISM", short: "Count the answers to a question by hour, day or week",
		example: `prismctl prisms distribution tickets --question topic
prismctl prisms distribution tickets --question urgency --where topic:is:billing
prismctl prisms distribution tickets --question refund --by week --zone Europe/Berlin --from 2026-01-01 -o csv
prismctl prisms distribution tickets --question refund -o json --jq '.data[] | [.at, (.bins[80:] | add)]'`,
		complete: a.completePrisms,
	}, func(cmd *cobra.Command, c *client.Client, args []string) (err error) {
		if filter.From, filter.To, err = period(from, to); err != nil {
			return err
		}
		filter.By = client.DistributionBy(by)
		d, err := c.ReadDistribution(cmd.Context(), args[0], filter)
		if err != nil {
			return err
		}
		if output.isJSON() || output.format == "yaml" {
			return a.write(cmd.Context(), output, d)
		}
		switch {
		case d.CountedFrom != nil:
			_, _ = fmt.Fprintf(a.err, "Results from before %s are not counted.\n", d.CountedFrom)
		case !d.Exact:
			_, _ = fmt.Fprintln(a.err, "The newest results are not counted yet.")
		}
		return list(cmd.Context(), a, output, each(d.Data), distributionColumns, distributionRow)
	})
	cmd.Long = `Count the answers to a question by hour, day or week of a time zone: all that were ever given, also of results that
were deleted. With --q and --where, the results that are there and match. json and yaml also have how many answers of a yes_no there are by hundredths of the probability of yes.`
	output = outputFlag(cmd, listFormats...)
	cmd.Flags().StringVar(&filter.Question, "question", "", "the key of the question")
	_ = cmd.MarkFlagRequired("question")
	cmd.Flags().StringVar(&by, "by", string(client.DistributionByDay), "how long a row is: hour, day or week")
	choices(cmd, "by", client.DistributionBy("").Values()...)
	cmd.Flags().StringVar(&filter.Zone, "zone", "", "the time zone, such as Europe/Berlin (UTC)")
	cmd.Flags().StringVar(&from, "from", "", "the first day of the zone, such as 2026-11-01 (30 days before --to)")
	cmd.Flags().StringVar(&to, "to", "", "the day after the last (tomorrow)")
	cmd.Flags().IntVar(&filter.Version, "version", 0, "only answers of this version")
	searchFlags(cmd, &filter.ResultSearch)
	return cmd
}

var distributionColumns = columns{"at answers probability labelled right values", "at answers probability labelled right"}

func distributionRow(r client.DistributionRow) row {
	var values []string
	for _, v := range r.Values {
		values = append(values, fmt.Sprintf("%v=%d", v.Value, v.Count))
	}
	return row{cells: []string{
		r.At.String(), number(r.Answers), strconv.FormatFloat(r.Probability, 'f', 4, 64), number(r.Labelled), number(r.Right),
		strings.Join(values, " "),
	}}
}
