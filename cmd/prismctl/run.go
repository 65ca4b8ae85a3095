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
	cmd, err := root.ExecuteContextC(ctx)
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
	switch text := explain(err); {
	case text == "": // the user was told
	case outputOf(cmd).isJSON():
		_ = writeJSON(a.err, errorJSON(err, code, text), "") // as the other output is
	default:
		_, _ = fmt.Fprintln(a.err, a.err.paint(red, "prismctl:"), text)
		if code == exitUsage {
			_, _ = fmt.Fprintf(a.err, "Usage: %s\n%s --help explains it.\n", useLine(cmd), cmd.CommandPath())
		}
	}
	return code
}

// app is what all commands share.
type app struct {
	env      func(string) string
	in       io.Reader
	out, err *printer
	host     string // --host
	context  string // --context
	exact    bool   // --exact
	ran      bool   // the command line was right, and its command ran

	inputRead bool // standard input was read
}

func (a *app) root() *cobra.Command {
	root := group("prismctl", "Define prisms, call them, and read their results")
	root.Example = indent(`prismctl login
prismctl prisms apply -f tickets.yaml
prismctl call tickets --text "Where is my parcel?"
prismctl results list --prism tickets`)
	root.Long = `Define prisms, call them, and read their results.

prismctl takes the address and the API key from "prismctl login", or from PRISM_URL and PRISM_API_KEY. Several of
them are contexts ("prismctl context"). A key is never an argument, because other users of the machine could see it.`
	root.Version = build.Read(debug.ReadBuildInfo).String()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.in)
	root.SetOut(a.out.Writer)
	root.SetErr(a.err.Writer)
	root.PersistentFlags().StringVar(&a.host, "host", "", "address of Prism, instead of PRISM_URL or the stored one")
	root.PersistentFlags().StringVar(&a.context, "context", "", "stored address and key to use, instead of PRISM_CONTEXT or the current ones")
	completeFlag(root, "context", a.completeContexts)
	root.PersistentFlags().BoolVar(&a.exact, "exact", false, "write all digits of numbers in tables, csv and tsv, instead of four significant ones")
	root.SetFlagErrorFunc(unknownFlag)
	root.AddCommand(a.prisms(), a.validate(), a.call(), a.try(), a.results(), a.changes(), a.retry(), a.runs(), a.files(), a.labels(), a.views(), a.webhooks(),
		a.quality(), a.compare(), a.calibrate(), a.models(), a.usage(), a.account(), a.keys(), a.members(), a.audit(), a.open(), a.api(), a.mcp(), a.auth(),
		a.contexts(), a.login(), a.logout())
	root.InitDefaultHelpCmd() // here, so that it gets an example too
	root.InitDefaultCompletionCmd()
	giveExamples(root)
	return root
}

// client returns a client for the target, and the target.
func (a *app) client() (*client.Client, target, error) {
	t, err := a.target()
	if err != nil {
		return nil, t, err
	}
	c, err := client.New(client.Config{URL: t.Host, Key: t.Key, UserAgent: "prismctl"})
	if err != nil {
		return nil, t, usage(err)
	}
	return c, t, nil
}
