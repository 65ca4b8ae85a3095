package main

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) open() *cobra.Command {
	var noBrowser bool
	open := a.command(description{
		use: "open", short: "Open the console, or its page of a prism, result or run",
		example: `prismctl open
prismctl open prism tickets
prismctl open result "$RESULT" --no-browser`,
	}, func(cmd *cobra.Command, _ []string) error { return a.browse(cmd.Context(), noBrowser, "") })
	open.Long = `Open the console, or its page of a prism, result or run.

The address is printed, and opened in the browser of BROWSER or of the system. Without a terminal, or with
--no-browser, it is only printed. Prism is not called, and the browser signs in by itself.`
	open.Args = noSuchCommand
	open.PersistentFlags().BoolVar(&noBrowser, "no-browser", false, "only print the address")
	page := func(what, argument, folder, example string, complete cobra.CompletionFunc) {
		open.AddCommand(a.command(description{
			use: what + " " + argument, short: "Open the console's page of a " + what, example: example, complete: complete,
		}, func(cmd *cobra.Command, args []string) error {
			return a.browse(cmd.Context(), noBrowser, folder+url.PathEscape(args[0]))
		}))
	}
	page("prism", "PRISM", "prisms/", "prismctl open prism tickets", a.completePrisms)
	page("result", "ID", "results/", `prismctl open result "$RESULT"`, a.completeResults)
	page("run", "ID", "runs/", `prismctl open run "$RUN"`, a.completeRuns)
	return open
}

// browse prints the address of a page of the console. If the output is a terminal, browse also opens a browser.
func (a *app) browse(ctx context.Context, noBrowser bool, page string) error {
	t, err := a.address()
	if err != nil {
		return err
	}
	address := strings.TrimRight(t.Host, "/") + "/console/" + page
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usage(fmt.Errorf("%q is not the address of a Prism", t.Host))
	}
	if _, err := fmt.Fprintln(a.out, address); err != nil || noBrowser || !a.out.terminal {
		return err
	}
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if own := a.env("BROWSER"); own != "" {
		program = []string{own}
	}
	if program == nil {
		program = []string{"xdg-open"}
	}
	// The browser goes on when prismctl ends.
	browser := exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], address)...) //nolint:gosec // the user's own
	if err := browser.Start(); err != nil {
		return fmt.Errorf("no browser was opened: %w; --no-browser only prints the address", err)
	}
	return browser.Process.Release()
}
