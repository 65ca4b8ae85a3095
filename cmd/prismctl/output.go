package main

import (
	"cmp"
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

// list writes items as they arrive. A table and json need all items first.
func list[T any](a *app, output string, items iter.Seq2[T, error], columns []column[T]) error {
	switch output {
	case "table":
		var rows [][]string
		var colors []color
		err := listRows(items, columns, func(row []string, c color) error {
			for i, cell := range row {
				if row[i] = printable(cell); rows == nil {
					row[i] = strings.ToUpper(strings.ReplaceAll(cell, "_", " "))
					c = bold
				}
			}
			rows, colors = append(rows, row), append(colors, c)
			return nil
		})
		if err != nil {
			return err
		}
		return table(a.out, rows, colors)
	case "csv":
		out := csv.NewWriter(a.out)
		err := listRows(items, columns, func(row []string, _ color) error { return out.Write(row) })
		out.Flush()
		return cmp.Or(err, out.Error())
	case "json":
		all := []T{}
		for item, err := range items {
			if err != nil {
				return err
			}
			all = append(all, item)
		}
		return writeJSON(a.out, all, "  ")
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

// listRows makes a header row of the columns' names and a row of each item.
func listRows[T any](items iter.Seq2[T, error], columns []column[T], write func([]string, color) error) error {
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	if err := write(header, ""); err != nil {
		return err
	}
	for item, err := range items {
		if err != nil {
			return err
		}
		row, painted := make([]string, len(columns)), color("")
		for i, c := range columns {
			row[i] = c.cell(item)
			if c.color != nil {
				painted = c.color(item)
			}
		}
		if err := write(row, painted); err != nil {
			return err
		}
	}
	return nil
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
