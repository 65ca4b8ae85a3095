package chaos

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/wallclock"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// TestHistoriesHoldWhileRedisFails fails Redis under a load of keyed creates and retries, and nothing else. So no call may
// fail, and the number of model calls has an exact bound.
// spec: redis-is-optional, model-calls-without-redis, clocks-that-jump, linearizable, one-save-per-result
func TestHistoriesHoldWhileRedisFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		redis system.Config
		fail  func(context.Context, *system.System) error
	}{
		"Sentinels replace the master":                      {system.Config{Sentinels: true}, sentinelsFailOver},
		"Redis loses everything, then a gateway is cut off": {system.Config{}, redisForgets},
		"slots of a cluster move, then a node dies":         {system.Config{Cluster: true}, clusterChanges},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onceOf(t, func() string { return failRedisUnderLoad(t, test.redis, test.fail) })
		})
	}
}

// sentinelsFailOver kills the master. The replica that is promoted may lack its last locks.
func sentinelsFailOver(ctx context.Context, s *system.System) error { return s.Sentinels.FailOver(ctx) }

// clusterChanges moves most slots of a master to another one, with the locks in them, and then kills a third one, whose replica may lack its
// last locks. Until the replica takes over, no node of the cluster serves.
func clusterChanges(ctx context.Context, s *system.System) error {
	if err := s.Cluster.MoveSlots(ctx, 4000); err != nil {
		return err
	}
	return s.Cluster.FailOver(ctx)
}

// redisForgets flushes Redis, kills and restarts Redis empty, sets the clock of Redis, and then breaks the link of one gateway
// in both ways in which a partition does: what is sent gets no response, and connections are refused.
func redisForgets(ctx context.Context, s *system.System) error {
	errs := []error{s.FlushRedis(ctx)}
	pass(300 * time.Millisecond)
	errs = append(errs, s.Redis.Kill())
	pass(300 * time.Millisecond)
	errs = append(errs, s.Redis.Restart(ctx), setClock(s.Redis.PID(), forward, back, 0))
	pass(time.Second)
	link, err := s.Link("gateway-1 to Redis")
	if err != nil {
		return err
	}
	for _, stream := range []string{"upstream", "downstream"} {
		silence := system.Toxic{Type: "timeout", Stream: stream, Toxicity: 1, Attributes: map[string]int{"timeout": 0}}
		errs = append(errs, link.Poison(silence))
	}
	pass(1500 * time.Millisecond)
	errs = append(errs, link.Cure())
	pass(500 * time.Millisecond)
	link.Refuse()
	pass(time.Second)
	return errors.Join(append(errs, link.Accept())...)
}

// setClock sets the wall clock of a process again and again, where that is possible.
func setClock(pid int, aheads ...time.Duration) error {
	clock, err := wallclock.TakeOver(pid)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, ahead := range aheads {
		errs = append(errs, clock.Set(ahead))
		pass(300 * time.Millisecond)
	}
	return errors.Join(append(errs, clock.Close())...)
}

func failRedisUnderLoad(t *testing.T, c system.Config, fail func(context.Context, *system.System) error) (late string) {
	t.Helper()
	lc := contended(t)
	lc.Tag.SlowPercent = 10
	c.Forgetful, c.Model = true, upstream.Config{Pause: 40 * time.Millisecond, MaxPause: time.Second}
	w := startWorld(t, c, lc)
	loaded, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.load.Run(loaded)
	}()
	pass(time.Second)
	if err := fail(t.Context(), w.System); err != nil {
		t.Error(err)
	}
	for _, g := range w.Gateways {
		before := locked(t, g)
		until(t, g.Name+" takes locks in Redis again", func() bool { return locked(t, g) > before })
	}
	pass(500 * time.Millisecond)
	stop()
	<-ended
	w.Model.Heal()
	w.load.Finish(t.Context())
	w.report(t, nil, history.Check(w.load.Histories()), append(w.problems(t), w.extraCalls(t)...))
	if seen := w.load.Seen(); seen.Nothing+seen.Unknown > 0 {
		return fmt.Sprintf("%d calls were unavailable, %d got no response: %v", seen.Nothing, seen.Unknown, seen.Causes)
	}
	return ""
}

// locked is how many locks a gateway has taken in Redis.
func locked(t *testing.T, gateway *system.Part) float64 {
	t.Helper()
	n, err := gateway.Metric(t.Context(), `prism_lock_wait_seconds_count{outcome="acquired"}`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// extraCalls holds that each gateway asked the model at most once for each saved result: without Redis the calls of one
// gateway still go one by one.
func (w *world) extraCalls(t *testing.T) (problems []error) {
	t.Helper()
	l, err := w.read(t)
	if err != nil {
		return []error{err}
	}
	saved := map[int]int{}
	for _, r := range l.all {
		race, err := load.RaceOf(*r.Ref)
		if err != nil {
			return []error{err}
		}
		saved[race]++
	}
	extra := 0
	for _, race := range w.load.Races() {
		asked, results := w.Model.Count(race.Number).Asked, saved[race.Number]
		extra += asked - results
		if most := len(w.Gateways) * results; asked > most {
			problems = append(problems, fmt.Errorf("race %d has %d results of %d model calls", race.Number, results, asked))
		}
	}
	t.Logf("extra model calls: %d for %d results", extra, len(l.all))
	return problems
}
