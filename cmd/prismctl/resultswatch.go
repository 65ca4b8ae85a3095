package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/client"
)

// watchOverlap is how far each list goes back before the newest result: a result can appear after one with a later created_at.
const watchOverlap = 2 * time.Minute

// watchResults shows the newest results, the oldest of them first, and then each new one, until ctx ends. since iterates over the
// results from a time on, the newest first.
func (a *app) watchResults(ctx context.Context, o *output, limit int, every time.Duration,
	since func(from time.Time) iter.Seq2[client.Result, error],
) error {
	show, err := a.resultLines(ctx, o)
	if err != nil {
		return err
	}
	known, newest := map[string]time.Time{}, time.Time{}
	for initial := true; ; initial = false {
		from := time.Time{}
		if !newest.IsZero() {
			from = newest.Add(-watchOverlap)
		}
		var results []client.Result
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
			full := initial && len(results) >= limit
			if full && r.CreatedAt.Before(newest.Add(-watchOverlap)) {
				break
			}
			if _, old := known[r.ID]; !old && !full {
				results = append(results, r)
			}
			known[r.ID] = r.CreatedAt.Time
		}
		slices.Reverse(results)
		if err := show(results); err != nil && ctx.Err() == nil {
			return err
		}
		for id, at := range known {
			if at.Before(newest.Add(-watchOverlap)) {
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

// resultLines returns what writes results as they come. The columns of a table get wider when a cell needs more.
func (a *app) resultLines(ctx context.Context, o *output) (func([]client.Result) error, error) {
	if o.jq != "" && o.format == "json" {
		o.format = "jsonl"
	}
	switch o.format {
	case "jsonl":
		return func(results []client.Result) error {
			for _, r := range results {
				if err := a.write(ctx, o, r); err != nil {
					return err
				}
			}
			return nil
		}, nil
	case "csv":
		lines := csv.NewWriter(a.out)
		if err := lines.Write(strings.Fields(resultColumns.all)); err != nil {
			return nil, err
		}
		return func(results []client.Result) error {
			for _, r := range results {
				if err := lines.Write(a.resultRow(r).cells); err != nil {
					return err
				}
			}
			lines.Flush()
			return lines.Error()
		}, nil
	case "table", "wide":
		var widths []int
		return func(results []client.Result) error {
			rows := a.watchedRows(results, o.format == "table")
			if len(results) == 0 || widths != nil {
				rows = rows[1:] // the titles stand before the first results
			}
			widths = widen(widths, rows)
			return aligned(a.out, rows, widths)
		}, nil
	}
	return nil, usage(fmt.Errorf("--watch goes with -o table, wide, csv or jsonl, not %s", o.format))
}

// watchedRows are the titles and the rows of results. A narrow row has the time of day, since "5s ago" would soon be wrong.
func (a *app) watchedRows(results []client.Result, narrow bool) []row {
	var rows []row
	at := slices.Index(strings.Fields(resultColumns.all), "created_at")
	for _, r := range results {
		cells := a.resultRow(r)
		if narrow {
			cells.cells[at] = r.CreatedAt.UTC().Format(time.TimeOnly)
		}
		rows = append(rows, cells)
	}
	if narrow {
		return resultColumns.short(rows, time.Time{}, a.out.room())
	}
	return resultColumns.wide(rows)
}
