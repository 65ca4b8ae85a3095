package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/test/e2e/internal/collector"
	"github.com/prism-results/prism/test/e2e/internal/openapi"
	"github.com/prism-results/prism/test/e2e/internal/proc"
	"github.com/prism-results/prism/test/e2e/internal/upstream"
)

// world is what the tests of this process share. Everything in it starts when first asked for.
var world = &shared{
	stacks:    make(map[string]func() (*stack, error)),
	binaries:  make(map[string]func() (string, error)),
	documents: make(map[string]func() (*openapi.Document, error)),
}

type shared struct {
	mu        sync.Mutex
	dir       string
	stacks    map[string]func() (*stack, error)
	binaries  map[string]func() (string, error)
	documents map[string]func() (*openapi.Document, error)
	model     *upstream.Model
	postgres  *pgtest.Server
	redis     *redistest.Server
	traces    *collector.Collector
	procs     []*proc.Process // every process that was ever started
}

// topologies are the ways in which Prism is put together.
func topologies() []topology { return []topology{standalone{}, services{}} }

// onEach runs a group of cases against each topology's shared stack.
func onEach(t *testing.T, group func(t *testing.T, s *stack)) {
	t.Helper()
	t.Parallel()
	for _, top := range topologies() {
		t.Run(top.name(), func(t *testing.T) {
			t.Parallel()
			group(t, world.stack(t, top))
		})
	}
}

// stack returns the topology's shared stack.
func (w *shared) stack(t *testing.T, top topology) *stack {
	t.Helper()
	w.mu.Lock()
	start, ok := w.stacks[top.name()]
	if !ok {
		start = sync.OnceValues(func() (*stack, error) {
			for _, pkg := range top.packages() { // compiling takes minutes where nothing is cached: it is no part of starting
				if _, err := w.binary(pkg); err != nil {
					return nil, err
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), startBudget)
			defer cancel()
			s, err := startStack(ctx, top, nil)
			if err != nil {
				return nil, err
			}
			return s, s.seed(ctx)
		})
		w.stacks[top.name()] = start
	}
	w.mu.Unlock()
	s, err := start()
	if err != nil {
		t.Fatalf("the %s topology did not start: %v", top.name(), err)
	}
	return s
}

// binary builds a package once.
func (w *shared) binary(pkg string) (string, error) {
	w.mu.Lock()
	build, ok := w.binaries[pkg]
	if !ok {
		build = sync.OnceValues(func() (string, error) {
			dir, err := w.tempDir("bin-" + path.Base(pkg))
			if err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(context.Background(), buildBudget)
			defer cancel()
			return program.Build(ctx, dir, pkg, program.AsTests()...)
		})
		w.binaries[pkg] = build
	}
	w.mu.Unlock()
	return build()
}

// described is the OpenAPI document that the topology's calls are held against: the one in the sources, which
// TestDocumentation holds to be the one that is served.
func (w *shared) described(top topology) (*openapi.Document, error) {
	w.mu.Lock()
	read, ok := w.documents[top.name()]
	if !ok {
		read = sync.OnceValues(func() (*openapi.Document, error) {
			source, err := openAPISource()
			if err != nil {
				return nil, err
			}
			return openapi.New(source)
		})
		w.documents[top.name()] = read
	}
	w.mu.Unlock()
	return read()
}

func openAPISource() ([]byte, error) {
	root, err := program.Root()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, openapi.Path))
}

// unused are the described operations that no call succeeded with.
func (w *shared) unused() (problems []string) {
	for _, top := range topologies() {
		doc, err := w.described(top)
		if err != nil {
			return []string{err.Error()}
		}
		for _, id := range doc.Unused() {
			problems = append(problems, fmt.Sprintf("no call of %s succeeded against the %s topology", id, top.name()))
		}
	}
	return problems
}

// tempDir makes a folder that lives as long as the test process.
func (w *shared) tempDir(name string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		dir, err := os.MkdirTemp("", "prism-e2e-")
		if err != nil {
			return "", err
		}
		w.dir = dir
	}
	return os.MkdirTemp(w.dir, name+"-")
}

func (w *shared) scripted() *upstream.Model {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.model == nil {
		w.model = upstream.New()
	}
	return w.model
}

// database makes an empty database in the shared Postgres.
func (w *shared) database(ctx context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.postgres == nil {
		server, err := pgtest.Start(ctx, pgtest.Options{})
		if err != nil {
			return "", err
		}
		w.postgres = server
	}
	name, err := w.postgres.CreateDatabase(ctx, "")
	return w.postgres.URL(name), err
}

func (w *shared) redisURL(ctx context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.redis == nil {
		server, err := redistest.Start(ctx, redistest.Options{})
		if err != nil {
			return "", err
		}
		w.redis = server
	}
	return w.redis.URL(), nil
}

// start starts a process whose output is scanned at the end.
func (w *shared) start(name, bin string, env []string, args ...string) (*proc.Process, error) {
	p, err := proc.Start(name, bin, env, args...)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.procs = append(w.procs, p)
	return p, nil
}

// otlp is where every process exports its traces to.
func (w *shared) otlp() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.traces == nil {
		w.traces = collector.New()
	}
	return w.traces.URL()
}

// close ends everything and returns what is wrong with what the processes printed.
func (w *shared) close() (problems []string) {
	w.mu.Lock()
	stacks := w.stacks
	w.mu.Unlock()
	for name, start := range stacks {
		s, err := start()
		if err != nil {
			continue // the tests that needed it have failed
		}
		if err := s.stop(); err != nil {
			problems = append(problems, fmt.Sprintf("the %s topology did not stop: %v", name, err))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	if w.model != nil {
		w.model.Close()
	}
	if w.postgres != nil {
		err = errors.Join(err, w.postgres.Close())
	}
	if w.redis != nil {
		err = errors.Join(err, w.redis.Close())
	}
	if w.dir != "" {
		err = errors.Join(err, os.RemoveAll(w.dir))
	}
	if err != nil {
		problems = append(problems, err.Error())
	}
	problems = append(problems, printed(w.procs)...)
	if w.traces != nil {
		w.traces.Close()
		problems = append(problems, exported(w.traces.Bodies())...)
	}
	return problems
}

const (
	startBudget = 60 * time.Second
	buildBudget = 10 * time.Minute
	stopBudget  = 30 * time.Second
)
