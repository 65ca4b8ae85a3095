package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) compare() *cobra.Command {
	var (
		question string
		output   *output
	)
	cmd := a.calling(description{
		use: "compare PRISM A B", short: "Compare version B with version A by labelled inputs",
		example: `prismctl compare tickets 1 2 --question urgent
prismctl compare tickets 1 2 --question urgent -o json --jq .verdict`,
		complete: a.completeVersions,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		first, errA := strconv.Atoi(args[1])
		second, errB := strconv.Atoi(args[2])
		if errA != nil || errB != nil {
			return usage(errors.New("the versions A and B are numbers"))
		}
		compared, err := c.CompareVersions(cmd.Context(), args[0], first, second, question)
		if err != nil {
			return err
		}
		return a.showComparison(cmd.Context(), output, compared)
	})
	cmd.Long = `Compare version B with version A by a question, on the labelled inputs that both answered, and say which is better.

The differences are B minus A with their 95% intervals. With -o wide the versions have theirs too. A question of tags is compared
by all its options together, by the exact match and the Hamming loss of those that both versions have; --question tags.vip is one option.`
	cmd.Flags().StringVar(&question, "question", "", "key of a question that both versions have, or an option such as tags.vip")
	completeFlag(cmd, "question", a.completeQuestions)
	required(cmd, "question")
	output = outputFlag(cmd, listFormats...)
	return cmd
}

func (a *app) showComparison(ctx context.Context, o *output, c client.Comparison) error {
	if o.isJSON() || o.format == "yaml" {
		return a.write(ctx, o, c)
	}
	if o.format != "csv" {
		if _, err := fmt.Fprintf(a.out, "%s\n\n", a.out.paint(bold, verdict(c))); err != nil {
			return err
		}
	}
	d := c.Differences
	first, second, difference := measuresOf(c.A.Measures), measuresOf(c.B.Measures), measuresOf(client.Measures{
		Accuracy: d.Accuracy, LogLoss: d.LogLoss, Brier: d.Brier, MacroF1: d.MacroF1, RPS: d.RPS, MAE: d.MAE, Kappa: d.Kappa,
	})
	if c.A.Several != nil {
		first, second, difference = measuresOfSeveral(c.A.Several), measuresOfSeveral(c.B.Several), measuresOfSeveral(d.Several)
	}
	var rows []row
	for i, m := range first {
		if m.figure == nil && second[i].figure == nil {
			continue
		}
		cells := []string{m.name}
		for _, measures := range [][]measure{first, second, difference} {
			cells = append(cells, a.figureCells(measures[i].figure)...)
		}
		rows = append(rows, row{cells: cells})
	}
	columns := columns{
		"measure a a_low a_high b b_low b_high difference difference_low difference_high",
		fmt.Sprintf("measure a:version_%d b:version_%d difference difference_low:low difference_high:high", c.A.Version, c.B.Version),
	}
	if err := list(ctx, a, o, each(rows), columns, func(r row) row { return r }); err != nil || o.format == "csv" {
		return err
	}
	rows = []row{
		{cells: []string{"compared inputs", fmt.Sprintf("%d of %d", c.Counted, c.Labels)}},
		{cells: []string{fmt.Sprintf("only version %d right", c.A.Version), fmt.Sprint(c.McNemar.OnlyA)}},
		{cells: []string{fmt.Sprintf("only version %d right", c.B.Version), fmt.Sprint(c.McNemar.OnlyB)}},
		{cells: []string{"McNemar's p", a.pValue(c.McNemar.P)}},
	}
	if n := c.LeftOut.OtherOption; n > 0 {
		rows = append(rows, row{cells: []string{"left out", fmt.Sprintf("%d, whose label is no option of the other version", n)}})
	}
	if n := c.LeftOut.OtherLabel; n > 0 {
		rows = append(rows, row{cells: []string{"left out", fmt.Sprintf("%d, labelled differently in the other version", n)}})
	}
	if n := c.LeftOut.Examples; n > 0 {
		rows = append(rows, row{cells: []string{"left out", fmt.Sprintf("%d, which are examples of one of the versions", n)}})
	}
	return tableBelow(a.out, rows)
}

// leastShown is the smallest p-value that is shown as a number. A smaller one is shown as "< 0.0001".
const leastShown = 0.0001

// pValue formats the p-value of a test.
func (a *app) pValue(p float64) string {
	if p < leastShown && !a.exact {
		return "< " + a.cell(leastShown)
	}
	return a.cell(p)
}

// verdict is the verdict of a comparison in a sentence.
func verdict(c client.Comparison) string {
	if c.Verdict == "better" || c.Verdict == "worse" {
		return fmt.Sprintf("Version %d is %s than version %d.", c.B.Version, c.Verdict, c.A.Version)
	}
	return fmt.Sprintf("Versions %d and %d are %s.", c.A.Version, c.B.Version, printable(c.Verdict))
}
