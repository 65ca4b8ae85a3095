package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// runFlags are the flags of a new run.
type runFlags struct {
	file, fileID, format, prism string
	columns, labels             []string
	limits                      limitFlags
	pauseAt                     float64
	watch, dryRun               bool
	results                     resultsFlags
	output                      *output
	new                         client.NewRun
}

func (a *app) runsCreate() *cobra.Command {
	var in runFlags
	cmd := a.calling(description{
		use: "create -f FILE --prism PRISM", short: "Send every row of a file through a prism",
		example: `prismctl runs create -f tickets.csv --prism tickets --watch
prismctl runs create -f tickets.csv --prism tickets --map text=message --ref id --dry-run
prismctl runs create --from-labels-of 1 --version 2 --prism tickets --watch
prismctl runs create --from-results --where urgent:to:0.6 --version 2 --prism tickets`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		var err error
		if in.new.FromResults, err = in.results.selection(cmd); err != nil {
			return err
		}
		in.new.RunLimits = in.limits.changed(cmd)
		if cmd.Flags().Changed("pause-at-failures") {
			in.new.PauseAtFailures = &in.pauseAt
		}
		return a.createRun(cmd.Context(), c, in)
	})
	cmd.Long = `Send every row of a file through a prism, and print the id of the run.

The file is csv, tsv, jsonl, xlsx (its first sheet) or parquet, as its extension says. A field takes its values
from the column of the same name, or from the column that --map FIELD=COLUMN names. The answers of a run are
results, and "prismctl runs download" writes the file with the answers beside each row.

With --from-labels-of the rows are the inputs of a version whose labels count, and their results get the same labels:
"prismctl compare" then compares the versions.

With --from-results the rows are the inputs of up to 10,000 results of the prism: those that --result, --status, --of-version,
--from, --to, --q and --where find, or all.

An upload that was cut is continued by the same command. With --watch, Ctrl-C ends only the watching.`
	in.add(a, cmd)
	return cmd
}

func (in *runFlags) add(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&in.file, "file", "f", "", "file to upload")
	f.StringVar(&in.fileID, "file-id", "", "id of a file that was uploaded, instead of --file")
	f.IntVar(&in.new.FromLabelsOf, "from-labels-of", 0, "version whose labelled inputs to answer, instead of a file")
	in.results.add(cmd)
	fileFormatFlag(cmd, &in.format)
	a.prismFlag(cmd, &in.prism, "prism that answers")
	f.StringArrayVar(&in.columns, "map", nil, "`FIELD=COLUMN` whose cells are the values of the field; may be repeated")
	f.StringArrayVar(&in.labels, "label", nil, "`QUESTION=COLUMN` whose cells are the labels of the results; may be repeated")
	f.StringVar(&in.new.Ref, "ref", "", "column with your own references, stored with the results")
	f.StringVar(&in.new.Context, "background", "", "what the model should know beside the fields: a column, or a text for every row")
	f.IntVar(&in.new.Version, "version", 0, "version that answers, instead of the latest")
	f.StringVar(&in.new.Name, "name", "", "name of the run (default that of the file)")
	in.limits.add(cmd)
	f.Float64Var(&in.pauseAt, "pause-at-failures", 0.5, "pause when more than this part of the last 200 rows failed")
	f.StringVar(&in.new.IdempotencyKey, "idempotency-key", "", "your own name for the run, which makes it safe to run the command again")
	f.BoolVar(&in.dryRun, "dry-run", false, "check the rows and show what the run would take, but start nothing")
	f.BoolVar(&in.watch, "watch", false, "follow the run")
	in.output = outputFlag(cmd, oneFormats...)
	cmd.MarkFlagsOneRequired("file", "file-id", "from-labels-of", "from-results")
	cmd.MarkFlagsMutuallyExclusive("file", "file-id", "from-labels-of", "from-results")
	for _, ofFile := range []string{"map", "label", "ref", "background", "format"} {
		cmd.MarkFlagsMutuallyExclusive("from-labels-of", ofFile)
		cmd.MarkFlagsMutuallyExclusive("from-results", ofFile)
	}
	cmd.MarkFlagsMutuallyExclusive("file-id", "format")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "watch")
	required(cmd, "prism")
}

func (a *app) createRun(ctx context.Context, c *client.Client, in runFlags) error {
	if in.new.FromLabelsOf == 0 && in.new.FromResults == nil {
		if err := a.resolveFile(ctx, c, &in); err != nil {
			return err
		}
	}
	if in.dryRun {
		r, err := c.CreateRun(ctx, in.prism, in.new, client.WithDryRun())
		if err != nil {
			return err
		}
		return a.writeOne(ctx, in.output, *r.Plan, func() error { return a.showDryRun(*r.Plan) })
	}
	in.new.IdempotencyKey = cmp.Or(in.new.IdempotencyKey, client.NewIdempotencyKey())
	r, err := c.CreateRun(ctx, in.prism, in.new)
	if err != nil {
		return err
	}
	if err := a.writeOne(ctx, in.output, r, func() error {
		_, err := fmt.Fprintln(a.out, r.ID)
		return err
	}); err != nil {
		return err
	}
	if in.watch {
		return a.watch(ctx, c, r.ID)
	}
	_, _ = fmt.Fprintf(a.err, "%s Follow it with: prismctl runs watch %s\n", sentence(r), r.ID)
	return nil
}

