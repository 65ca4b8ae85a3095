package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) files() *cobra.Command {
	files := group("files", "Upload, list, look into and delete files of rows")
	files.AddCommand(a.filesUpload(), a.filesList(), a.filesGet(), a.filesRead(), a.filesRows(), a.filesDelete())
	return files
}

func (a *app) filesUpload() *cobra.Command {
	var format string
	cmd := a.calling(description{
		use: "upload FILE", short: "Upload a file of rows and print its id",
		example: `prismctl files upload tickets.csv
prismctl files upload rows.txt --format tsv`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
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
		m.show(float64(sent)/float64(u.Bytes), "%s: %s of %s", shown, size(sent), size(u.Bytes))
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
	rows := int64(0)
	if f.Rows != nil {
		rows = *f.Rows
	}
	_, _ = fmt.Fprintf(a.err, "%s: %s, columns %s\n", shown, plural(rows, "row"), printable(strings.Join(columnNames(f), ", ")))
	for _, note := range f.Notes {
		_, _ = fmt.Fprintf(a.err, "%s: %s\n", shown, printable(note))
	}
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

func (a *app) filesList() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "list", short: "List files, newest first",
		example: `prismctl files list
prismctl files list -o wide`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(cmd.Context(), a, output, c.Files(cmd.Context()), fileColumns, func(f client.File) row {
			r := row{cells: []string{
				f.ID, f.Name, string(f.Format), number(f.Bytes), string(f.Status), optional(f.Rows), f.CreatedAt.String(), f.ExpiresAt.String(),
			}}
			if f.Status == client.FileUnusable {
				r.color = red
			}
			return r
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var fileColumns = columns{"id name format bytes status rows created_at expires_at", "id name~ status rows created_at:uploaded"}

func (a *app) filesGet() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "get ID", short: "Show a file and its columns",
		example: `prismctl files get "$FILE"
prismctl files get "$FILE" -o json --jq '.columns[].name'`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		f, err := c.ReadFile(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.writeOne(cmd.Context(), output, f, func() error { return a.showFile(f) })
	})
	output = outputFlag(cmd, oneFormats...)
	cmd.ValidArgsFunction = a.completeFiles
	return cmd
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
	if f.Encoding != nil && f.EncodingSure != nil && !*f.EncodingSure {
		rows = append(rows, row{cells: []string{"encoding", *f.Encoding + ", a guess"}})
	} else if f.Encoding != nil {
		rows = append(rows, row{cells: []string{"encoding", *f.Encoding}})
	}
	for _, note := range f.Notes {
		rows = append(rows, row{cells: []string{"note", printable(note)}})
	}
	if err := table(a.out, rows); err != nil || len(f.Columns) == 0 {
		return err
	}
	columns := []row{{cells: []string{"COLUMN", "FILLED", "LONGEST"}, color: bold}}
	for _, c := range f.Columns {
		columns = append(columns, row{cells: []string{c.Name, number(c.Filled), number(c.Longest)}})
	}
	return tableBelow(a.out, columns)
}

func (a *app) filesRead() *cobra.Command {
	var (
		encoding, delimiter, onBadRow string
		reading                       client.FileOptions
		output                        *output
	)
	cmd := a.calling(description{
		use: "read ID", short: "Have Prism read a file in another way",
		example: `prismctl files read "$FILE" --encoding windows-1252
prismctl files read "$FILE" --header-row 2 --sheet Answers`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		reading.Encoding, reading.Delimiter = client.Encoding(encoding), client.CellDelimiter(delimiter)
		reading.OnBadRow = client.OnBadRow(onBadRow)
		f, err := c.ReadFileAgain(cmd.Context(), args[0], reading)
		if err != nil {
			return err
		}
		return a.writeOne(cmd.Context(), output, f, func() error { return a.showFile(f) })
	})
	cmd.Long = `Have Prism read a file in another way. What is not given is found out. No run may have the file.

Prism reads in the background: "prismctl files get" shows when the file is ready, and what was done to it.`
	cmd.Flags().StringVar(&encoding, "encoding", "", "encoding of a text, as windows-1252 or shift_jis")
	cmd.Flags().Int64Var(&reading.HeaderRow, "header-row", 0, "row with the names of the columns; the first is 1")
	cmd.Flags().StringVar(&reading.Sheet, "sheet", "", "sheet of a workbook, by name or number")
	cmd.Flags().StringVar(&delimiter, "delimiter", "", "what separates cells")
	cmd.Flags().StringVar(&onBadRow, "on-bad-row", "", "what becomes of a row that cannot be read: invalid or refuse")
	choices(cmd, "on-bad-row", string(client.InvalidBadRow), string(client.RefuseBadRow))
	output = outputFlag(cmd, oneFormats...)
	cmd.ValidArgsFunction = a.completeFiles
	return cmd
}

func (a *app) filesRows() *cobra.Command {
	var (
		output *output
		offset int64
		limit  int
	)
	cmd := a.calling(description{
		use: "rows ID", short: "Show rows of a file as Prism reads them",
		example: `prismctl files rows "$FILE" --limit 3
prismctl files rows "$FILE" --offset 100 -o csv`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		rows, err := c.ListFileRows(cmd.Context(), args[0], offset, limit)
		if err != nil {
			return err
		}
		return a.showRows(cmd.Context(), output, rows.Data)
	})
	output = outputFlag(cmd, listFormats...)
	cmd.Flags().Int64Var(&offset, "offset", 0, "how many rows to skip")
	cmd.Flags().IntVar(&limit, "limit", 10, "how many rows, at most 100")
	cmd.ValidArgsFunction = a.completeFiles
	return cmd
}

// showRows writes rows of a file, with the file's own columns.
func (a *app) showRows(ctx context.Context, o *output, rows []client.FileRow) error {
	var shown []row
	var texts []int
	for i, r := range rows {
		var names, cells []string
		for _, c := range r {
			names, cells = append(names, c.Column), append(cells, optional(c.Value))
		}
		if i == 0 {
			shown = append(shown, row{cells: names, color: bold})
			for at := range names {
				texts = append(texts, at)
			}
		}
		shown = append(shown, row{cells: cells})
	}
	switch o.format {
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
		cut(shown, texts, a.out.room())
		return table(a.out, shown)
	case "wide":
		return table(a.out, shown)
	}
	return list(ctx, a, o, each(rows), columns{}, nil)
}

func (a *app) filesDelete() *cobra.Command {
	var yes bool
	cmd := a.calling(description{
		use: "delete ID...", short: "Delete files; the results of their runs stay",
		example: `prismctl files delete "$FILE"`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		ctx := cmd.Context()
		return a.deleteEach(ctx, "file", args, yes, func(id string) error { return c.DeleteFile(ctx, id) })
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before deleting")
	cmd.ValidArgsFunction = a.completeFiles
	return cmd
}
