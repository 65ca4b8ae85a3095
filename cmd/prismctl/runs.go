package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) runs() *cobra.Command {
	runs := group("runs", "Send every row of a file through a prism")
	runs.AddCommand(a.runsCreate(), a.runsList(), a.runsGet(), a.runsWatch(),
		a.runsAct("pause", "Begin no further row of a run", (*client.Client).PauseRun),
		a.runsAct("resume", "Continue a paused run", (*client.Client).ResumeRun),
		a.runsCancel(),
		a.runsAct("retry", "Send the failed rows of a run to the model again", (*client.Client).RetryRun),
		a.runsLimits(), a.runsDownload())
	return runs
}

var (
	runStatuses = []string{"queued", "running", "pausing", "paused", "cancelling", "cancelled", "finished"}
	runColors   = map[client.RunStatus]color{client.RunPausing: yellow, client.RunPaused: yellow}
)

func (a *app) runsList() *cobra.Command {
	var (
		status string
		filter client.RunFilter
		size   listSize
		output *output
	)
	cmd := a.calling(description{
		use: "list", short: "List runs, newest first",
		example: `prismctl runs list
prismctl runs list --prism tickets --status running -o wide`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		limit, err := size.items()
		if err != nil {
			return err
		}
		filter.Status = client.RunStatus(status)
		return list(cmd.Context(), a, output, first(c.Runs(cmd.Context(), filter), limit), runColumns, func(r client.Run) row {
			return row{color: runColors[r.Status], cells: []string{
				r.ID, optional(r.Name), r.Prism, strconv.Itoa(r.Version), string(r.Status), number(r.Rows), number(r.OK), number(r.Failed),
				number(r.Invalid), number(r.Cancelled), number(r.Pending), r.CreatedAt.String(), fmt.Sprintf("%d%%", r.Done()*100/max(r.Rows, 1)), r.FileID,
			}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	cmd.Flags().StringVar(&status, "status", "", "only runs with this status, such as running or paused")
	choices(cmd, "status", runStatuses...)
	size.flags(cmd)
	a.prismFlag(cmd, &filter.Prism, "only runs of this prism")
	return cmd
}

var runColumns = columns{
	"id name prism version status rows ok failed invalid cancelled pending created_at done file_id",
	"id name~ prism~ status failed",
}

func (a *app) runsGet() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "get ID", short: "Show a run",
		example: `prismctl runs get "$RUN"
prismctl runs get "$RUN" -o json --jq .failed`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		r, err := c.ReadRun(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.writeOne(cmd.Context(), output, r, func() error { return a.showRun(r) })
	})
	output = outputFlag(cmd, oneFormats...)
	cmd.ValidArgsFunction = a.completeRuns
	return cmd
}

func (a *app) showRun(r client.Run) error {
	rows := []row{{cells: []string{"id", r.ID}}}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, row{cells: []string{name, value}})
		}
	}
	add("name", optional(r.Name))
	add("prism", fmt.Sprintf("%s, version %d", r.Prism, r.Version))
	add("file", r.FileID)
	add("created", r.CreatedAt.String())
	add("started", optional(r.StartedAt))
	add("finished", optional(r.FinishedAt))
	rows = append(rows, row{cells: []string{"status", statusOf(r)}, color: runColors[r.Status]})
	add("rows", fmt.Sprintf("%d: %s", r.Rows, counts(r)))
	if !r.Status.Settled() {
		add("now", pace(r))
	}
	add("tokens", fmt.Sprintf("%d in, %d out", r.Usage.InputTokens, r.Usage.OutputTokens))
	if r.Usage.Cost != nil {
		add("cost", cost(r.Usage.Cost, !a.exact)+" "+optional(r.Usage.Currency))
	}
	return table(a.out, rows)
}

// statusOf is the status of a run, and why it paused by itself.
func statusOf(r client.Run) string {
	if r.Reason != nil {
		return string(r.Status) + ": " + *r.Reason
	}
	return string(r.Status)
}

// sentence tells the status of a run. The reason of a pause has a full stop of its own.
func sentence(r client.Run) string {
	return fmt.Sprintf("Run %s is %s.", r.ID, strings.TrimSuffix(printable(statusOf(r)), "."))
}

func (a *app) runsAct(action, short string, act func(*client.Client, context.Context, string, ...client.CallOption) (client.Run, error)) *cobra.Command {
	var watch bool
	cmd := a.calling(description{
		use: action + " ID", short: short,
		example: fmt.Sprintf("prismctl runs %[1]s \"$RUN\"\nprismctl runs %[1]s \"$RUN\" --watch", action),
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		return a.acted(cmd.Context(), c, watch, func(ctx context.Context) (client.Run, error) { return act(c, ctx, args[0]) })
	})
	cmd.Flags().BoolVar(&watch, "watch", false, "follow the run")
	cmd.ValidArgsFunction = a.completeRuns
	return cmd
}

func (a *app) acted(ctx context.Context, c *client.Client, watch bool, act func(context.Context) (client.Run, error)) error {
	r, err := act(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.err, sentence(r))
	if watch {
		return a.watch(ctx, c, r.ID)
	}
	return nil
}

func (a *app) runsCancel() *cobra.Command {
	var yes bool
	cmd := a.calling(description{
		use: "cancel ID", short: "End a run for good; the answers that are there stay",
		example: `prismctl runs cancel "$RUN"`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		ctx := cmd.Context()
		if !yes {
			r, err := c.ReadRun(ctx, args[0])
			if err != nil {
				return err
			}
			if err := a.ask(ctx, fmt.Sprintf("Cancel this run for good, with %s to go?", plural(r.Pending, "row"))); err != nil {
				return err
			}
		}
		return a.acted(ctx, c, false, func(ctx context.Context) (client.Run, error) { return c.CancelRun(ctx, args[0]) })
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.ValidArgsFunction = a.completeRuns
	return cmd
}

func (a *app) runsLimits() *cobra.Command {
	var limits limitFlags
	cmd := a.calling(description{
		use: "limits ID", short: "Change how fast a run goes",
		example: `prismctl runs limits "$RUN" --concurrency 8
prismctl runs limits "$RUN" --rows-per-second 0`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		l := limits.changed(cmd)
		if l == (client.RunLimits{}) {
			return usage(errors.New("give --rows-per-second or --concurrency; 0 removes a limit"))
		}
		return a.acted(cmd.Context(), c, false, func(ctx context.Context) (client.Run, error) { return c.SetRunLimits(ctx, args[0], l) })
	})
	limits.add(cmd)
	cmd.ValidArgsFunction = a.completeRuns
	return cmd
}

// limitFlags are the flags of how fast a run goes.
type limitFlags struct {
	rowsPerSecond float64
	concurrency   int
}

func (l *limitFlags) add(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&l.rowsPerSecond, "rows-per-second", 0, "rows begun in a second at most; without a limit if not given")
	cmd.Flags().IntVar(&l.concurrency, "concurrency", 0, "rows at the model at once at most; without a limit if not given")
}

func (l *limitFlags) changed(cmd *cobra.Command) (limits client.RunLimits) {
	if cmd.Flags().Changed("rows-per-second") {
		limits.RowsPerSecond = &l.rowsPerSecond
	}
	if cmd.Flags().Changed("concurrency") {
		limits.Concurrency = &l.concurrency
	}
	return limits
}
