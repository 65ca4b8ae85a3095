package system

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// CrashTag is the build tag of services that kill themselves at a step on demand (pkg/crash).
const CrashTag = "crashpoints"

// crashVariable names the step.
const crashVariable = "PRISM_CRASH_AT"

// Part is a service that is ended and started again. A run that ends although nothing ended it is a problem. The methods
// of a part are not for concurrent use.
type Part struct {
	*launch.Service
	Name    string // such as gateway-2
	problem func(error)

	mu   sync.Mutex
	runs []*run
}

// run is one run of a part.
type run struct {
	*program.Process
	ending atomic.Bool // a signal was sent, or the run is armed
}

// Start starts the part and waits until the part is ready.
func (p *Part) Start(ctx context.Context) error { return p.start(ctx, p.Env, false) }

// StartArmed is Start of a part that kills itself at a step. The next Start is an ordinary one.
func (p *Part) StartArmed(ctx context.Context, at crash.Point) error {
	env := maps.Clone(p.Env)
	env[crashVariable] = string(at)
	return p.start(ctx, env, true)
}

func (p *Part) start(ctx context.Context, env map[string]string, armed bool) error {
	process, err := p.Launch(env)
	if err != nil {
		return err
	}
	r := &run{Process: process}
	r.ending.Store(armed)
	p.mu.Lock()
	p.runs = append(p.runs, r)
	p.mu.Unlock()
	if err := p.Ready(ctx); err != nil && (!armed || r.State() == nil) { // an armed one may be at its step before it is ready
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	go func() {
		<-r.Done()
		if !r.ending.Load() {
			p.problem(fmt.Errorf("%s ended by itself: %s", p.Name, r.State()))
		}
	}()
	return nil
}

// Died waits for an armed part to kill itself. Any other end is an error.
func (p *Part) Died(ctx context.Context) error {
	process := p.Process()
	if _, err := process.Wait(ctx); err != nil {
		return fmt.Errorf("%s never came to the step: %w\n%s", p.Name, err, launch.Tail(process, 20))
	}
	if status, ok := process.State().Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("%s ended in another way: %s\n%s", p.Name, process.State(), launch.Tail(process, 20))
	}
	return nil
}

// Kill ends the part at once, as kill -9 does.
func (p *Part) Kill() error {
	p.end()
	p.Service.Kill()
	return nil
}

// Terminate sends SIGTERM. The part has to complete its calls and to exit with 0 (spec: stopping).
func (p *Part) Terminate() error {
	p.end()
	return p.Stop()
}

func (p *Part) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.runs); n > 0 {
		p.runs[n-1].ending.Store(true)
	}
}

// crashed are the runs that have printed that they are broken.
func (p *Part) crashed() (problems []error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.runs {
		if launch.Crashed(r.Process) {
			problems = append(problems, fmt.Errorf("%s printed:\n%s", p.Name, launch.Tail(r.Process, 200)))
		}
	}
	return problems
}

// mostFaults bounds the lines of Faults.
const mostFaults = 20

// Faults are the first lines with an error that no fault of a test explains: other than that something is unavailable.
func (p *Part) Faults() (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.runs {
		for line := range strings.Lines(r.Output()) {
			if strings.Contains(line, `"level":"ERROR"`) && !strings.Contains(line, "unavailable") && len(lines) < mostFaults {
				lines = append(lines, p.Name+": "+line)
			}
		}
	}
	return lines
}
