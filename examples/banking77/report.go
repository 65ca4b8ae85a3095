package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prism-results/prism/client"
)

// topIntents is how many intents the table lists.
const topIntents = 8

// report counts how the calls ended.
type report struct {
	total    int
	answered int
	failed   int // saved results without an answer
	refused  int // calls without a result
	agreed   int // answers that are the intent in the data
	problems int // answers that say something went wrong
	intents  map[string]int
	took     []time.Duration // of the calls that ended with a result
	elapsed  time.Duration
	first    error // of the first call without an answer
}

func (r *report) done() int { return r.answered + r.failed + r.refused }

func (r *report) add(q question, result client.Result, took time.Duration, err error) {
	var failed *client.FailedError
	if err == nil || errors.As(err, &failed) {
		r.took = append(r.took, took)
	}
	switch {
	case failed != nil:
		r.failed++
	case err != nil:
		r.refused++
	default:
		r.answered++
		intent, _ := result.Answers.Get("intent")
		r.intents[fmt.Sprint(intent)]++
		if intent == q.Intent {
			r.agreed++
		}
		if problem, _ := result.Answers.Get("problem"); problem == "yes" {
			r.problems++
		}
	}
	if r.first == nil {
		r.first = err
	}
}

func (r *report) print(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name, value string) { _, _ = fmt.Fprintf(t, "%s\t%s\t\n", name, value) }
	_, _ = fmt.Fprintln(out)
	line("answered", fmt.Sprint(r.answered))
	line("failed", fmt.Sprint(r.failed))
	if r.refused > 0 {
		line("without a result", fmt.Sprint(r.refused))
	}
	if left := r.total - r.done(); left > 0 {
		line("not asked", fmt.Sprint(left))
	}
	line("p50", milliseconds(percentile(r.took, 50)))
	line("p99", milliseconds(percentile(r.took, 99)))
	if seconds := r.elapsed.Seconds(); seconds > 0 {
		line("calls per second", fmt.Sprintf("%.0f", float64(r.done())/seconds))
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
func (r *report) err(ctx context.Context) error {
	switch {
	case r.answered == r.total:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("stopped after %d of %d answers; run it again to continue", r.answered, r.total)
	default:
		return fmt.Errorf("%d of %d questions have no answer; run it again to retry them. The first: %w", r.total-r.answered, r.total, explained(r.first))
	}
}

// percentile is by nearest rank; 0 of nothing.
func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(p/100*float64(len(sorted))))-1)]
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

const barWidth = 40

// progress shows how far the run is: a bar that is drawn over itself on a terminal, else a line every tenth.
type progress struct {
	out      io.Writer
	terminal bool
	total    int
	began    time.Time
	tenths   int
}

func (p *progress) step(done int) {
	if !p.terminal {
		if tenths := done * 10 / p.total; tenths > p.tenths {
			p.tenths = tenths
			_, _ = fmt.Fprintf(p.out, "%d of %d\n", done, p.total)
		}
		return
	}
	full := done * barWidth / p.total
	_, _ = fmt.Fprintf(p.out, "\r%s%s %d of %d, %.0f s ", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
		done, p.total, time.Since(p.began).Seconds())
}

// end leaves the bar's line.
func (p *progress) end() {
	if p.terminal {
		_, _ = fmt.Fprintln(p.out)
	}
}
