package fault

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
)

// Runner carries out plans.
type Runner struct {
	system *system.System
	parts  map[string]*system.Part
	links  map[string]*system.Link

	mu      sync.Mutex
	counts  map[string]int
	targets map[string]*sync.Mutex
}

// NewRunner makes a runner for a system.
func NewRunner(s *system.System) *Runner {
	r := &Runner{
		system: s, parts: map[string]*system.Part{}, links: map[string]*system.Link{},
		counts: map[string]int{}, targets: map[string]*sync.Mutex{},
	}
	for _, p := range s.Parts() {
		r.parts[p.Name] = p
	}
	for _, l := range s.Links {
		r.links[l.Name] = l
	}
	return r
}

// Counts are the faults so far, by kind.
func (r *Runner) Counts() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := map[string]int{}
	for kind, n := range r.counts {
		counts[kind] = n
	}
	return counts
}

// Run carries out a plan and returns when every fault has ended and everything runs again.
func (r *Runner) Run(ctx context.Context, plan []Fault) {
	start := time.Now()
	var faults sync.WaitGroup
	for _, f := range plan {
		if !load.Wait(ctx, f.At-time.Since(start)) {
			break
		}
		faults.Go(func() {
			// A part may take longer to be ready again than the plan thought.
			lock := r.target(f.Target)
			lock.Lock()
			defer lock.Unlock()
			if err := r.inject(ctx, f); err != nil {
				r.system.Problem(fmt.Errorf("fault %s: %w", f, err))
			}
		})
	}
	faults.Wait()
}

func (r *Runner) target(name string) *sync.Mutex {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.targets[name] == nil {
		r.targets[name] = &sync.Mutex{}
	}
	return r.targets[name]
}

// inject breaks something, waits, and repairs it, also when ctx ends meanwhile.
func (r *Runner) inject(ctx context.Context, f Fault) error {
	r.mu.Lock()
	r.counts[f.Kind]++
	r.mu.Unlock()
	broken, repair := r.kind(context.WithoutCancel(ctx), f)
	if err := broken(); err != nil {
		return errors.Join(err, repair())
	}
	load.Wait(ctx, f.Length)
	return repair()
}

// kind is how to break what a fault names, and how to repair it.
func (r *Runner) kind(ctx context.Context, f Fault) (broken, repair func() error) {
	s, part, link := r.system, r.parts[f.Target], r.links[f.Target]
	nothing := func() error { return nil }
	switch f.Kind {
	case Kill:
		return part.Kill, func() error { return part.Start(ctx) }
	case Terminate:
		return part.Terminate, func() error { return part.Start(ctx) }
	case CrashPostgres:
		return s.Postgres.Crash, func() error { return s.Postgres.Restart(ctx) }
	case KillRedis:
		return s.Redis.Kill, func() error { return s.Redis.Restart(ctx) }
	case FlushRedis:
		return func() error { return s.FlushRedis(ctx) }, nothing
	case PauseRedis:
		return s.Redis.Pause, s.Redis.Resume
	case CutOnce:
		return func() error { link.Cut(); return nil }, nothing
	case Refuse:
		return func() error { link.Refuse(); return nil }, link.Accept
	default:
		return func() error {
			var errs []error
			for _, t := range f.toxics {
				errs = append(errs, link.Poison(t))
			}
			return errors.Join(errs...)
		}, link.Cure
	}
}
