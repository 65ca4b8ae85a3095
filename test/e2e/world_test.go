package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/test/e2e/internal/collector"
	"github.com/prism-results/prism/test/e2e/internal/openapi"
)

// world is what the tests of this process share.
var world shared

type shared struct {
	dir      string // is removed at the end
	model    *model.Model
	traces   *collector.Collector
	postgres *pgtest.Server
	redis    *redistest.Server
	stacks   map[topology]*sharedStack

	mu    sync.Mutex
	procs []*program.Process // every process that was ever started
}

// sharedStack is a topology's stack and the OpenAPI document of all calls to the topology. Both are made at their first use.
type sharedStack struct {
	stack    func() (*stack, error)
	document func() (*openapi.Document, error)
	started  *stack
}

func (w *shared) open() (err error) {
	if w.dir, err = os.MkdirTemp("", "prism-e2e-"); err != nil {
		return err
	}
	w.model, w.traces = model.New(nil), collector.New()
	w.stacks = map[topology]*sharedStack{}
	for _, top := range []topology{standalone, services, traced, encrypted, spread} {
		shared := &sharedStack{document: sync.OnceValues(document)}
		shared.stack = sync.OnceValues(func() (s *stack, err error) {
			ctx := context.Background()
			if s, err = startStack(ctx, top, nil); err != nil {
				return nil, err
			}
			shared.started = s
			if s.main, err = s.account(ctx); err != nil {
				return s, err
			}
			s.other, err = s.account(ctx)
			return s, err
		})
		w.stacks[top] = shared
	}
	if w.postgres, err = pgtest.Start(context.Background(), pgtest.Options{}); err != nil {
		return err
	}
	w.redis, err = redistest.Start(context.Background(), redistest.Options{})
	return err
}

// onEach runs a group of cases against the shared stack of each topology, and of further ones.
func onEach(t *testing.T, group func(t *testing.T, s *stack), further ...topology) {
	t.Helper()
	t.Parallel()
	for _, top := range slices.Concat(topologies, further) {
		onTopology(t, top, group)
	}
}

// only runs a group against one topology: the other topologies lack what the group needs.
func only(t *testing.T, top topology, group func(t *testing.T, s *stack)) {
	t.Helper()
	t.Parallel()
	onTopology(t, top, group)
}

func onTopology(t *testing.T, top topology, group func(t *testing.T, s *stack)) {
	t.Helper()
	t.Run(string(top), func(t *testing.T) {
		t.Parallel()
		s, err := world.stacks[top].stack()
		if err != nil {
			t.Fatalf("the %s topology did not start: %v", top, err)
		}
		group(t, s)
	})
}

// document is the OpenAPI document in the sources. TestDocumentation compares it with the one that the gateway serves.
func document() (*openapi.Document, error) {
	source, err := openAPISource()
	if err != nil {
		return nil, err
	}
	return openapi.New(source)
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
	for _, top := range topologies {
		doc, err := w.stacks[top].document()
		if err != nil {
			return []string{err.Error()}
		}
		for _, id := range doc.Unused() {
			problems = append(problems, fmt.Sprintf("no call of %s succeeded against the %s topology", id, top))
		}
	}
	return problems
}

// database makes an empty database in the shared Postgres.
func (w *shared) database(ctx context.Context) (string, error) {
	name, err := w.postgres.CreateDatabase(ctx, "")
	return w.postgres.URL(name), err
}

// started records a process, whose output is scanned at the end.
func (w *shared) started(p *program.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.procs = append(w.procs, p)
}

// close ends everything and returns the problems with the output of the processes.
func (w *shared) close() (problems []string) {
	for name, shared := range w.stacks {
		if shared.started == nil {
			continue
		}
		if err := shared.started.stop(); err != nil {
			problems = append(problems, fmt.Sprintf("the %s topology did not stop: %v", name, err))
		}
	}
	w.model.Close()
	w.traces.Close()
	var err error
	if w.postgres != nil {
		err = errors.Join(err, w.postgres.Close())
	}
	if w.redis != nil {
		err = errors.Join(err, w.redis.Close())
	}
	if err = errors.Join(err, os.RemoveAll(w.dir)); err != nil {
		problems = append(problems, err.Error())
	}
	problems = append(problems, printed(w.procs)...)
	for _, top := range []topology{standalone, traced} {
		if w.stacks[top].started != nil {
			return append(problems, exported(w.traces.Bodies())...)
		}
	}
	return problems
}

// startBudget bounds a start, on a machine of any load.
const startBudget = 2 * time.Minute
