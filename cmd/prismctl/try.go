package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) try() *cobra.Command {
	var (
		in     input
		output *output
	)
	cmd := a.calling(description{
		use: "try FILE", short: "Answer a text through the prism of a file, and save nothing",
		example: `prismctl try tickets.yaml --text "Where is my parcel?"
prismctl try tickets.yaml -o json < mail.txt`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		file, err := a.definition(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		sent, err := in.result(cmd.Context(), a)
		if err != nil {
			return err
		}
		try, err := c.TryDefinition(cmd.Context(), client.NewTry{
			Definition: file.Definition, Lens: file.Lens, Fields: sent.Fields, Text: sent.Text, Context: sent.Context,
		})
		var failed *client.FailedError
		if errors.As(err, &failed) && failed.Try != nil {
			try = *failed.Try
		} else if err != nil {
			return err
		}
		return errors.Join(err, a.writeOne(cmd.Context(), output, try, func() error { return a.showTry(try) }))
	})
	cmd.Long = `Answer a text through the prism of a file for prisms apply, and save nothing: neither the prism nor a result.
The use counts, as that of a call.

For a prism with one field, the text is --text, --text-file or standard input. Fields are --field or
--field-file, or all at once --fields, a JSON object. A file named - is standard input.`
	in.valueFlags(cmd)
	output = outputFlag(cmd, oneFormats...)
	return cmd
}

// definition reads the only prism of a file.
func (a *app) definition(ctx context.Context, name string) (client.NewPrism, error) {
	files, err := a.definitions(ctx, []string{name})
	if err != nil {
		return client.NewPrism{}, err
	}
	if len(files) != 1 {
		return client.NewPrism{}, usage(fmt.Errorf("%s defines %d prisms: name a file with one", name, len(files)))
	}
	return files[0].Prism, nil
}

// showTry writes a try for people.
func (a *app) showTry(t client.Try) error {
	status := row{cells: []string{"status", string(t.Status)}, color: statusColors[t.Status]}
	if t.Error != nil {
		status.cells[1] += ": " + *t.Error
	}
	rows := []row{status, {cells: []string{"took", fmt.Sprintf("%d ms", t.TookMS)}}}
	if t.Model != nil {
		rows = append(rows, row{cells: []string{"model", cmp.Or(optional(t.Model.Name), "-")}})
	}
	if u := t.Usage; u != nil && u.InputTokens != nil && u.OutputTokens != nil {
		tokens := fmt.Sprintf("%d in, %d out", *u.InputTokens, *u.OutputTokens)
		if u.Cost != nil {
			tokens += ", " + cost(u.Cost, !a.exact) + " " + optional(u.Currency)
		}
		rows = append(rows, row{cells: []string{"tokens", tokens}})
	}
	if err := table(a.out, rows); err != nil || len(t.Row) == 0 {
		return err
	}
	return a.showAnswers(t.Row)
}

// mostPreviewed is how many results a preview shows at most.
const mostPreviewed = 50

func (a *app) prismsPreview() *cobra.Command {
	var (
		file   string
		ids    []string
		newest int
		output *output
	)
	cmd := a.calling(description{
		use: "preview PRISM -f FILE", short: "Show results as the Lens of a file would, and change nothing",
		example: `prismctl prisms preview tickets -f tickets.yaml
prismctl prisms preview tickets -f tickets.yaml --result "$RESULT" -o json`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		switch {
		case file == "":
			return usage(errors.New("name a file with -f"))
		case newest < 1 || newest > mostPreviewed:
			return usage(fmt.Errorf("--limit is 1 to %d", mostPreviewed))
		}
		newPrism, err := a.definition(cmd.Context(), file)
		if err != nil {
			return err
		}
		if newPrism.Lens == nil {
			return usage(fmt.Errorf("%s has no lens", file))
		}
		if len(ids) == 0 {
			for r, err := range c.Results(cmd.Context(), client.ResultFilter{Prism: args[0]}) {
				if err != nil {
					return err
				}
				if ids = append(ids, r.ID); len(ids) == newest {
					break
				}
			}
		}
		preview, err := c.PreviewLens(cmd.Context(), args[0], *newPrism.Lens, ids)
		if err != nil {
			return err
		}
		return a.writeOne(cmd.Context(), output, preview, func() error { return a.showPreview(preview) })
	})
	cmd.Flags().StringVarP(&file, "file", "f", "", "file with the prism, whose lens is shown")
	cmd.Flags().StringArrayVar(&ids, "result", nil, "id of a result to show; may be repeated (the newest)")
	cmd.Flags().IntVar(&newest, "limit", 20, "how many of the newest results")
	output = outputFlag(cmd, oneFormats...)
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

// showPreview writes a line for each result, and below why there are cells without a value.
func (a *app) showPreview(p client.PreviewedLens) error {
	rows := []row{{cells: append([]string{"ID", "VERSION", "STATUS"}, p.Columns...), color: bold}}
	reasons := map[string]bool{}
	for _, preview := range p.Data {
		r := preview.Result
		cells := []string{r.ID, fmt.Sprint(r.Version), string(r.Status)}
		for _, name := range p.Columns {
			value, _ := r.Row.Get(name)
			cells = append(cells, a.cell(value))
			if reason := preview.Missing[name]; reason != "" {
				reasons[name+": "+reason] = true
			}
		}
		rows = append(rows, row{cells: cells, color: statusColors[r.Status]})
	}
	if err := table(a.out, rows); err != nil {
		return err
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		_, _ = fmt.Fprintln(a.err, printable(reason))
	}
	return nil
}
