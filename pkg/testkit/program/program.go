// Package program builds the repository's programs for tests, starts them and ends them with the tests.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/internal/proc"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
)

// stopBudget bounds how long a program may take to end when it is told to, on a machine of any load.
const stopBudget = time.Minute

// Command is a program to start.
type Command struct {
	Path string
	Args []string
	// Env is the environment, but for PATH, HOME and TMPDIR, which are those of the tests.
	Env map[string]string
	// Name stands for the program in messages: the file's name unless set.
	Name  string
	Stdin io.Reader
	// Stdout and Stderr take the output instead of the Process, which keeps all of it.
	Stdout, Stderr io.Writer
	// Started, if set, is called with the process.
	Started func(*Process)
}

// Process is a program that was started, with its output.
type Process struct {
	Name string
	*proc.Process
	stdout, stderr syncbuffer.Buffer
}

// Launch starts a program in a process group of its own. The kernel kills it when this process ends, in whatever way.
func Launch(c Command) (*Process, error) {
	p := &Process{Name: c.Name}
	if p.Name == "" {
		p.Name = filepath.Base(c.Path)
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = []string{"GORACE=atexit_sleep_ms=0"} // unless told, the race detector waits a second at each end
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	if cmd.Stdout == nil {
		cmd.Stdout = &p.stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &p.stderr
	}
	var err error
	p.Process, err = proc.Start(cmd, syscall.SIGKILL, func() []byte { return []byte(p.Output()) })
	if err == nil && c.Started != nil {
		c.Started(p)
	}
	return p, err
}

// Run runs a program to its end and returns its standard output without the last newline. An exit code other than 0 is an
// error that holds standard error.
func Run(ctx context.Context, c Command) (string, error) {
	p, err := Launch(c)
	if err != nil {
		return "", err
	}
	code, err := p.Wait(ctx)
	if err != nil {
		p.Kill()
		return "", err
	}
	if code != 0 {
		err = fmt.Errorf("program: %s %s exited with %d: %s", p.Name, strings.Join(c.Args, " "), code, p.Stderr())
	}
	return strings.TrimSuffix(p.Stdout(), "\n"), err
}

// AwaitReady returns when GET /readyz of the admin address answers 200. It fails when the program ends or ctx does.
func (p *Process) AwaitReady(ctx context.Context, admin string) error {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return p.Await(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			err = errors.New(resp.Status)
		}
		return errors.Join(err, resp.Body.Close())
	})
}

// AwaitOutput returns the first match of a pattern in the output, with its submatches. It fails when the program or ctx
// ends without one.
func (p *Process) AwaitOutput(ctx context.Context, pattern *regexp.Regexp) (match []string, err error) {
	err = p.Await(ctx, func(context.Context) error {
		if match = pattern.FindStringSubmatch(p.Output()); match == nil {
			return fmt.Errorf("no output matches %s", pattern)
		}
		return nil
	})
	return match, err
}

// Stdout is the standard output so far.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr is the standard error so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// Output is the standard output so far and then the standard error.
func (p *Process) Output() string { return p.Stdout() + p.Stderr() }

// StopAfter ends the program after a test, with SIGTERM. The test fails when the program does not exit with 0, unless the
// test has ended the program already, or when the race detector found something. The output of a failed test is logged.
func (p *Process) StopAfter(t testing.TB) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), stopBudget)
		defer cancel()
		select {
		case <-p.Done():
		default:
			if code, err := p.Stop(ctx); err != nil || code != 0 {
				t.Errorf("%s exited with %d after SIGTERM: %v", p.Name, code, err)
			}
		}
		if strings.Contains(p.Output(), "WARNING: DATA RACE") {
			t.Errorf("%s has a data race", p.Name)
		}
		if t.Failed() {
			t.Logf("%s printed:\n%s", p.Name, p.Output())
		}
	})
}

// Stop tells the program to end with SIGTERM and returns its exit code. When ctx ends first the program is killed.
func (p *Process) Stop(ctx context.Context) (code int, err error) {
	err = p.End(ctx, syscall.SIGTERM)
	return p.State().ExitCode(), err
}

// Kill ends the program at once and waits for its end.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL)
	<-p.Done()
}
