package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) files() *cobra.Command {
	files := group("files", "Upload, list, look into and delete files of rows")
	files.AddCommand(a.filesUpload(), a.filesList(), a.filesGet(), a.filesRows(), a.filesDelete())
	return files
}

func (a *app) filesUpload() *cobra.Command {
	var format string
	cmd := a.calling("upload FILE", "Upload a file of rows and print its id", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		f, err := a.upload(cmd.Context(), c, args[0], format)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(a.out, f.ID)
		return err
	})
	cmd.Long = `Upload a file of rows, wait until Prism has read it, and print its id.

If the upload is cut, the same command continues it. A file that was uploaded before is not sent again.`
	fileFormatFlag(cmd, &format)
	cmd.ValidArgsFunction = nil // a shell completes file names
	return cmd
}

var fileFormats = []string{"csv", "tsv", "jsonl", "xlsx", "parquet"}

func fileFormatFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "", "csv, tsv, jsonl, xlsx or parquet; by default the file name's extension")
	choices(cmd, "format", fileFormats...)
}

// upload uploads a file, and says what Prism found in it.
func (a *app) upload(ctx context.Context, c *client.Client, name, format string) (client.File, error) {
	file, err := os.Open(name) //nolint:gosec // the user named it
	if err != nil {
		return client.File{}, usage(err)
	}
	defer func() { _ = file.Close() }()
	u, err := uploadOf(file, format)
	if err != nil {
		return client.File{}, err
	}
	m := a.err.newMeter()
	shown := printable(u.Name)
	u.Progress = func(sent int64) {
		m.show(float64(sent)/float64(u.Bytes), "%s: %.1f of %.1f MB", shown, float64(sent)/1e6, float64(u.Bytes)/1e6)
	}
	a.err.status("%s: preparing", shown)
	f, err := c.UploadFile(ctx, u)
	a.err.status("")
	var unusable *client.UnusableFileError
	switch {
	case errors.As(err, &unusable):
		return f, &aboutError{shown, err}
	case err != nil:
		if f.ID != "" {
			_, _ = fmt.Fprintln(a.err, "Not all was sent; run the same command again to continue.")
		}
		return f, err
	}
	_, _ = fmt.Fprintf(a.err, "%s: %s, columns %s\n", shown, rowsOf(*orZero(f.Rows)), printable(strings.Join(columnNames(f), ", ")))
	return f, nil
}

func uploadOf(file *os.File, format string) (client.Upload, error) {
	named := file.Name()
	if format != "" {
		named = "." + format
	}
	f, known := client.FileFormatOf(named)
	if !known {
		return client.Upload{}, usage(fmt.Errorf("unknown format %q: csv, tsv, jsonl, xlsx or parquet, by --format or by the file name's extension",
			strings.TrimPrefix(filepath.Ext(named), ".")))
	}
	u, err := client.UploadOf(file, f)
	if err == nil && u.Bytes == 0 {
		err = invalid(fmt.Errorf("%s is empty", file.Name()))
	}
	return u, err
}

func columnNames(f client.File) (names []string) {
	for _, c := range f.Columns {
		names = append(names, c.Name)
	}
	return names
}

// rowsOf is a number of rows in words.
func rowsOf(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

func orZero[T any](v *T) *T {
	if v == nil {
		v = new(T)
	}
	return v
}

func (a *app) filesList() *cobra.Command {
	var output string
	cmd := a.calling("list", "List files, newest first", cobra.NoArgs, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(a, output, c.Files(cmd.Context()), "id name format bytes status rows created_at expires_at", func(f client.File) row {
			r := row{cells: []string{
				f.ID, f.Name, string(f.Format), number(f.Bytes), string(f.Status), optional(f.Rows), f.CreatedAt.String(), f.ExpiresAt.String(),
			}}
			if f.Status == client.FileUnusable {
				r.color = red
			}
			return r
		})
	})
	outputFlag(cmd, &output)
	return cmd
}

func (a *app) filesGet() *cobra.Command {
	var output string
	cmd := a.calling("get ID", "Show a file and its columns", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		f, err := c.ReadFile(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.one(output, f, func() error { return a.showFile(f) })
	})
	oneFlag(cmd, &output)
	cmd.ValidArgsFunction = a.completeFiles
	return cmd
}

// one writes a thing for people, or as JSON.
func (a *app) one(output string, v any, show func() error) error {
	switch output {
	case "table":
		return show()
	case "json":
		return writeJSON(a.out, v, "  ")
	case "jsonl":
		return writeJSON(a.out, v, "")
	}
	return usage(fmt.Errorf("unknown output %q: table, json or jsonl", output))
}

func oneFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "table", "format: table, json or jsonl")
	choices(cmd, "output", "table", "json", "jsonl")
}

func (a *app) showFile(f client.File) error {
	status := string(f.Status)
	if f.Error != nil {
		status += ": " + *f.Error
	}
	if n := len(f.Missing); f.Status == client.FileUploading {
		status += fmt.Sprintf(", %d or more of %d parts are missing", n, f.Parts)
	}
	rows := []row{
		{cells: []string{"id", f.ID}},
		{cells: []string{"name", f.Name}},
		{cells: []string{"format", string(f.Format)}},
		{cells: []string{"bytes", number(f.Bytes)}},
		{cells: []string{"created", f.CreatedAt.String()}},
		{cells: []string{"status", status}},
	}
	if f.Rows != nil {
		rows = append(rows, row{cells: []string{"rows", number(*f.Rows)}})
	}
	if err := table(a.out, rows); err != nil || len(f.Columns) == 0 {
		return err
	}
	columns := []row{{cells: []string{"COLUMN", "FILLED", "LONGEST"}, color: bold}}
	for _, c := range f.Columns {
		columns = append(columns, row{cells: []string{c.Name, number(c.Filled), number(c.Longest)}})
	}
	if _, err := fmt.Fprintln(a.out); err != nil {
		return err
	}
	return table(a.out, columns)
}

func (a *app) filesRows() *cobra.Command {
	var (
		output string
		offset int64
		limit  int
	)
	cmd := a.calling("rows ID", "Show rows of a file as Prism reads them", cobra.ExactArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		found, err := c.ListFileRows(cmd.Context(), args[0], offset, limit)
		if err != nil {
			return err
		}
		return a.showRows(output, found.Data)
	})
	outputFlag(cmd, &output)
	cmd.Flags().Int64Var(&offset, "offset", 0, "how many rows to leave out at the begin")
	cmd.Flags().IntVar(&limit, "limit", 10, "how many rows, at most 100")
	cmd.ValidArgsFunction = a.completeFiles
	return cmd
}

func (a *app) showRows(output string, found []client.FileRow) error {
	var shown []row
	for i, r := range found {
		var names, cells []string
		for _, c := range r {
			names, cells = append(names, c.Column), append(cells, optional(c.Value))
		}
		if i == 0 {
			shown = append(shown, row{cells: names, color: bold})
		}
		shown = append(shown, row{cells: cells})
	}
	switch output {
	case "json":
		return writeJSON(a.out, found, "  ")
	case "jsonl":
		for _, r := range found {
			if err := writeJSON(a.out, r, ""); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		lines := csv.NewWriter(a.out)
		for _, r := range shown {
			if err := lines.Write(r.cells); err != nil {
				return err
			}
		}
		lines.Flush()
		return lines.Error()
	case "table":
		return table(a.out, shown)
	}
	return usage(fmt.Errorf("unknown output %q: table, json, csv or jsonl", output))
}

func (a *app) filesDelete() *cobra.Command {
	var yes bool
	cmd := a.calling("delete ID...", "Delete files; the results of their runs stay", cobra.MinimumNArgs(1), func(cmd *cobra.Command, c *client.Client, args []string) error {
		if !yes {
			what := "1 file"
			if len(args) > 1 {
				what = strconv.Itoa(len(args)) + " files"
			}
			if err := a.ask(cmd.Context(), fmt.Sprintf("Delete %s for good?", what)); err != nil {
				return err
			}
		}
		for _, id := range args {
			if err := c.DeleteFile(cmd.Context(), id); err != nil {
				return &aboutError{id, err}
			}
			_, _ = fmt.Fprintf(a.err, "%s is deleted.\n", printable(id))
		}
		return nil
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before deleting")
	cmd.ValidArgsFunction = a.completeFiles
	return cmd
}

// completeFiles completes the ids of the newest files, as far as Prism lists them within two seconds.
func (a *app) completeFiles(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeIDs(cmd, args, func(ctx context.Context, c *client.Client) (ids []string) {
		page, err := c.ListFiles(ctx, client.PageOptions{})
		if err != nil {
			return nil
		}
		for _, f := range page.Data {
			ids = append(ids, f.ID+"\t"+f.Name)
		}
		return ids
	})
}

func (a *app) completeIDs(cmd *cobra.Command, args []string, list func(context.Context, *client.Client) []string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, _, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	return list(ctx, c), cobra.ShellCompDirectiveNoFileComp
}
