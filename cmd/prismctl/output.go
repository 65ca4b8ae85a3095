package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// row is one line of a table. color paints it; it may be empty.
type row struct {
	cells []string
	color color
}

var statusColors = map[client.Status]color{client.Failed: red}

var outputs = []string{"table", "json", "csv", "jsonl"}

// outputFlag adds -o for lists.
func outputFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "table", "format: table, json, csv or jsonl")
	choices(cmd, "output", outputs...)
}

// choices sets what a shell completes for a flag.
func choices(cmd *cobra.Command, flag string, values ...string) {
	complete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic("prismctl: no such flag: " + flag)
	}
}

// list writes items as they arrive. A table and json need all items first.
func list[T any](a *app, output string, items iter.Seq2[T, error], columns string, rowOf func(T) row) error {
	if !slices.Contains(outputs, output) {
		return usage(fmt.Errorf("unknown output %q: table, json, csv or jsonl", output))
	}
	header, all, lines := strings.Fields(columns), []T{}, csv.NewWriter(a.out)
	titles := strings.Fields(strings.ToUpper(columns))
	for i, title := range titles {
		titles[i] = strings.ReplaceAll(title, "_", " ")
	}
	rows := []row{{titles, bold}}
	if output == "csv" {
		if err := lines.Write(header); err != nil {
			return err
		}
	}
	for item, err := range items {
		switch {
		case err != nil:
		case output == "csv":
			err = lines.Write(rowOf(item).cells)
		case output == "jsonl":
			err = writeJSON(a.out, item, "")
		default:
			all, rows = append(all, item), append(rows, rowOf(item))
		}
		if err != nil {
			lines.Flush()
			return err
		}
	}
	switch output {
	case "table":
		return table(a.out, rows)
	case "json":
		return writeJSON(a.out, all, "  ")
	}
	lines.Flush()
	return lines.Error()
}

// table writes aligned rows.
func table(p *printer, rows []row) error {
	var text bytes.Buffer
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r.cells {
			r.cells[i] = printable(cell)
		}
		_, _ = fmt.Fprintln(columns, strings.Join(r.cells, "\t")) // to memory
	}
	_ = columns.Flush()
	for _, r := range rows {
		line, _ := text.ReadString('\n')
		if _, err := fmt.Fprintln(p, p.paint(r.color, strings.TrimRight(line, " \n"))); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// most is how many items a list shows.
type most struct {
	limit int
	all   bool
}

// flags adds --limit and --all.
func (m *most) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&m.limit, "limit", 50, "how many at most")
	cmd.Flags().BoolVar(&m.all, "all", false, "list all, however many there are")
}

// items is the number of items, or 0 for all.
func (m *most) items() (int, error) {
	switch {
	case m.limit < 1:
		return 0, usage(errors.New("--limit is at least 1; --all lists all"))
	case m.all:
		return 0, nil
	}
	return m.limit, nil
}

// first returns the first n items, or all if n is 0.
func first[T any](items iter.Seq2[T, error], n int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range items {
			if n--; !yield(item, err) || n == 0 {
				return
			}
		}
	}
}
