package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// labelImport is the flags of an import.
type labelImport struct {
	prism, format string
	questions     []string // columns with values; if empty, the columns question and value have them
	labels        client.ManyLabels
}

func (a *app) labelsImport() *cobra.Command {
	var in labelImport
	cmd := a.calling(about{
		use: "import FILE --prism PRISM", short: "Label results by a file",
		example: `prismctl labels import labelled.csv --prism tickets --sample random
prismctl labels import sheet.tsv --prism tickets --question topic --question urgent --annotator ada
prismctl labels list --prism tickets -o jsonl | prismctl labels import - --format jsonl --prism tickets`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		source := a.in
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return usage(err)
			}
			defer func() { _ = f.Close() }()
			source = f
		}
		if in.format == "" {
			in.format = strings.TrimPrefix(strings.ToLower(filepath.Ext(args[0])), ".")
		}
		rows, err := in.read(source)
		if err != nil {
			return err
		}
		return a.importLabels(cmd.Context(), c, in, rows)
	})
	cmd.ValidArgsFunction = nil // a shell completes file names
	cmd.Long = `Label results by a file of csv, tsv or jsonl, or with - by standard input.

Each row names a result by its result_id or its ref, and has a question and a value. With --question the columns of those names
are the values of the questions instead; an empty cell is no label. A ref stands for the newest ok result that has it, or with
--version for that of the version.

Labels that cannot be stored are told with their line, and the others are stored: then the exit code is 3. To run the command
again is harmless.`
	a.prismFlag(cmd, &in.prism, "prism whose results to label")
	cmd.Flags().StringVar(&in.format, "format", "", "csv, tsv or jsonl, instead of what the file's extension says")
	choices(cmd, "format", "csv", "tsv", "jsonl")
	cmd.Flags().StringArrayVar(&in.questions, "question", nil, "column with the values of the question of its name; may be repeated")
	completeFlag(cmd, "question", a.completeQuestions)
	cmd.Flags().IntVar(&in.labels.Version, "version", 0, "version that answered the results")
	labelByFlags(cmd, &in.labels.Sample, &in.labels.Annotator)
	required(cmd, "prism")
	return cmd
}

// labelRow is a row of a file: its cells by column.
type labelRow struct {
	line  int
	cells map[string]string
}

func (in labelImport) read(source io.Reader) (iter.Seq2[labelRow, error], error) {
	lines := bufio.NewReader(source)
	if start, _ := lines.Peek(3); bytes.Equal(start, []byte("\ufeff")) {
		_, _ = lines.Discard(3)
	}
	switch in.format {
	case "csv":
		return separatedRows(lines, ','), nil
	case "tsv":
		return separatedRows(lines, '\t'), nil
	case "jsonl":
		return jsonRows(lines), nil
	}
	return nil, usage(errors.New("--format is csv, tsv or jsonl"))
}

func separatedRows(source io.Reader, comma rune) iter.Seq2[labelRow, error] {
	return func(yield func(labelRow, error) bool) {
		r := csv.NewReader(source)
		r.Comma, r.ReuseRecord = comma, true
		header, err := r.Read()
		header = slices.Clone(header)
		for err == nil {
			var cells []string
			if cells, err = r.Read(); err != nil {
				break
			}
			row := labelRow{cells: map[string]string{}}
			row.line, _ = r.FieldPos(0)
			for i, name := range header {
				row.cells[name] = cells[i]
			}
			if !yield(row, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(labelRow{}, invalid(err)) // names the line
		}
	}
}

func jsonRows(source *bufio.Reader) iter.Seq2[labelRow, error] {
	return func(yield func(labelRow, error) bool) {
		for line := 1; ; line++ {
			text, err := source.ReadBytes('\n')
			if len(bytes.TrimSpace(text)) > 0 {
				row := labelRow{line, map[string]string{}}
				members := map[string]client.LabelValue{}
				if wrong := json.Unmarshal(text, &members); wrong != nil {
					yield(row, invalid(fmt.Errorf("line %d: each line is an object of strings and booleans", line)))
					return
				}
				for name, value := range members {
					row.cells[name] = string(value)
				}
				if !yield(row, nil) {
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(labelRow{}, err)
				}
				return
			}
		}
	}
}

// labelsOf are the labels of a row.
func (in labelImport) labelsOf(row labelRow) (labels []client.NewLabel, err error) {
	var l client.NewLabel
	ref, hasRef := row.cells["ref"]
	switch id := row.cells["result_id"]; {
	case id != "":
		l.ResultID = id
	case hasRef:
		l.Ref = &ref
	default:
		return nil, invalid(fmt.Errorf("line %d: no result_id and no ref", row.line))
	}
	if len(in.questions) == 0 {
		l.Question, l.Value = row.cells["question"], client.LabelValue(row.cells["value"])
		if l.Question == "" || l.Value == "" {
			return nil, invalid(fmt.Errorf("line %d: question or value is missing; --question names columns instead", row.line))
		}
		return []client.NewLabel{l}, nil
	}
	for _, question := range in.questions {
		value, ok := row.cells[question]
		if !ok {
			return nil, invalid(fmt.Errorf("line %d: no column %q", row.line, question))
		}
		if strings.TrimSpace(value) != "" {
			l.Question, l.Value = question, client.LabelValue(value)
			labels = append(labels, l)
		}
	}
	return labels, nil
}

// importLabels sends labels, and tells which were not stored.
func (a *app) importLabels(ctx context.Context, c *client.Client, in labelImport, rows iter.Seq2[labelRow, error]) error {
	var stored, refused int
	var lines []int // of the labels to send
	send := func() error {
		if len(lines) == 0 {
			return nil
		}
		added, err := c.AddLabels(ctx, in.prism, in.labels)
		if err != nil {
			return fmt.Errorf("lines %d to %d: %w", lines[0], lines[len(lines)-1], err)
		}
		stored += added.Labelled
		refused += len(added.NotFound) + len(added.Invalid)
		for _, at := range added.NotFound {
			_, _ = fmt.Fprintf(a.err, "line %d: Result not found\n", lines[at])
		}
		for _, l := range added.Invalid {
			question := in.labels.Labels[l.Index].Question
			_, _ = fmt.Fprintf(a.err, "line %d: %s: %s\n", lines[l.Index], printable(question), printable(l.Message))
		}
		lines, in.labels.Labels = nil, nil
		return nil
	}
	var failed error
	for row, err := range rows {
		var labels []client.NewLabel
		if err == nil {
			labels, err = in.labelsOf(row)
		}
		if err != nil {
			failed = err
			break
		}
		for _, l := range labels {
			lines, in.labels.Labels = append(lines, row.line), append(in.labels.Labels, l)
			if len(lines) < client.MaxLabels {
				continue
			}
			if failed = send(); failed != nil {
				break
			}
		}
		if failed != nil {
			break
		}
	}
	if failed == nil {
		failed = send()
	}
	_, _ = fmt.Fprintf(a.err, "%d labels are stored, %d are not.\n", stored, refused)
	if failed == nil && refused > 0 {
		failed = invalid(errTold)
	}
	return failed
}
