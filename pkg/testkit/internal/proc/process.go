package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	probeEvery = 5 * time.Millisecond
	outputTail = 4000
	// pipeBudget is how long the output of a program's children is read after the program has ended.
	pipeBudget = 5 * time.Second
)

// Process is a program that was started.
type Process struct {
	cmd    *exec.Cmd
	output func() []byte
	done   chan struct{}
}

// StartLogged is Start with the program's output going to a file.
func StartLogged(cmd *exec.Cmd, log string, onDeath syscall.Signal) (*Process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	return Start(cmd, onDeath, func() []byte {
		text, err := os.ReadFile(log)
		if err != nil {
			return []byte(err.Error())
		}
		return text
	})
}

// Start starts cmd. output returns what the program has printed, for errors. When this process ends, in whatever way, the
// kernel sends onDeath to the program where the system can do so.
func Start(cmd *exec.Cmd, onDeath syscall.Signal, output func() []byte) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// In a process group of its own, the program does not get the terminal's Ctrl-C: the tests end the program.
	cmd.SysProcAttr.Setpgid = true
	cmd.WaitDelay = pipeBudget
	dieWithParent(cmd.SysProcAttr, onDeath)
	p := &Process{cmd: cmd, output: output, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// To the kernel the parent is the thread that started the program, so that thread lives as long as the program.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // State has the exit code
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Await returns when probe first succeeds. It fails when the program ends or ctx does.
func (p *Process) Await(ctx context.Context, probe func(context.Context) error) error {
	tick := time.NewTicker(probeEvery) // the program does not notify: poll
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.done:
			if probe(ctx) == nil { // what the program printed last may be what was awaited
				return nil
			}
			return fmt.Errorf("%s ended (%s):\n%s", p.cmd.Path, p.State(), p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (%w)\n%s", p.cmd.Path, ctx.Err(), err, p.tail())
		}
	}
}

// Signal sends a signal. A program that has ended takes none, which is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.cmd.Path, err)
	}
	return nil
}

// SignalChildren sends a signal to the programs that the program has started. It needs a system with /proc.
func (p *Process) SignalChildren(sig syscall.Signal) error {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return errors.Join(errors.New("this system does not list its processes in /proc"), err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may hold anything; the state and the parent come after it (proc_pid_stat(5)).
		pid, parent := 0, 0
		_, _ = fmt.Sscan(string(stat), &pid)
		_, _ = fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %c %d", new(rune), &parent)
		if parent != p.PID() || pid == 0 {
			continue
		}
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal a child of %s: %w", p.cmd.Path, err)
		}
	}
	return nil
}

// Wait waits until the program has ended and returns its exit code: -1 when a signal ended it.
func (p *Process) Wait(ctx context.Context) (code int, err error) {
	select {
	case <-p.done:
		return p.State().ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%s still runs: %w", p.cmd.Path, ctx.Err())
	}
}

// End sends a signal and waits until the program has ended. When ctx ends first the program is killed.
func (p *Process) End(ctx context.Context, sig syscall.Signal) error {
	err := p.Signal(sig)
	select {
	case <-p.done:
		return err
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("%s ignored %s: %w", p.cmd.Path, sig, ctx.Err()), p.Signal(syscall.SIGKILL))
		<-p.done
		return err
	}
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// State tells how the program ended. It is nil before.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.done:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// tail is the end of the output.
func (p *Process) tail() []byte {
	text := p.output()
	return bytes.TrimSpace(text[max(0, len(text)-outputTail):])
}
