// Package launch runs Prism's programs for tests: the standalone prism, or the services. The programs are those of
// package program, built once for all tests of a run.
package launch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// The programs, by their folders below the repository.
const (
	Prism      = "cmd/prism"
	Gateway    = "services/gateway/cmd/prism-gateway"
	Results    = "services/results/cmd/prism-results"
	ModelProxy = "services/model-proxy/cmd/prism-model-proxy"
	Runs       = "services/runs/cmd/prism-runs"
	Console    = "services/console/cmd/prism-console"
	Webhooks   = "services/webhooks/cmd/prism-webhooks"
	Operator   = "services/operator/cmd/prism-operator"
)

// Bounds of waiting, for a machine of any load.
const (
	startBudget = 2 * time.Minute
	// StopBudget is longer than the longest call, which a stopping service completes (spec: stopping).
	StopBudget = time.Minute
)

// Service is one of the programs with its settings. It can be started, ended and started again.
type Service struct {
	Name   string // of the program, such as prism-gateway
	Bin    string // the program's file
	Listen string // address of the API
	Admin  string // address of /healthz, /readyz and /metrics
	// Env holds all settings, PRISM_LISTEN and PRISM_ADMIN_LISTEN among them.
	Env map[string]string
	// Started, if set, is called with each process that Launch or Operate starts.
	Started func(*program.Process)

	mu      sync.Mutex
	process *program.Process
}

// New builds a program, with further flags of go build, and chooses the service's addresses. env gets both addresses.
func New(ctx context.Context, pkg string, env map[string]string, flags ...string) (*Service, error) {
	s := &Service{Name: path.Base(pkg), Env: env}
	var err error
	if s.Bin, err = program.Binary(ctx, pkg, flags...); err != nil {
		return nil, err
	}
	if s.Listen, err = freeport.Addr(); err != nil {
		return nil, err
	}
	if s.Admin, err = freeport.Addr(); err != nil {
		return nil, err
	}
	env["PRISM_LISTEN"], env["PRISM_ADMIN_LISTEN"] = s.Listen, s.Admin
	return s, nil
}

// URL is where the API is.
func (s *Service) URL() string { return "http://" + s.Listen }

// Process is the current or last run. It is nil before the first start.
func (s *Service) Process() *program.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// Start starts the service and waits until the service is ready.
func (s *Service) Start(ctx context.Context) error {
	if _, err := s.Launch(s.Env); err != nil {
		return err
	}
	return s.Ready(ctx)
}

// Launch starts the service with settings, usually s.Env, and does not wait.
func (s *Service) Launch(env map[string]string) (*program.Process, error) {
	p, err := program.Launch(s.command(env))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = p
	return p, nil
}

func (s *Service) command(env map[string]string, args ...string) program.Command {
	return program.Command{Name: s.Name, Path: s.Bin, Env: env, Args: args, Started: s.Started}
}

// Ready waits until the service is ready.
func (s *Service) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	return s.Process().AwaitReady(ctx, s.Admin)
}

// admin keeps no connection, so that a service that stops has none of the tests' to wait for.
var admin = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}

// Get reads a path of the admin address.
func (s *Service) Get(ctx context.Context, path string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Admin+path, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := admin.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// Metric is the value of a metric, named with its labels as /metrics prints them.
func (s *Service) Metric(ctx context.Context, name string) (float64, error) {
	_, body, err := s.Get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("launch: %s has no metric %s", s.Name, name)
}

// Stop sends SIGTERM and waits for exit code 0. A service that was never started or has ended already is no error.
func (s *Service) Stop() error {
	p := s.Process()
	if p == nil || p.State() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), StopBudget)
	defer cancel()
	code, err := p.Stop(ctx)
	if err == nil && code != 0 {
		err = fmt.Errorf("launch: %s exited with %d after SIGTERM:\n%s", s.Name, code, Tail(p, 5))
	}
	return err
}

// Kill ends the service at once, if it runs.
func (s *Service) Kill() {
	if p := s.Process(); p != nil {
		p.Kill()
	}
}

// Operate runs an operator's command with the service's settings and returns the standard output without the last newline.
func (s *Service) Operate(ctx context.Context, args ...string) (string, error) {
	return program.Run(ctx, s.command(s.Env, args...))
}

// Account makes an account and returns a new API key of the account.
func (s *Service) Account(ctx context.Context, name string) (key string, err error) {
	if _, err := s.Operate(ctx, "account", "create", name); err != nil {
		return "", err
	}
	return s.Operate(ctx, "key", "create", "--account", name)
}

var (
	keyFile    = regexp.MustCompile(`\S+/prism-first-start\.txt`)
	keyPattern = regexp.MustCompile(`prism_[0-9A-Za-z]{38}`)
)

// DemoKey is the API key that a standalone Prism makes at its first start (spec: first-start).
func (s *Service) DemoKey(ctx context.Context) (string, error) {
	text, err := s.FirstStart(ctx)
	return keyPattern.FindString(text), err
}

// FirstStart is what the first start of a standalone Prism keeps in a file: the key, and a line to try it (spec: private-output).
func (s *Service) FirstStart(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	named, err := s.Process().AwaitOutput(ctx, keyFile)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(named[0])
	return string(text), err
}
