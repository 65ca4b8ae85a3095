package main

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) labels() *cobra.Command {
	labels := group("labels", "Say what was right for results, and find results to label")
	labels.AddCommand(a.labelsSet(), a.labelsGet(), a.labelsImport(), a.labelsQueue(), a.labelsList())
	return labels
}

// labelByFlags adds the flags that apply to all labels of a command.
func labelByFlags(cmd *cobra.Command, sample *client.LabelSample, annotator *string) {
	cmd.Flags().StringVar((*string)(sample), "sample", "", "how the results were chosen: random or uncertain, as the queue says")
	choices(cmd, "sample", string(client.RandomSample), string(client.UncertainSample))
	cmd.Flags().StringVar(annotator, "annotator", "", "who says what was right")
}

func (a *app) labelsSet() *cobra.Command {
	var n client.NewLabels
	cmd := a.calling(description{
		use: "set RESULT_ID QUESTION=VALUE...", short: "Label a result and print the labels that it has then",
		example: `prismctl labels set "$RESULT" urgent=yes topic=delivery
prismctl labels set "$RESULT" topic=`,
		complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		n.Labels = map[string]client.LabelValue{}
		for _, pair := range args[1:] {
			question, value, ok := strings.Cut(pair, "=")
			if _, twice := n.Labels[question]; !ok || question == "" || twice {
				return usage(errors.New("labels are QUESTION=VALUE, each question once"))
			}
			n.Labels[question] = client.LabelValue(value)
		}
		r, err := c.PutLabels(cmd.Context(), args[0], n)
		if err != nil {
			return err
		}
		return a.showLabels(r)
	})
	cmd.Long = `Label a result, and print the labels that it has then.

A value is the key of an option or level, true or false, or a label that only one option or level has. QUESTION= without a
value removes the label of the question.`
	labelByFlags(cmd, &n.Sample, &n.Annotator)
	return cmd
}

func (a *app) labelsGet() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "get RESULT_ID", short: "Show the labels of a result",
		example: `prismctl labels get "$RESULT"`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		r, err := c.ReadLabels(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.writeOne(cmd.Context(), output, r, func() error { return a.showLabels(r) })
	})
	output = outputFlag(cmd, oneFormats...)
	return cmd
}

func (a *app) showLabels(r client.LabelledResult) error {
	for _, question := range slices.Sorted(maps.Keys(r.Labels)) {
		if _, err := fmt.Fprintf(a.out, "%s=%s\n", question, printable(string(r.Labels[question].Value))); err != nil {
			return err
		}
	}
	return nil
}

// labelled is a label in a list.
type labelled struct {
	ResultID string  `json:"result_id"`
	Ref      *string `json:"ref"`
	Version  int     `json:"version"`
	Question string  `json:"question"`
	client.Label
}

func (a *app) labelsList() *cobra.Command {
	var (
		f      client.LabelFilter
		prism  string
		output *output
	)
	cmd := a.calling(description{
		use: "list --prism PRISM", short: "List labels, newest result first",
		example: `prismctl labels list --prism tickets
prismctl labels list --prism tickets --question urgent -o csv > labels.csv`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(cmd.Context(), a, output, eachLabel(c.Labels(cmd.Context(), prism, f)), labelColumns, func(l labelled) row {
			return row{cells: []string{
				l.ResultID, optional(l.Ref), strconv.Itoa(l.Version), l.Question, string(l.Value), optional(l.Sample), optional(l.Annotator),
				l.Origin, l.KeyID, l.LabelledAt.String(),
			}}
		})
	})
	cmd.Long = `List labels, newest result first. "prismctl labels import" reads the output in csv and jsonl.`
	a.prismFlag(cmd, &prism, "prism whose labels to list")
	cmd.Flags().IntVar(&f.Version, "version", 0, "only results of this version")
	cmd.Flags().StringVar(&f.Question, "question", "", "only labels of this question")
	completeFlag(cmd, "question", a.completeQuestions)
	output = outputFlag(cmd, listFormats...)
	required(cmd, "prism")
	return cmd
}

var labelColumns = columns{
	"result_id ref version question value sample annotator origin key_id labelled_at",
	"result_id question~ value~ sample labelled_at:labelled",
}

// eachLabel iterates over the labels of results.
func eachLabel(results iter.Seq2[client.LabelledResult, error]) iter.Seq2[labelled, error] {
	return func(yield func(labelled, error) bool) {
		for r, err := range results {
			if err != nil {
				yield(labelled{}, err)
				return
			}
			for _, question := range slices.Sorted(maps.Keys(r.Labels)) {
				if !yield(labelled{r.ResultID, r.Ref, r.Version, question, r.Labels[question]}, nil) {
					return
				}
			}
		}
	}
}

func (a *app) labelsQueue() *cobra.Command {
	var (
		q      client.LabelQueue
		prism  string
		size   listSize
		output *output
	)
	cmd := a.calling(description{
		use: "queue --prism PRISM --question QUESTION", short: "List results to label",
		example: `prismctl labels queue --prism tickets --question topic
prismctl labels queue --prism tickets --question topic --limit 200 -o csv > queue.csv
prismctl labels queue --prism tickets --question topic --order uncertain`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		n, err := size.items()
		if err != nil {
			return err
		}
		queue := first(c.LabelQueue(cmd.Context(), prism, q), n)
		return list(cmd.Context(), a, output, queue, queueColumns, func(r client.QueuedResult) row {
			var fields []string
			for _, key := range slices.Sorted(maps.Keys(r.Fields)) {
				fields = append(fields, key+"="+r.Fields[key])
			}
			return row{cells: []string{
				r.ResultID, optional(r.Ref), r.CreatedAt.String(), strconv.Itoa(r.Version), strings.Join(fields, " "),
			}}
		})
	})
	cmd.Long = `List results that are ok and have no label for a question.

In random order, the first results of the list, however many, are a sample: import its labels with --sample random. Results of which
the model was least sure are found faster to improve a definition, but say nothing about the others: import their labels with
--sample uncertain.`
	a.prismFlag(cmd, &prism, "prism whose results to list")
	cmd.Flags().StringVar(&q.Question, "question", "", "question without a label")
	completeFlag(cmd, "question", a.completeQuestions)
	cmd.Flags().StringVar((*string)(&q.Order), "order", "", "random, also without it, or uncertain: the least sure first")
	choices(cmd, "order", string(client.RandomSample), string(client.UncertainSample))
	cmd.Flags().IntVar(&q.Version, "version", 0, "only results of this version")
	assigneeFlag(cmd, &q.Assignee)
	searchFlags(cmd, &q.ResultSearch)
	size.flags(cmd)
	output = outputFlag(cmd, listFormats...)
	required(cmd, "prism", "question")
	return cmd
}

var queueColumns = columns{"result_id ref created_at version fields", "result_id ref~ fields~"}
