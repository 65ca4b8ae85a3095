package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/prism-results/prism/pkg/config"
)

// child, when set, makes the test binary a program whose last call ends with its standard input.
const child = "PRISM_TEST_DAEMON_CHILD"

func runChild() {
	Main(config.OS("child"), func(ctx context.Context, _ []string, _ config.Environment, stdout, _ io.Writer) error {
		fmt.Fprintln(stdout, "started")
		<-ctx.Done()
		fmt.Fprintln(stdout, "stopping")
		call := bufio.NewScanner(os.Stdin)
		for call.Scan() {
			fmt.Fprintln(stdout, call.Text())
		}
		return call.Err()
	})
}

// spec: repeated-signals
func TestFurtherSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second syscall.Signal
		ends          bool
	}{
		"a second SIGTERM does not end the running call": {syscall.SIGTERM, syscall.SIGTERM, false},
		"SIGTERM after Ctrl-C does not either":           {syscall.SIGINT, syscall.SIGTERM, false},
		"a second Ctrl-C ends the process":               {syscall.SIGINT, syscall.SIGINT, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A shell starts programs in the background so that they ignore Ctrl-C, and so would theirs. A signal that is handled
			// here is not ignored there.
			handled := make(chan os.Signal, 1)
			signal.Notify(handled, syscall.SIGINT)
			defer signal.Stop(handled)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), child+"=1")
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			expect := func(want string) {
				t.Helper()
				if !lines.Scan() || lines.Text() != want {
					t.Fatalf("got %q, want %q", lines.Text(), want)
				}
			}
			expect("started")
			_ = cmd.Process.Signal(c.first)
			expect("stopping")
			for i := 0; i < 100 || c.ends; i++ { // the call goes on while signals arrive
				_ = cmd.Process.Signal(c.second)
				if _, err := fmt.Fprintln(in, "going on"); err != nil || !lines.Scan() {
					break
				}
			}
			_ = in.Close()
			if err := cmd.Wait(); (err != nil) != c.ends {
				t.Errorf("the process ended with %v", err)
			}
		})
	}
}
