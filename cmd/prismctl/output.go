package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// column is one column of a list.
type column[T any] struct {
	name string
	cell func(T) string
	// color paints the cell in a table; it may be nil.
	color func(T) color
}

const outputs = "table, json, csv or jsonl"

// outputFlag adds -o for lists.
func outputFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "table", "format: "+outputs)
	choices(cmd, "output", "table", "json", "csv", "jsonl")
}

// choices sets what a shell completes for a flag.
func choices(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("prismctl: no such flag: " + flag)
	}
}

// list writes items as they arrive. A table needs all items first, for its column widths.
func list[T any](a *app, output string, items iter.Seq2[T, error], columns []column[T]) error {
	switch output {
	case "table":
		return listTable(a.out, items, columns)
	case "csv":
		return listCSV(a.out, items, columns)
	case "json":
		return listJSON(a.out, items)
	case "jsonl":
		for item, err := range items {
			if err != nil {
				return err
			}
			if err := writeJSON(a.out, item, ""); err != nil {
				return err
			}
		}
		return nil
	}
	return usage(fmt.Errorf("unknown output %q: %s", output, outputs))
}

func listTable[T any](p *printer, items iter.Seq2[T, error], columns []column[T]) error {
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = strings.ToUpper(strings.ReplaceAll(c.name, "_", " "))
	}
	rows, colors := [][]string{header}, []color{bold}
	for item, err := range items {
		if err != nil {
			return err
		}
		row, painted := make([]string, len(columns)), color("")
		for i, c := range columns {
			row[i] = printable(c.cell(item))
			if c.color != nil {
				painted = c.color(item)
			}
		}
		rows, colors = append(rows, row), append(colors, painted)
	}
	return table(p, rows, colors)
}

// table writes aligned rows, each in its color if colors has one.
func table(p *printer, rows [][]string, colors []color) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if colors != nil && colors[n] != "" {
			line = p.paint(colors[n], line)
		}
		if _, err := fmt.Fprintln(p, line); err != nil {
			return err
		}
	}
	return nil
}

func listCSV[T any](w io.Writer, items iter.Seq2[T, error], columns []column[T]) error {
	out := csv.NewWriter(w)
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.name
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for item, err := range items {
		if err != nil {
			out.Flush()
			return err
		}
		for i, c := range columns {
			row[i] = c.cell(item)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func listJSON[T any](w io.Writer, items iter.Seq2[T, error]) error {
	all := []T{}
	for item, err := range items {
		if err != nil {
			return err
		}
		all = append(all, item)
	}
	return writeJSON(w, all, "  ")
}

func writeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// first returns the first n items, or all if n is 0.
func first[T any](items iter.Seq2[T, error], n int) iter.Seq2[T, error] {
	if n == 0 {
		return items
	}
	return func(yield func(T, error) bool) {
		left := n
		for item, err := range items {
			if !yield(item, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// each is a sequence of the given items.
func each[T any](items ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}
