package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/prism"
)

// measured is what a command measures.
type measured struct {
	version int
	filter  client.QualityFilter
}

// flags adds the flags of what to measure.
func (m *measured) flags(a *app, cmd *cobra.Command, question string) {
	versionFlag(cmd, &m.version)
	cmd.Flags().StringVar(&m.filter.Question, "question", "", question)
	completeFlag(cmd, "question", a.completeQuestions)
	cmd.Flags().StringVar(&m.filter.Model, "model", "", "only answers of this model")
	cmd.Flags().BoolVar(&m.filter.Calibrated, "calibrated", false, "measure what the pinned calibrations make of the probabilities")
}

// target is the filter with the question and the option that --question names, such as tags.vip.
func (m *measured) target() client.QualityFilter {
	filter := m.filter
	filter.Question, filter.Option = prism.SplitTarget(m.filter.Question)
	return filter
}

func (a *app) quality() *cobra.Command {
	var (
		selected measured
		output   *output
	)
	cmd := a.calling(description{
		use: "quality PRISM", short: "Measure the answers of a version by labels",
		example: `prismctl quality tickets
prismctl quality tickets --version 2 --question urgent --calibrated -o wide`,
		complete: a.completePrisms,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		version, err := versionOf(cmd, c, args[0], selected.version)
		if err != nil {
			return err
		}
		q, err := c.ReadQuality(cmd.Context(), args[0], version, selected.target())
		if err != nil {
			return err
		}
		return a.showQuality(cmd.Context(), output, q)
	})
	cmd.Long = `Measure the answers of a version by labels: of each question, or of one. Of a tags question there are measures of all options together,
and of each option those of a yes_no; --question tags.vip is one option.

A measure has its 95% interval in parentheses. With -o wide there are also the classes, what was answered for each
label, the reliability of probabilities, and what remains if the least certain answers are left to people.`
	selected.flags(a, cmd, "only this question, or an option such as tags.vip")
	output = outputFlag(cmd, listFormats...)
	cmd.AddCommand(a.qualityThresholds(), a.qualityDrift(), a.qualityWatch(), a.qualityUnwatch())
	return cmd
}

// measure is a figure with its name. The figure is nil for a measure that the type of the question does not have.
type measure struct {
	name   string
	figure *client.Figure
}

func measuresOf(m client.Measures) []measure {
	return []measure{
		{"accuracy", m.Accuracy},
		{"log_loss", m.LogLoss},
		{"brier", m.Brier},
		{"macro_f1", m.MacroF1},
		{"rps", m.RPS},
		{"mae", m.MAE},
		{"kappa", m.Kappa},
		{"ece", m.ECE},
		{"ece_plain", m.ECEPlain},
	}
}

// measuresOfSeveral are those of a question of which any number of options can be right; none of another one.
func measuresOfSeveral(m *client.MeasuresOfSeveral) []measure {
	if m == nil {
		return nil
	}
	return []measure{
		{"exact_match", &m.ExactMatch},
		{"hamming_loss", &m.HammingLoss},
		{"micro_precision", m.Micro.Precision},
		{"micro_recall", m.Micro.Recall},
		{"micro_f1", m.Micro.F1},
		{"macro_precision", m.Macro.Precision},
		{"macro_recall", m.Macro.Recall},
		{"macro_f1", m.Macro.F1},
	}
}

// figure is a figure with its interval.
func (a *app) figure(f client.Figure) string {
	return fmt.Sprintf("%s (%s to %s)", a.cell(f.Value), a.cell(f.Low), a.cell(f.High))
}

// figureCells are a figure in three cells, which are empty without it.
func (a *app) figureCells(f *client.Figure) []string {
	if f == nil {
		return make([]string, 3)
	}
	return []string{a.cell(f.Value), a.cell(f.Low), a.cell(f.High)}
}

var qualityColumns = columns{all: "question type labels counted calibration measure class value low high"}

