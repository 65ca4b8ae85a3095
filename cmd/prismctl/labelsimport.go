package main

import (
	"bufio"
	"bytes"
	"cmp"
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
	"github.com/prism-results/prism/pkg/strictjson"
)

// labelImport is the flags of an import.
type labelImport struct {
	prism, format string
	questions     []string          // columns with values; if empty, the columns question and value have them
	labels        client.ManyLabels // the flags that apply to all labels
}

func (a *app) labelsImport() *cobra.Command {
	var in labelImport
	cmd := a.calling(description{
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
--version for that of the version. The columns sample and annotator are those of each row; the flags replace them.

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
		return csvRows(lines), nil
	case "tsv":
		return tsvRows(lines), nil
	case "jsonl":
		return jsonRows(lines), nil
	}
	return nil, usage(errors.New("--format is csv, tsv or jsonl"))
}

func csvRows(source *bufio.Reader) iter.Seq2[labelRow, error] {
	return func(yield func(labelRow, error) bool) {
		r := csv.NewReader(&lineBreaks{from: source})
		r.ReuseRecord = true
		header, err := r.Read()
		header = slices.Clone(header)
		for err == nil {
			var cells []string
			if cells, err = r.Read(); err != nil {
				break
			}
			line, _ := r.FieldPos(0)
			if !yield(newLabelRow(line, header, cells), nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(labelRow{}, invalid(err)) // names the line
		}
	}
}

func newLabelRow(line int, header, cells []string) labelRow {
	row := labelRow{line, make(map[string]string, len(header))}
	for i, name := range header {
		row.cells[name] = cells[i]
	}
	return row
}

// lineBreaks doubles the CR of each CRLF inside quotes, because encoding/csv reads CRLF as LF (spec: csv-cells).
type lineBreaks struct {
	from   *bufio.Reader
	quoted bool
	again  bool // the CR comes once more
}

func (l *lineBreaks) Read(p []byte) (n int, err error) {
	for ; n < len(p); n++ {
		if l.again {
			p[n], l.again = '\r', false
			continue
		}
		if p[n], err = l.from.ReadByte(); err != nil {
			return n, err
		}
		l.quoted = l.quoted != (p[n] == '"')
		if l.quoted && p[n] == '\r' {
			next, _ := l.from.Peek(1)
			l.again = bytes.Equal(next, []byte("\n"))
		}
	}
	return n, nil
}

// tsvRows reads cells as they are: tsv has no quotes (spec: tsv-cells).
func tsvRows(source *bufio.Reader) iter.Seq2[labelRow, error] {
	return func(yield func(labelRow, error) bool) {
		var header []string
		for line, err := range filledLines(source) {
			cells := strings.Split(string(line.text), "\t")
			switch {
			case err != nil:
			case header == nil:
				header = cells
				continue
			case len(cells) != len(header):
				err = invalid(fmt.Errorf("line %d: %d cells, and the header has %d", line.number, len(cells), len(header)))
			}
			if err != nil {
				yield(labelRow{}, err)
				return
			}
			if !yield(newLabelRow(line.number, header, cells), nil) {
				return
			}
		}
	}
}

func jsonRows(source *bufio.Reader) iter.Seq2[labelRow, error] {
	return func(yield func(labelRow, error) bool) {
		for line, err := range filledLines(source) {
			row := labelRow{line.number, map[string]string{}}
			// encoding/json would replace what is not UTF-8.
			var members map[string]strictjson.Value
			if err == nil && strictjson.Unmarshal(line.text, &members) != nil {
				err = invalid(fmt.Errorf("line %d: each line is an object", line.number))
			}
			if err != nil {
				yield(labelRow{}, err)
				return
			}
			for name, value := range members {
				var text client.LabelValue
				if json.Unmarshal(value, &text) == nil { // else a number, an object or an array: no column of labels
					row.cells[name] = string(text)
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// numberedLine is a line of a file without its line break.
type numberedLine struct {
	number int
	text   []byte
}

// filledLines are the lines that are not blank.
func filledLines(source *bufio.Reader) iter.Seq2[numberedLine, error] {
	return func(yield func(numberedLine, error) bool) {
		for n, err := 1, error(nil); err == nil; n++ {
			var text []byte
			text, err = source.ReadBytes('\n')
			text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
			if len(bytes.TrimSpace(text)) > 0 && !yield(numberedLine{n, text}, nil) {
				return
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(numberedLine{}, err)
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
	sending := sendingLabels{labelImport: in, stderr: a.err, c: c}
	var failed error
	for row, err := range rows {
		var labels []client.NewLabel
		if err == nil {
			labels, err = in.labelsOf(row)
		}
		if err == nil {
			err = sending.add(ctx, row, labels)
		}
		if err != nil {
			failed = err
			break
		}
	}
	failed = errors.Join(failed, sending.send(ctx)) // the labels before a malformed row are stored
	_, _ = fmt.Fprintf(a.err, "%d labels are stored, %d are not.\n", sending.stored, sending.refused)
	if failed == nil && sending.refused > 0 {
		failed = invalid(errTold)
	}
	return failed
}

// sendingLabels sends labels in parts that have one sample and one annotator.
type sendingLabels struct {
	labelImport

	stderr          io.Writer
	c               *client.Client
	next            client.ManyLabels
	lines           []int // of the labels of next
	stored, refused int
}

// add adds the labels of a row, and sends the part when it is full or the row has another sample or annotator.
func (s *sendingLabels) add(ctx context.Context, row labelRow, labels []client.NewLabel) error {
	sample := cmp.Or(s.labels.Sample, client.LabelSample(row.cells["sample"]))
	annotator := cmp.Or(s.labels.Annotator, row.cells["annotator"])
	if sample != "" && sample != client.RandomSample && sample != client.UncertainSample {
		return invalid(fmt.Errorf("line %d: sample is random or uncertain; --sample replaces the column", row.line))
	}
	if sample != s.next.Sample || annotator != s.next.Annotator {
		if err := s.send(ctx); err != nil {
			return err
		}
	}
	for _, l := range labels {
		s.next.Sample, s.next.Annotator = sample, annotator
		s.lines, s.next.Labels = append(s.lines, row.line), append(s.next.Labels, l)
		if len(s.lines) < client.MaxLabels {
			continue
		}
		if err := s.send(ctx); err != nil {
			return err
		}
	}
	return nil
}

// send sends the part. A part that failed is not sent again.
func (s *sendingLabels) send(ctx context.Context) error {
	part, lines := s.next, s.lines
	s.next, s.lines = client.ManyLabels{}, nil
	if len(lines) == 0 {
		return nil
	}
	part.Version = s.labels.Version
	added, err := s.c.AddLabels(ctx, s.prism, part)
	if err != nil {
		return fmt.Errorf("lines %d to %d: %w", lines[0], lines[len(lines)-1], err)
	}
	s.stored += added.Labelled
	s.refused += len(added.NotFound) + len(added.Invalid)
	for _, at := range added.NotFound {
		_, _ = fmt.Fprintf(s.stderr, "line %d: Result not found\n", lines[at])
	}
	for _, l := range added.Invalid {
		question := part.Labels[l.Index].Question
		_, _ = fmt.Fprintf(s.stderr, "line %d: %s: %s\n", lines[l.Index], printable(question), printable(l.Message))
	}
	return nil
}
