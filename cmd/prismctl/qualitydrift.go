package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/prism"
)

func (a *app) qualityDrift() *cobra.Command {
	var (
		number int
		output *output
	)
	cmd := a.calling(description{
		use: "drift PRISM", short: "Compare the answers of the last hour and day with their reference",
		example: `prismctl quality drift tickets
prismctl quality drift tickets --jq '.questions[].days[] | [.from, .probability.psi]'`,
		complete: a.completePrisms,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		d, err := c.ReadDrift(cmd.Context(), args[0], number)
		if err != nil {
			return err
		}
		return a.writeDrift(cmd, output, args[0], d)
	})
	cmd.Long = `Compare the answers of the last hour and day with their reference: the first 2,000 results of the version, or the
period that was set. An index above its limit is an alarm. json and yaml have the hours and days before too.`
	versionFlag(cmd, &number)
	output = outputFlag(cmd, listFormats...)
	return cmd
}

// driftRow is the last hour or day of a question, compared with its reference.
type driftRow struct {
	question, window string
	client.DriftWindow
}

var driftColumns = columns{"question window results probability limit classes classes_limit alarm", "question~ window results probability classes alarm"}

// writeDrift writes the last hour and day of each question, or all of a drift as JSON.
func (a *app) writeDrift(cmd *cobra.Command, o *output, slug string, d client.Drift) error {
	if o.isJSON() || o.format == "yaml" {
		return a.write(cmd.Context(), o, d)
	}
	a.describeDrift(slug, d)
	var windows []driftRow
	for _, q := range d.Questions {
		name := prism.TargetName(q.Question, q.Option)
		windows = append(windows, driftRow{name, "hour", q.Hour}, driftRow{name, "day", q.Day})
	}
	return list(cmd.Context(), a, o, each(windows), driftColumns, func(w driftRow) row {
		figure := func(i *client.DriftIndex, value func(client.DriftIndex) float64) string {
			if i == nil {
				return ""
			}
			return fmt.Sprintf("%.4f", value(*i))
		}
		psi := func(i client.DriftIndex) float64 { return i.PSI }
		limit := func(i client.DriftIndex) float64 { return i.Limit }
		alarm := "no"
		if w.Alarm {
			alarm = "yes"
		}
		return row{cells: []string{
			w.question, w.window, number(w.Results), figure(w.Probability, psi), figure(w.Probability, limit),
			figure(w.Classes, psi), figure(w.Classes, limit), alarm,
		}}
	})
}

// describeDrift prints for people what is compared with what.
func (a *app) describeDrift(slug string, d client.Drift) {
	switch r := d.Reference; {
	case r == nil:
		_, _ = fmt.Fprintf(a.err, "%s is not watched: prismctl quality watch %s\n", printable(slug), printable(slug))
	case r.Kind == client.SetPeriod:
		_, _ = fmt.Fprintf(a.err, "Version %d, counted to %s. Its reference is the %d results from %s to %s.\n",
			d.Version, d.CountedTo, r.Results, r.From, r.To)
	default:
		_, _ = fmt.Fprintf(a.err, "Version %d, counted to %s. Its reference is its first results, %d of 2000.\n", d.Version, d.CountedTo, r.Results)
	}
	silent := 0
	for _, q := range d.Questions {
		if !q.Metrics {
			silent++
		}
	}
	if silent > 0 {
		_, _ = fmt.Fprintf(a.err, "%d of its %d questions have no metrics, and so no alert.\n", silent, len(d.Questions))
	}
}

func (a *app) qualityWatch() *cobra.Command {
	var (
		number   int
		from, to string
	)
	cmd := a.calling(description{
		use: "watch PRISM", short: "Watch a prism for drift, and set the reference of a version",
		example: `prismctl quality watch tickets
prismctl quality watch tickets --from 2026-11-02 --to 2026-11-09`, complete: a.completePrisms,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		change := client.DriftChange{Watched: true, Version: number}
		if (from == "") != (to == "") {
			return usage(errors.New("a reference period needs both --from and --to"))
		}
		if from != "" {
			begin, end, err := period(from, to)
			if err != nil {
				return err
			}
			change.Reference = &client.DriftPeriod{From: begin, To: end}
		}
		d, err := c.SetDrift(cmd.Context(), args[0], change)
		if err == nil {
			a.describeDrift(args[0], d)
		}
		return err
	})
	cmd.Long = `Watch a prism for drift: its answers are counted from then on, and those of the last 90 days in the background.

Without --from and --to the reference of the version is its first 2,000 results, also if a period was set before.`
	versionFlag(cmd, &number)
	cmd.Flags().StringVar(&from, "from", "", "when the reference period begins, a day or a whole hour of the last 90 days")
	cmd.Flags().StringVar(&to, "to", "", "when the reference period ends")
	return cmd
}

func (a *app) qualityUnwatch() *cobra.Command {
	return a.calling(description{
		use: "unwatch PRISM", short: "Watch a prism for drift no more, and forget what was counted",
		example: `prismctl quality unwatch tickets`, complete: a.completePrisms,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		_, err := c.SetDrift(cmd.Context(), args[0], client.DriftChange{})
		if err == nil {
			_, _ = fmt.Fprintf(a.err, "%s is not watched any more.\n", printable(args[0]))
		}
		return err
	})
}
