package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// readyBudget bounds the start of a process on a busy machine.
const readyBudget = 3 * time.Minute

// Process is one running program.
type Process struct {
	*program.Process
	Addr  string        // host and port where the program serves
	Ready time.Duration // from the start until the program was ready

	Env map[string]string // its settings, but those of every process

	pprof string
}

// startPrism runs a Prism binary until its admin port says that it is ready. further has variables as NAME=value.
func startPrism(ctx context.Context, bin string, env map[string]string, further []string) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, readyBudget)
	defer cancel()
	pprof, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	all := map[string]string{"PRISM_LOG_LEVEL": "warn", profileVariable: pprof}
	maps.Copy(all, env)
	for _, variable := range further {
		name, value, _ := strings.Cut(variable, "=")
		all[name] = value
	}
	began := time.Now()
	s, err := program.Serve(ctx, program.Command{Path: bin, Env: all})
	if err != nil {
		return nil, err
	}
	return &Process{Process: s.Process, Addr: s.Listen, Ready: time.Since(began), Env: env, pprof: pprof}, nil
}

// startServer runs a program that listens at the address that command gets, until the program accepts connections.
func startServer(ctx context.Context, command func(addr string) program.Command) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, readyBudget)
	defer cancel()
	addr, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	p, err := program.Launch(command(addr))
	if err != nil {
		return nil, err
	}
	err = p.Await(ctx, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return &Process{Process: p, Addr: addr}, nil
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
	_, err = io.Copy(f, resp.Body)
	return errors.Join(err, f.Close())
}