func (a *app) showQuality(ctx context.Context, o *output, q client.Quality) error {
	switch o.format {
	case "table", "wide":
		for i, question := range q.Questions {
			if i > 0 {
				if _, err := fmt.Fprintln(a.out); err != nil {
					return err
				}
			}
			if err := a.showQuestion(question, o.format == "wide"); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		var rows []row
		for _, question := range q.Questions {
			rows = append(rows, a.measureRows(question)...)
		}
		return list(ctx, a, o, each(rows), qualityColumns, func(r row) row { return r })
	}
	return a.write(ctx, o, q)
}

// measureRows are a row for each measure of a question, and of its classes.
func (a *app) measureRows(q client.QuestionQuality) (rows []row) {
	add := func(class string, m measure) {
		if m.figure != nil {
			cells := []string{
				prism.TargetName(q.Question, q.Option), string(q.Type), fmt.Sprint(q.Labels), fmt.Sprint(q.Counted), optional(q.Calibration), m.name, class,
			}
			rows = append(rows, row{cells: append(cells, a.figureCells(m.figure)...)})
		}
	}
	for _, m := range slices.Concat(measuresOf(q.Measures), measuresOfSeveral(q.Several)) {
		add("", m)
	}
	for _, class := range q.Classes {
		for _, m := range []measure{{"precision", class.Precision}, {"recall", &class.Recall}, {"f1", &class.F1}} {
			add(fmt.Sprint(class.Value), m)
		}
	}
	return rows
}

// labelsRow says how many labels count.
func labelsRow(q client.MeasuredQuestion) row {
	text := fmt.Sprintf("%d of %d count", q.Counted, q.Labels)
	if q.Examples > 0 {
		text += fmt.Sprintf("; %d are of examples", q.Examples)
	}
	return row{cells: []string{"labels", text}}
}

// showQuestion writes the measures of a question for people.
func (a *app) showQuestion(q client.QuestionQuality, wide bool) error {
	rows := []row{
		{cells: []string{"question", prism.TargetName(q.Question, q.Option)}},
		{cells: []string{"type", string(q.Type)}},
		labelsRow(q.MeasuredQuestion),
	}
	if q.Calibration != nil {
		rows = append(rows, row{cells: []string{"calibration", *q.Calibration}})
	}
	if q.Accuracy == nil && q.Several == nil {
		rows = append(rows, row{cells: []string{"measures", "none: fewer than 30 labels count"}, color: yellow})
	}
	for _, m := range slices.Concat(measuresOf(q.Measures), measuresOfSeveral(q.Several)) {
		if m.figure != nil {
			rows = append(rows, row{cells: []string{strings.ReplaceAll(m.name, "_", " "), a.figure(*m.figure)}})
		}
	}
	if err := table(a.out, rows); err != nil || !wide {
		return err
	}
	for _, rows := range a.details(q.Measures) {
		if len(rows) == 1 { // the titles
			continue
		}
		if err := tableBelow(a.out, rows); err != nil {
			return err
		}
	}
	return nil
}

// details are the tables of a question beside its measures: classes, confusion, reliability and coverage.
func (a *app) details(m client.Measures) [][]row {
	titles := func(cells ...string) []row { return []row{{cells: cells, color: bold}} }
	classes := titles("CLASS", "LABELS", "PRECISION", "RECALL", "F1")
	for _, c := range m.Classes {
		precision := "never answered"
		if c.Precision != nil {
			precision = a.figure(*c.Precision)
		}
		classes = append(classes, row{cells: []string{fmt.Sprint(c.Value), fmt.Sprint(c.N), precision, a.figure(c.Recall), a.figure(c.F1)}})
	}
	confusion := titles("LABEL")
	if m.Confusion != nil {
		for i, value := range m.Confusion.Values {
			confusion[0].cells = append(confusion[0].cells, "AS "+fmt.Sprint(value))
			cells := []string{fmt.Sprint(value)}
			for _, n := range m.Confusion.Counts[i] {
				cells = append(cells, fmt.Sprint(n))
			}
			confusion = append(confusion, row{cells: cells})
		}
	}
	bins := titles("BIN", "LABELS", "PROBABILITY", "RATE")
	for i, b := range m.Bins {
		rate := a.figure(client.Figure{Value: b.Rate, Low: b.Low, High: b.High})
		bins = append(bins, row{cells: []string{fmt.Sprint(i + 1), fmt.Sprint(b.N), a.cell(b.Mean), rate}})
	}
	coverage := titles("KEPT FROM", "KEPT", "WRONG")
	for _, c := range m.Coverage {
		coverage = append(coverage, row{cells: []string{a.cell(c.At), a.cell(c.Kept), a.cell(c.Risk)}})
	}
	return [][]row{classes, confusion, bins, coverage}
}

func (a *app) qualityThresholds() *cobra.Command {
	var (
		selected measured
		costs    client.Costs
		output   *output
	)
	cmd := a.calling(description{
		use: "thresholds PRISM", short: "Choose where yes begins and no ends by what mistakes cost",
		example: `prismctl quality thresholds tickets --question urgent --false-yes 5 --false-no 1 --unsure 0.5
prismctl quality thresholds tickets --question urgent --false-yes 5 --false-no 1 --unsure 0.5 --calibrated -o json --jq .theory`,
		complete: a.completePrisms,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		version, err := versionOf(cmd, c, args[0], selected.version)
		if err != nil {
			return err
		}
		t, err := c.ReadThresholds(cmd.Context(), args[0], version, selected.target(), costs)
		if err != nil {
			return err
		}
		return a.showThresholds(cmd.Context(), output, t)
	})
	cmd.Long = `Choose the yes_at and no_at of a yes_no, or of an option such as tags.vip, by what mistakes and unsure answers cost, in any unit.

Those by theory are for calibrated probabilities. Those by labels cost the least on the labels that there are, and will cost
more on new answers.`
	selected.flags(a, cmd, "key of a yes_no question, or an option such as tags.vip")
	cmd.Flags().Float64Var(&costs.FalseYes, "false-yes", 0, "what a yes costs that should be no")
	cmd.Flags().Float64Var(&costs.FalseNo, "false-no", 0, "what a no costs that should be yes")
	cmd.Flags().Float64Var(&costs.Unsure, "unsure", 0, "what an answer costs that is left unsure")
	required(cmd, "question", "false-yes", "false-no", "unsure")
	output = outputFlag(cmd, "table", "json", "yaml", "csv", "jsonl")
	return cmd
}

var thresholdColumns = columns{all: "by yes_at no_at yes no unsure false_yes false_no total mean"}

func (a *app) showThresholds(ctx context.Context, o *output, t client.Thresholds) error {
	cells := func(by string, t client.Threshold) row {
		return row{cells: []string{
			by, a.cell(t.YesAt), a.cell(t.NoAt), fmt.Sprint(t.Yes), fmt.Sprint(t.No), fmt.Sprint(t.Unsure), fmt.Sprint(t.FalseYes),
			fmt.Sprint(t.FalseNo), a.cell(t.Total), a.cell(t.Mean),
		}}
	}
	rows := []row{cells("theory", t.Theory), cells("labels", t.Empirical)}
	switch o.format {
	case "csv":
		return list(ctx, a, o, each(rows), thresholdColumns, func(r row) row { return r })
	case "table":
	default:
		return a.write(ctx, o, t)
	}
	about := []row{{cells: []string{"question", prism.TargetName(t.Question, t.Option)}}, labelsRow(t.MeasuredQuestion)}
	if t.Calibration != nil {
		about = append(about, row{cells: []string{"calibration", *t.Calibration}})
	}
	if err := table(a.out, about); err != nil {
		return err
	}
	turned := []row{{cells: []string{"", "BY THEORY", "BY LABELS"}, color: bold}}
	names := map[string]string{"total": "cost of all", "mean": "cost of one"}
	for i, name := range strings.Fields(thresholdColumns.all)[1:] {
		name = cmp.Or(names[name], strings.ReplaceAll(name, "_", " "))
		turned = append(turned, row{cells: []string{name, rows[0].cells[i+1], rows[1].cells[i+1]}})
	}
	return tableBelow(a.out, turned)
}
