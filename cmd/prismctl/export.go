package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/export"
)

func (a *app) export() *cobra.Command {
	var (
		name, status, from, to string
		restart                bool
		filter                 client.Export
		ids                    []string
		output                 *output
	)
	cmd := a.command(description{
		use: "export PRISM", short: "Write all results of a prism, oldest first",
		example: `prismctl results export tickets --file results.xlsx
prismctl results export tickets --file results.parquet --raw
prismctl results export tickets -o jsonl --status ok --from 2026-11-01 | gzip > november.jsonl.gz`,
	}, func(cmd *cobra.Command, args []string) error {
		if restart && name == "" {
			return usage(errors.New("--restart goes with --file"))
		}
		if len(ids) > 0 && slices.ContainsFunc(beyondIDs, cmd.Flags().Changed) {
			return usage(errors.New("--id goes with --file and --output alone"))
		}
		options, err := exportOptions(filter, output, name, status, from, to)
		if err != nil {
			return err
		}
		options.EmptyRef, options.TextStyle = cmd.Flags().Changed("ref") && filter.Ref == "", withTab(filter.TextStyle)
		c, t, err := a.client()
		if err != nil {
			return err
		}
		switch {
		case len(ids) > 0:
			return a.exportAnew(cmd.Context(), name, func(ctx context.Context) (io.ReadCloser, error) {
				return c.ExportSelected(ctx, args[0], ids, options.Format)
			})
		case options.Format == client.XLSX || options.Format == client.Parquet:
			return a.exportAnew(cmd.Context(), name, func(ctx context.Context) (io.ReadCloser, error) {
				return c.ExportResults(ctx, args[0], options)
			})
		}
		e := export.Export{Client: c, Prism: args[0], Options: options, Exact: a.exact, Retries: 8, Pause: pause}
		if name == "" { // the rows may be on the terminal, also at the end of a pipe, so nothing else is written
			_, err = e.To(cmd.Context(), a.out)
			return err
		}
		e.Progress = a.err.exportProgress(args[0])
		done, err := e.ToFile(cmd.Context(), t.Host, name, restart)
		a.err.status("")
		var other *export.OtherExportError
		switch {
		case err == nil:
			_, _ = fmt.Fprintf(a.err, "%d rows in %s\n", done.Rows, name)
		case done.Rows > 0:
			_, _ = fmt.Fprintf(a.err, "%d rows so far; run the same command again to continue.\n", done.Rows)
		}
		if errors.Is(err, export.ErrColumnsChanged) || errors.As(err, &other) {
			return fmt.Errorf("%w: begin again with --restart", err)
		}
		return err
	})
	cmd.Long = `Write all results of a prism, oldest first, to a file or to standard output.

If the connection is lost, the export continues at its last row, and xlsx, parquet and results by --id begin again; each result is written once. The file gets its
name when it is complete. Until then its name is FILE.part, and the same command continues it.`
	f := cmd.Flags()
	output = outputFlag(cmd, rowsFormats...)
	fileFlag(cmd, &name)
	styleFlags(cmd, &filter.TextStyle)
	rawFlag(cmd, &filter.Raw)
	selectFlags(cmd, &status, &filter.Ref, &filter.Model, &filter.KeyID, &filter.Run, &filter.ResultSearch)
	f.IntVar(&filter.Version, "version", 0, "only results of this version")
	timeFlags(cmd, &from, &to)
	assigneeFlag(cmd, &filter.Assignee)
	f.StringArrayVar(&ids, "id", nil, "only the result of this id; may be given up to 1,000 times")
	f.BoolVar(&restart, "restart", false, "discard the unfinished file and begin again")
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

// beyondIDs are the flags of an export that does not name its results.
var beyondIDs = []string{
	"status", "ref", "version", "from", "to", "model", "key-id", "run", "assignee", "q", "where", "bom", "delimiter", "safe", "raw", "restart",
}

// exportAnew writes an export that cannot go on where it was cut, to standard output without a name.
func (a *app) exportAnew(ctx context.Context, name string, open func(context.Context) (io.ReadCloser, error)) error {
	copyTo := func(to io.Writer) error {
		rows, err := open(ctx)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, rows)
		return errors.Join(err, rows.Close())
	}
	if name == "" {
		return copyTo(a.out)
	}
	return a.download(ctx, name, true, copyTo)
}

func exportOptions(o client.Export, output *output, name, status, from, to string) (client.Export, error) {
	err := output.fromExtension(name)
	if err != nil {
		return o, err
	}
	o.Format, o.Status = client.Format(output.format), client.Status(status)
	if o.Status != "" && o.Status != client.OK && o.Status != client.Failed {
		return o, usage(fmt.Errorf("unknown status %q: ok or failed", status))
	}
	o.From, o.To, err = period(from, to)
	return o, err
}

// period reads the values of --from and --to.
func period(from, to string) (begin, end time.Time, err error) {
	if begin, err = timeFlag("from", from); err == nil {
		end, err = timeFlag("to", to)
	}
	return begin, end, err
}

// optionalTime is a time as the API takes it, or nil for the zero time of a flag that is not set.
func optionalTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// timeFlag reads a time, or a day in UTC.
func timeFlag(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, usage(fmt.Errorf("--%s takes a day or a time: 2026-11-21 or 2026-11-21T09:00:00Z", flag))
}

// pause waits before the nth try in a row, longer each time, and for at least the time that the server asked for.
func pause(ctx context.Context, n int, asked time.Duration) bool {
	longest := min(250*time.Millisecond<<min(n, 10), 15*time.Second)
	select {
	case <-time.After(max(longest/2, asked) + rand.N(longest/2)): //nolint:gosec // jitter needs no secrecy
		return true
	case <-ctx.Done():
		return false
	}
}

// exportProgress writes how far an export has come, ten times a second at most. The number of rows to come is not known, so it
// shows no share.
func (p *printer) exportProgress(prism string) func(export.Progress) {
	began, shown := time.Now(), time.Time{}
	return func(e export.Progress) {
		now := time.Now()
		if now.Sub(shown) < 100*time.Millisecond {
			return
		}
		shown = now
		rate := float64(e.Rows) / max(now.Sub(began).Seconds(), 0.001)
		p.status("%s: %d rows, %s, %.0f rows/s", prism, e.Rows, size(e.Bytes), rate)
	}
}
