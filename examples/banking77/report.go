package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prism-results/prism/client"
)

// topIntents is how many intents the table lists.
const topIntents = 8

// report counts what the rows became.
type report struct {
	run      client.Run
	answered int
	agreed   int // answers that are the category of their row
	problems int // answers that say something went wrong
	intents  map[string]int
	first    string // why the first row without an answer has none
}

// row is a row of the download: the file's column category, the row's status and error, and two columns of the Lens.
type row struct {
	Category string `json:"category"`
	Status   string `json:"prism_status"`
	Error    string `json:"prism_error"`
	Intent   string `json:"intent"`
	Problem  string `json:"problem"`
}

// readReport downloads the rows of a run and compares each answer with the category of its row.
func readReport(ctx context.Context, c *client.Client, r client.Run) (*report, error) {
	report := &report{run: r, intents: map[string]int{}}
	for one, err := range client.Rows[row](c.ListRunRows(ctx, r.ID, client.RunRows{Format: client.RowsJSONL})) {
		if err != nil {
			return nil, err
		}
		report.add(one)
	}
	return report, nil
}

func (r *report) add(one row) {
	if one.Status != string(client.RowOK) {
		r.first = cmp.Or(r.first, one.Error)
		return
	}
	r.answered++
	r.intents[one.Intent]++
	if one.Intent == one.Category {
		r.agreed++
	}
	if one.Problem == "yes" {
		r.problems++
	}
}

func (r *report) print(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name, value string) { _, _ = fmt.Fprintf(t, "%s\t%s\t\n", name, value) }
	_, _ = fmt.Fprintln(out)
	line("answered", fmt.Sprint(r.answered))
	line("failed", fmt.Sprint(r.run.Failed))
	if r.run.Invalid > 0 {
		line("invalid", fmt.Sprint(r.run.Invalid))
	}
	if began, ended := r.run.StartedAt, r.run.FinishedAt; began != nil && ended != nil && ended.After(began.Time) {
		line("rows per second", fmt.Sprintf("%.0f", float64(r.run.Done())/ended.Sub(began.Time).Seconds()))
	}
	_ = t.Flush()
	if r.answered == 0 {
		return
	}
	_, _ = fmt.Fprint(out, "\nThe answers:\n\n")
	_, _ = fmt.Fprintf(out, "%5d%%  have the intent that people gave the question\n", 100*r.agreed/r.answered)
	_, _ = fmt.Fprintf(out, "%5d%%  say that the customer reports a problem\n", 100*r.problems/r.answered)
	most := slices.SortedFunc(maps.Keys(r.intents), func(a, b string) int {
		return cmp.Or(r.intents[b]-r.intents[a], cmp.Compare(a, b))
	})
	_, _ = fmt.Fprint(out, "\nThe most frequent intents:\n\n")
	for _, intent := range most[:min(topIntents, len(most))] {
		_, _ = fmt.Fprintf(out, "%6d  %s\n", r.intents[intent], intent)
	}
	_, _ = fmt.Fprintln(out)
}

// err is nil if every question was answered.
func (r *report) err() error {
	if int64(r.answered) == r.run.Rows {
		return nil
	}
	reason := r.first
	if r.run.Reason != nil {
		reason = *r.run.Reason
	}
	next := "retry"
	if r.run.Status == client.RunPaused {
		next = "resume"
	}
	return fmt.Errorf("%d of %d questions have no answer; the run is %s (%s). Continue with: bin/prismctl runs %s %s --watch",
		r.run.Rows-int64(r.answered), r.run.Rows, r.run.Status, strings.TrimSuffix(reason, "."), next, r.run.ID)
}

const barWidth = 40

// progress shows how far the run is: a bar that is drawn over itself on a terminal, else a line every tenth.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	tenths   int64
}

func (p *progress) step(r client.Run) {
	done, total := r.Done(), max(r.Rows, 1)
	if !p.terminal {
		if tenths := done * 10 / total; tenths > p.tenths {
			p.tenths = tenths
			_, _ = fmt.Fprintf(p.out, "%d of %d\n", done, r.Rows)
		}
		return
	}
	full := int(done * barWidth / total)
	_, _ = fmt.Fprintf(p.out, "\r%s%s %d of %d, %.0f s ", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
		done, r.Rows, time.Since(p.began).Seconds())
}

// end ends the line of the bar.
func (p *progress) end() {
	if p.terminal {
		_, _ = fmt.Fprintln(p.out)
	}
}
