package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// readyBudget bounds the start of a process on a busy machine.
const readyBudget = time.Minute

// Process is one running program.
type Process struct {
	Name  string
	Addr  string        // host and port where the program serves
	Ready time.Duration // from the start until the program was ready

	cmd    *exec.Cmd
	out    bytes.Buffer
	exited chan struct{}
	pprof  string
}

// startPrism runs a Prism binary until its admin port says that it is ready.
func startPrism(ctx context.Context, bin string, env map[string]string, further []string) (*Process, error) {
	p := &Process{Name: filepath.Base(bin), cmd: exec.Command(bin)}
	admin, err1 := freeport.Addr()
	addr, err2 := freeport.Addr()
	pprof, err3 := freeport.Addr()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	p.Addr, p.pprof = addr, pprof
	p.cmd.Env = []string{
		"PRISM_LISTEN=" + addr, "PRISM_ADMIN_LISTEN=" + admin, "PRISM_LOG_LEVEL=warn", profileVariable + "=" + pprof,
	}
	for name, value := range env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Env = append(p.cmd.Env, further...)
	client := &http.Client{Timeout: time.Second}
	return p, p.start(ctx, func() bool {
		resp, err := client.Get("http://" + admin + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// startServer runs a program that listens at p.Addr, until it accepts connections.
func startServer(ctx context.Context, name string, command func(addr string) *exec.Cmd) (*Process, error) {
	addr, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	p := &Process{Name: name, Addr: addr, cmd: command(addr)}
	return p, p.start(ctx, func() bool {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// start starts the command and waits until it is ready. A process that does not become ready is stopped.
func (p *Process) start(ctx context.Context, ready func() bool) error {
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.exited = make(chan struct{})
	began := time.Now()
	if err := program.Start(p.cmd); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // the output says how the process ended
		close(p.exited)
	}()
	ctx, cancel := context.WithTimeout(ctx, readyBudget)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		var err error
		select {
		case <-tick.C:
			continue
		case <-p.exited:
			err = errors.New("exited before it was ready")
		case <-ctx.Done():
			err = ctx.Err()
		}
		p.Stop()
		return fmt.Errorf("%s: %w\n%s", p.Name, err, &p.out)
	}
	p.Ready = time.Since(began)
	return nil
}

// Stop kills the process and waits for its end.
func (p *Process) Stop() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Profile writes a profile to a file. kind is a path below /debug/pprof.
func (p *Process) Profile(ctx context.Context, kind, file string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.pprof+"/debug/pprof/"+kind, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, resp.Body); err != nil {
		return err
	}
	return f.Close()
}