// resolveFile finds or uploads the file of a run, and the columns of its fields.
func (a *app) resolveFile(ctx context.Context, c *client.Client, in *runFlags) error {
	mapped, err := mapping("--map takes FIELD=COLUMN, and each field once", in.columns)
	if err != nil {
		return err
	}
	if in.new.Labels, err = mapping("--label takes QUESTION=COLUMN, and each question once", in.labels); err != nil {
		return err
	}
	fields, err := fieldsOf(ctx, c, in.prism, in.new.Version)
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(mapped)) {
		if !slices.Contains(fields, field) {
			return invalid(fmt.Errorf("--map %s=…: %s has no field %q: %s", field, in.prism, field, suggest(field, fields)))
		}
	}
	f, err := a.fileOf(ctx, c, *in)
	if err != nil {
		return err
	}
	in.new.FileID, in.new.Name = f.ID, cmp.Or(in.new.Name, f.Name)
	in.new.Fields, err = a.mapFields(fields, mapped, columnNames(f))
	return err
}

// mapping reads the values of --map or --label.
func mapping(use string, pairs []string) (map[string]string, error) {
	mapped := map[string]string{}
	for _, pair := range pairs {
		field, column, ok := strings.Cut(pair, "=")
		if _, twice := mapped[field]; !ok || field == "" || column == "" || twice {
			return nil, usage(errors.New(use))
		}
		mapped[field] = column
	}
	return mapped, nil
}

// fieldsOf are the keys of the fields of a version; 0 is the latest.
func fieldsOf(ctx context.Context, c *client.Client, prism string, version int) (keys []string, err error) {
	p, err := readPrism(ctx, c, prism, version)
	for _, f := range p.Version.Fields {
		keys = append(keys, f.Key)
	}
	return keys, err
}

// fileOf uploads the file of a run, or reads the one that was uploaded.
func (a *app) fileOf(ctx context.Context, c *client.Client, in runFlags) (client.File, error) {
	if in.file != "" {
		return a.upload(ctx, c, in.file, in.format)
	}
	return c.ReadFile(ctx, in.fileID)
}

// mapFields finds the column of each field: the one that --map names, or else the one with the field's key as its name, whatever
// its case. mapFields prints each column that it found by its name.
func (a *app) mapFields(fields []string, mapped map[string]string, columns []string) (map[string]string, error) {
	columnOf := map[string]string{}
	for _, field := range fields {
		column, named := mapped[field]
		if named && !slices.Contains(columns, column) {
			return nil, invalid(fmt.Errorf("--map %s=%s: the file has no such column: %s", field, printable(column), suggest(column, columns)))
		}
		for _, name := range columns {
			if !named && (name == field || column == "" && strings.EqualFold(name, field)) {
				column = name
			}
		}
		if column == "" {
			return nil, invalid(fmt.Errorf("no column for the field %q: add --map %[1]s=COLUMN; the columns are %s", field, printable(strings.Join(columns, ", "))))
		}
		if columnOf[field] = column; !named {
			_, _ = fmt.Fprintf(a.err, "The field %s is the column %s, by its name.\n", field, printable(column))
		}
	}
	return columnOf, nil
}

// suggest names the known name that is most like a misspelled one, or all known names.
func suggest(name string, known []string) string {
	if near := closest(name, known); near != "" {
		return "did you mean " + printable(near) + "?"
	}
	return "there is " + printable(strings.Join(known, ", "))
}

func (a *app) showDryRun(p client.DryRun) error {
	rows := []row{
		{cells: []string{"rows", number(p.Rows)}},
		{cells: []string{"checked", number(p.RowsChecked)}},
		{cells: []string{"invalid", number(p.InvalidTotal)}},
		{cells: []string{"model calls", number(p.ModelCalls)}},
		{cells: []string{"tokens", number(p.Tokens)}},
	}
	if p.Seconds != nil {
		rows = append(rows, row{cells: []string{"time", duration(*p.Seconds)}})
	}
	if p.Cost != nil {
		rows = append(rows, row{cells: []string{"cost", cost(p.Cost, !a.exact) + " " + optional(p.Currency)}})
	}
	if p.InvalidLabelsTotal > 0 {
		rows = append(rows, row{cells: []string{"no labels", number(p.InvalidLabelsTotal)}})
	}
	if err := table(a.out, rows); err != nil {
		return err
	}
	for _, part := range []struct {
		title string
		rows  []client.InvalidRow
	}{{"INVALID BECAUSE", p.Invalid}, {"NO LABEL BECAUSE", p.InvalidLabels}} {
		if len(part.rows) == 0 {
			continue
		}
		rows = []row{{cells: []string{"ROW", part.title}, color: bold}}
		for _, r := range part.rows {
			rows = append(rows, row{cells: []string{number(r.Row), r.Message}})
		}
		if err := tableBelow(a.out, rows); err != nil {
			return err
		}
	}
	return nil
}
