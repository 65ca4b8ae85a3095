package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) runsWatch() *cobra.Command {
	cmd := a.calling(description{
		use: "watch ID", short: "Follow a run until it is finished, cancelled or paused",
		example: `prismctl runs watch "$RUN"`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		return a.watch(cmd.Context(), c, args[0])
	})
	cmd.Long = `Follow a run until it is finished, cancelled or paused. Ctrl-C ends only the watching: the run goes on.

The exit code is 7 if rows failed, and 6 if the run was paused or cancelled.`
	cmd.ValidArgsFunction = a.completeRuns
	return cmd
}

// watch follows a run, and ends with what came of it and what to do next.
func (a *app) watch(ctx context.Context, c *client.Client, id string) error {
	m, status := a.err.newMeter(), client.RunStatus("")
	r, err := c.WatchRun(ctx, id, func(r client.Run) {
		if !a.err.terminal && r.Status != status {
			_, _ = fmt.Fprintln(a.err, sentence(r))
		}
		status = r.Status
		m.show(float64(r.Done())/float64(max(r.Rows, 1)), "%s", pace(r))
	})
	a.err.status("")
	if ctx.Err() != nil {
		_, _ = fmt.Fprintf(a.err, "The run goes on. Come back with: prismctl runs watch %[1]s\nStop it with: prismctl runs pause %[1]s\n", id)
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.err, "%s Of %s: %s\n", sentence(r), plural(r.Rows, "row"), counts(r))
	for _, hint := range next(r) {
		_, _ = fmt.Fprintln(a.err, hint)
	}
	switch {
	case r.Status != client.RunFinished:
		return &codeError{exitConflict, errTold}
	case r.Failed > 0:
		return &codeError{exitFailed, errTold}
	}
	return nil
}

// pace is how far a run is, in one line.
func pace(r client.Run) string {
	parts := []string{fmt.Sprintf("%d of %s", r.Done(), plural(r.Rows, "row"))}
	switch r.Status {
	case client.RunRunning:
		parts = append(parts, fmt.Sprintf("%.0f rows/s", r.RowsPerSecondNow))
	case client.RunFinished:
	default:
		parts = append(parts, string(r.Status))
	}
	for _, c := range []struct {
		n    int64
		name string
	}{{r.Failed, "failed"}, {r.Invalid, "invalid"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	if r.ETASeconds != nil && r.Pending > 0 {
		parts = append(parts, duration(*r.ETASeconds)+" left")
	}
	return strings.Join(parts, ", ")
}

// counts are the outcomes of the rows of a run.
func counts(r client.Run) string {
	text := fmt.Sprintf("%d ok, %d failed, %d invalid", r.OK, r.Failed, r.Invalid)
	for _, c := range []struct {
		n    int64
		name string
	}{{r.Cancelled, "cancelled"}, {r.Pending, "pending"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.name)
		}
	}
	return text
}

// next are the commands that a person may want next.
func next(r client.Run) (hints []string) {
	hint := func(why, command string) {
		hints = append(hints, fmt.Sprintf("%-22s prismctl runs %s", why+":", command))
	}
	hint("The answers", "download "+r.ID+" --file answers.csv")
	if r.Status == client.RunPaused {
		hint("To continue", "resume "+r.ID+" --watch")
	}
	if r.Failed > 0 && r.Status == client.RunFinished {
		hint("To retry what failed", "retry "+r.ID+" --watch")
	}
	if r.Invalid > 0 {
		hint("Why rows are invalid", "download "+r.ID+" --only invalid --file invalid.csv")
	}
	return hints
}
