package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prism-results/prism/client"
)

// savedLate is how much later than its time a result can be saved: the time is that of the look-up before the model is asked.
const savedLate = 2 * time.Minute

// watchResults shows the newest results, the oldest of them first, and then each new one, until ctx ends. since iterates over the
// results from a time on, the newest first.
func (a *app) watchResults(ctx context.Context, o *output, limit int, every time.Duration, since func(from time.Time) iter.Seq2[client.Result, error]) error {
	show, err := a.resultLines(ctx, o)
	if err != nil {
		return err
	}
	known, newest := map[string]time.Time{}, time.Time{}
	for n := 0; ; n++ {
		from := time.Time{}
		if !newest.IsZero() {
			from = newest.Add(-savedLate)
		}
		var found []client.Result
		for r, err := range since(from) {
			if ctx.Err() != nil {
				return &codeError{exitInterrupted, errTold}
			}
			if err != nil {
				return err
			}
			if r.CreatedAt.After(newest) {
				newest = r.CreatedAt.Time
			}
			first := n == 0 && len(found) >= limit
			if first && r.CreatedAt.Before(newest.Add(-savedLate)) {
				break
			}
			if _, old := known[r.ID]; !old && !first {
				found = append(found, r)
			}
			known[r.ID] = r.CreatedAt.Time
		}
		for _, r := range slices.Backward(found) {
			if err := show(r); err != nil && ctx.Err() == nil {
				return err
			}
		}
		for id, at := range known {
			if at.Before(newest.Add(-savedLate)) {
				delete(known, id)
			}
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return &codeError{exitInterrupted, errTold}
		}
	}
}

// resultLines writes results one by one. The columns of a table get wider as they need to be.
func (a *app) resultLines(ctx context.Context, o *output) (func(client.Result) error, error) {
	if o.jq != "" && o.format == "json" {
		o.format = "jsonl"
	}
	switch o.format {
	case "jsonl":
		return func(r client.Result) error { return a.write(ctx, o, r) }, nil
	case "csv":
		lines := csv.NewWriter(a.out)
		write := func(cells []string) error {
			err := lines.Write(cells)
			lines.Flush()
			return errors.Join(err, lines.Error())
		}
		return func(r client.Result) error { return write(a.resultRow(r).cells) }, write(strings.Fields(resultColumns.all))
	case "table", "wide":
		narrow := o.format == "table"
		widths := []int{}
		line := func(r row) error {
			text := ""
			for i, cell := range r.cells {
				if i == len(widths) {
					widths = append(widths, 0)
				}
				cell = printable(cell)
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
				text += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap)
			}
			_, err := fmt.Fprintln(a.out, a.out.paint(r.color, strings.TrimRight(text, " ")))
			return err
		}
		of := func(rows ...row) []row {
			if narrow {
				return resultColumns.short(rows, time.Time{}, a.out.room())
			}
			return resultColumns.wide(rows)
		}
		return func(r client.Result) error {
			cells := a.resultRow(r)
			if narrow { // how long ago it was does not stay right
				cells.cells[slices.Index(strings.Fields(resultColumns.all), "created_at")] = r.CreatedAt.UTC().Format(time.TimeOnly)
			}
			return line(of(cells)[1])
		}, line(of()[0])
	}
	return nil, usage(fmt.Errorf("--watch goes with -o table, wide, csv or jsonl, not %s", o.format))
}
