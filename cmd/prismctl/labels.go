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

// labelByFlags are the flags of what the labels of a command have in common.
func labelByFlags(cmd *cobra.Command, sample *client.LabelSample, annotator *string) {
	cmd.Flags().StringVar((*string)(sample), "sample", "", "how the results were chosen: random or uncertain, as the queue says")
	choices(cmd, "sample", string(client.RandomSample), string(client.UncertainSample))
	cmd.Flags().StringVar(annotator, "annotator", "", "who says what was right")
}

func (a *app) labelsSet() *cobra.Command {
	var n client.NewLabels
	cmd := a.calling("set RESULT_ID QUESTION=VALUE...", "Label a result", cobra.MinimumNArgs(2), func(cmd *cobra.Command, c *client.Client, args []string) error {
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
	var output string
	cmd := a.calling("get RESULT_ID", "Show the labels of a result", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		r, err := c.ReadLabels(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.one(output, r, func() error { return a.showLabels(r) })
	})
	oneFlag(cmd, &output)
	return cmd
}

func (a *app) showLabels(r client.LabelledResult) error {
	for _, question := range slices.Sorted(maps.Keys(r.Labels)) {
		if _, err := fmt.Fprintf(a.out, "%s=%s\n", question, r.Labels[question].Value); err != nil {
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
	var f client.LabelFilter
	var prism, output string
	cmd := a.calling("list --prism PRISM", "List labels, newest result first", cobra.NoArgs, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		const columns = "result_id ref version question value sample annotator origin key_id labelled_at"
		return list(a, output, eachLabel(c.Labels(cmd.Context(), prism, f)), columns, func(l labelled) row {
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
	outputFlag(cmd, &output)
	must(cmd.MarkFlagRequired("prism"))
	return cmd
}

// eachLabel takes results apart.
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
	var q client.LabelQueue
	var prism, output string
	var limit int
	cmd := a.calling("queue --prism PRISM --question QUESTION", "List results to label", cobra.NoArgs, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		if limit < 1 {
			return usage(errors.New("--limit takes a number from 1"))
		}
		const columns = "result_id ref created_at version fields"
		return list(a, output, atMost(limit, c.LabelQueue(cmd.Context(), prism, q)), columns, func(r client.QueuedResult) row {
			var fields []string
			for _, key := range slices.Sorted(maps.Keys(r.Fields)) {
				fields = append(fields, key+"="+r.Fields[key])
			}
			return row{cells: []string{r.ResultID, optional(r.Ref), r.CreatedAt.String(), strconv.Itoa(r.Version), strings.Join(fields, " ")}}
		})
	})
	cmd.Long = `List results that are ok and have no label for a question.

In random order, each part of the list from its begin on is a sample: import its labels with --sample random. Results of which
the model was least sure are found faster to improve a definition, but say nothing about the others: import their labels with
--sample uncertain.`
	a.prismFlag(cmd, &prism, "prism whose results to list")
	cmd.Flags().StringVar(&q.Question, "question", "", "question without a label")
	cmd.Flags().StringVar((*string)(&q.Order), "order", "", "random, also without it, or uncertain: the least sure first")
	choices(cmd, "order", string(client.RandomSample), string(client.UncertainSample))
	cmd.Flags().IntVar(&q.Version, "version", 0, "only results of this version")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many results at most")
	outputFlag(cmd, &output)
	must(cmd.MarkFlagRequired("prism"))
	must(cmd.MarkFlagRequired("question"))
	return cmd
}

// atMost are the first items, up to a limit.
func atMost[T any](limit int, items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for item, err := range items {
			if n++; !yield(item, err) || n == limit {
				return
			}
		}
	}
}

// must panics for a flag that the command does not have.
func must(err error) {
	if err != nil {
		panic("prismctl: " + err.Error())
	}
}
