package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// allRows is --only for every row.
const allRows = "all"

var (
	rowsFormats = []string{"csv", "tsv", "jsonl", "xlsx", "parquet"}
	rowStatuses = []string{allRows, "ok", "failed", "invalid", "pending"}
)

func (a *app) runsDownload() *cobra.Command {
	var name, only string
	var output *output
	var style client.TextStyle
	var raw bool
	cmd := a.command(description{
		use: "download ID", short: "Write the rows of a run: the file's own columns, and the answers beside them",
		example: `prismctl runs download "$RUN" -o answers.xlsx
prismctl runs download "$RUN" -o answers.csv --bom --delimiter ';' --safe
prismctl runs download "$RUN" -o jsonl --only failed`,
	}, func(cmd *cobra.Command, args []string) error {
		q, err := rowsQuery(name, output, only)
		if err != nil {
			return err
		}
		q.TextStyle, q.Raw = withTab(style), raw
		if q.Format == "" && name == "" && a.out.terminal {
			q.Format = client.RowsCSV // a workbook is nothing to look at
		}
		c, _, err := a.client()
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if name == "" { // the rows may be on the terminal, so nothing else is written
			return copyRows(ctx, c, args[0], q, a.out)
		}
		return a.download(ctx, name, q.Format == client.RowsXLSX || q.Format == client.RowsParquet || q.Format == "", func(to io.Writer) error {
			return copyRows(ctx, c, args[0], q, to)
		})
	})
	cmd.Long = `Write the rows of a run in the order of the file: its own columns first and as they came, then what came of the
row, then the answers; in xlsx the answers come before what came of the row. It works in every state of the run, so an answer may not be
there yet.

The format is that of -o, or of the extension of the file to write, or else of the file that was uploaded. --bom, --delimiter and --safe
make csv and tsv for spreadsheets.

If the connection is lost, csv, tsv and jsonl continue behind the last row, and xlsx and parquet begin again. The file gets its
name when it is complete.`
	f := cmd.Flags()
	output = outputFlag(cmd, rowsFormats...)
	output.format = "" // that of the file
	fileFlag(cmd, &name)
	styleFlags(cmd, &style)
	rawFlag(cmd, &raw)
	f.StringVar(&only, "only", allRows, "only rows that are ok, failed, invalid or pending")
	choices(cmd, "only", rowStatuses...)
	cmd.ValidArgsFunction = a.completeRuns
	return cmd
}

// fileFlag adds --file for a command that writes a file, whose extension is the format without -o.
func fileFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVarP(name, "file", "f", "", "file to write; its extension is the format without -o")
	outputOf(cmd).file = name
	cmd.Flags().Lookup("output").Usage += "; or the file to write, as --file"
}

// styleFlags adds the flags of csv and tsv for spreadsheets.
func styleFlags(cmd *cobra.Command, style *client.TextStyle) {
	f := cmd.Flags()
	f.BoolVar(&style.BOM, "bom", false, "begin csv and tsv with a byte-order mark, by which Excel knows UTF-8")
	f.StringVar((*string)(&style.Delimiter), "delimiter", "", "what is between the cells of csv and tsv: , or ; or | or tab")
	f.BoolVar(&style.Safe, "safe", false, "put ' before texts of csv and tsv that a spreadsheet could take for a formula")
	choices(cmd, "delimiter", ",", ";", "|", tabName)
}

// rawFlag adds the flag of parquet alone.
func rawFlag(cmd *cobra.Command, raw *bool) {
	cmd.Flags().BoolVar(raw, "raw", false, "give parquet a column of the stored answers, with every probability")
}

// tabName is a tab on the command line.
const tabName = "tab"

func withTab(style client.TextStyle) client.TextStyle {
	if style.Delimiter == tabName {
		style.Delimiter = "\t"
	}
	return style
}

func rowsQuery(name string, o *output, only string) (q client.RunRows, err error) {
	if err := o.fromExtension(name); err != nil {
		return q, err
	}
	if !slices.Contains(rowStatuses, only) {
		err = usage(fmt.Errorf("--only is all, ok, failed, invalid or pending, not %q", only))
	}
	q.Format = client.RowsFormat(o.format)
	if only != allRows {
		q.Only = client.RowStatus(only)
	}
	return q, err
}

func copyRows(ctx context.Context, c *client.Client, id string, q client.RunRows, to io.Writer) error {
	rows, err := c.ListRunRows(ctx, id, q)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, rows)
	return errors.Join(err, rows.Close())
}

// sheetTries is how often a spreadsheet is begun before a lost connection is an error.
const sheetTries = 5

// download writes what copyTo copies to a file, which gets its name when it is complete. A spreadsheet is compressed as a whole, so it
// cannot continue, and begins again.
func (a *app) download(ctx context.Context, name string, isSheet bool, copyTo func(to io.Writer) error) error {
	part := name + ".part"
	file, err := os.Create(part) //nolint:gosec // the user named it
	if err != nil {
		return err
	}
	to := &counted{file: bufio.NewWriterSize(file, 256<<10), show: a.err.newMeter(), name: name}
	for n := 1; ; n++ {
		err = copyTo(to)
		var cut *client.ConnectionError
		if !isSheet || !errors.As(err, &cut) || n == sheetTries || !pause(ctx, n, 0) {
			break
		}
		_, seekErr := file.Seek(0, io.SeekStart)
		if err = errors.Join(seekErr, file.Truncate(0)); err != nil {
			break
		}
		to.file.Reset(file)
		to.bytes = 0
	}
	err = errors.Join(err, to.file.Flush(), file.Close())
	a.err.status("")
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, name); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.err, "%s is written.\n", name)
	return nil
}

// counted is a writer that shows how much was written. How much is to come is not known.
type counted struct {
	file  *bufio.Writer
	bytes int64
	show  *meter
	name  string
}

func (w *counted) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.bytes += int64(n)
	w.show.show(0, "%s: %s", w.name, size(w.bytes))
	return n, err
}
