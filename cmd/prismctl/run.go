package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/build"
)

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{env: env, in: stdin, out: newPrinter(stdout, env), err: newPrinter(stderr, env)}
	root := a.root()
	root.SetArgs(append([]string{}, args...)) // with nil, cobra would use the arguments of the process
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if !a.ran { // cobra refused the command line
		err = usage(err)
	}
	code := exitCode(err)
	if ctx.Err() != nil {
		code = exitInterrupted
	}
	if text := explain(err); text != "" {
		_, _ = fmt.Fprintln(a.err, a.err.paint(red, "prismctl:"), text)
	}
	if code == exitUsage {
		_, _ = fmt.Fprintln(a.err, "prismctl --help lists the commands, and --help after a command its flags.")
	}
	return code
}

// app is what all commands share.
type app struct {
	env      func(string) string
	in       io.Reader
	out, err *printer
	host     string // --host
	exact    bool   // --exact
	ran      bool   // the command line was right, and its command ran
}

func (a *app) root() *cobra.Command {
	root := group("prismctl", "Define prisms, call them, and read their results")
	root.Long = `Define prisms, call them, and read their results.

prismctl takes the address and the API key from "prismctl login", or from PRISM_URL and PRISM_API_KEY.
A key is never an argument, because other users of the machine could see it.`
	root.Version = build.Read(debug.ReadBuildInfo).String()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().StringVar(&a.host, "host", "", "address of Prism, instead of PRISM_URL or the stored one")
	root.PersistentFlags().BoolVar(&a.exact, "exact", false, "write all digits of numbers in tables, csv and tsv, instead of four significant ones")
	root.AddCommand(a.prisms(), a.call(), a.try(), a.results(), a.retry(), a.runs(), a.files(), a.keys(), a.members(), a.audit(), a.models(), a.usage(), a.login(), a.logout())
	return root
}

// client returns a client for the Prism of the flags, the environment or the login, and its address.
func (a *app) client() (*client.Client, string, error) {
	t, err := a.target()
	if err != nil {
		return nil, "", err
	}
	c, err := client.New(client.Config{URL: t.Host, Key: t.Key, UserAgent: "prismctl"})
	if err != nil {
		return nil, "", usage(err)
	}
	return c, t.Host, nil
}

// command is a command without subcommands.
func (a *app) command(use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.ran = true
			return do(cmd, args)
		},
		// Commands do not complete file names unless they set another function.
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// group is a command with subcommands.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// calling is a command that calls Prism.
func (a *app) calling(use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, c *client.Client, args []string) error) *cobra.Command {
	return a.command(use, short, args, func(cmd *cobra.Command, args []string) error {
		c, _, err := a.client()
		if err != nil {
			return err
		}
		return do(cmd, c, args)
	})
}
