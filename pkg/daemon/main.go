package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/prism-results/prism/pkg/config"
)

// Main runs a binary until it has done its work or is told to stop, and exits: 0 after a clean stop and after --help,
// else 1 with the error on standard error. A second Ctrl-C ends the process at once; a further SIGTERM does not
// (spec: repeated-signals).
func Main(env config.Environment, run func(ctx context.Context, args []string, env config.Environment, stdout, stderr io.Writer) error) {
	// Never undone: a SIGTERM while the process exits would end a clean stop by a signal.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	err := run(ctx, os.Args[1:], env, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, config.ErrHelp) {
		fmt.Fprintln(os.Stderr, env.Name+":", err)
		os.Exit(1)
	}
}
