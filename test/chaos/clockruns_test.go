package chaos

import (
	"context"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/wallclock"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/upstream"
)

// In the tests of this file, files are uploaded and run, and results are labelled, while clocks jump back and forth by minutes and hours.
// The runs end, each row has one result, labels stay, and the counts of a run always add up.

// spec: clocks-that-jump, one-clock, one-result-a-row, run-counts, console-session
func TestFileRunsHoldWhileTheClocksOfServicesJump(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Forgetful: true, Workers: 2, Console: true, Model: upstream.Config{Pause: 5 * time.Millisecond}})
	w := newUserWorld(t, s, s.Gateways[0].URL(), s.Model)
	world := &world{System: s}
	clocks := world.clocks(t)
	began := time.Now()
	page := signIn(t, s)
	w.during(t, func() {
		offsets := []time.Duration{-time.Minute, time.Hour, -5 * time.Hour, 26 * time.Hour, 0}
		for step := range offsets {
			for i, clock := range clocks {
				must(t, clock.Set(offsets[(i+step)%len(offsets)]))
			}
			page.works(t)
			left := signIn(t, s).maxAge
			if off := left - sessionTime; off.Abs() > time.Minute {
				t.Errorf("VIOLATION: the cookie of a session lasts for %s, not %s", left, sessionTime)
			}
			pass(time.Second)
		}
	})
	for _, problem := range world.stamps(t, began) {
		t.Errorf("VIOLATION: %v", problem)
	}
	report(t, s.Problems())
}

// A worker dies and files are completed while the clock is ahead, so that leases and turns are left that lie in the future.
//
// spec: clocks-that-jump, one-result-a-row, run-counts
func TestFileRunsHoldWhileTheClockOfPostgresJumps(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{Forgetful: true, Workers: 2, Model: upstream.Config{Pause: 5 * time.Millisecond}})
	w := newUserWorld(t, s, s.Gateways[0].URL(), s.Model)
	w.during(t, func() {
		for _, ahead := range []time.Duration{time.Hour, 0, -time.Hour, 3 * time.Hour, 0} {
			must(t, s.Workers[0].Kill())
			clock, err := wallclock.TakeOver(s.Postgres.PID()) // of the processes that it has now
			must(t, err)
			must(t, clock.Set(ahead), clock.Close(), s.Workers[0].Start(t.Context()))
			pass(clockFollowed)
		}
	})
	report(t, s.Problems())
}

// clockFollowed is how long results take to learn of a new time of Postgres.
const clockFollowed = 11 * time.Second

// The process dies while its clock is ahead, and starts with the right one.
//
// spec: clocks-that-jump, one-result-a-row, run-counts
func TestFileRunsHoldWhileTheClockOfAStandalonePrismJumps(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	s, err := system.NewStandalone(ctx, histories, upstream.Config{Pause: 5 * time.Millisecond}, t.TempDir(), false)
	must(t, err)
	t.Cleanup(func() { report(t, append(s.Problems(), s.Close())) })
	w := newUserWorld(t, s, s.URL(), s.Model)
	w.during(t, func() {
		for _, offsets := range [][]time.Duration{{time.Minute, -time.Minute}, {time.Hour, -time.Hour, 3 * time.Hour}} {
			clock, err := wallclock.TakeOver(s.Process().PID())
			must(t, err)
			for _, ahead := range offsets {
				must(t, clock.Set(ahead))
				pass(2 * time.Second)
			}
			must(t, clock.Close(), s.Kill(), s.Start(t.Context()))
			pass(time.Second)
		}
	})
}

// sessionTime is how long a session lasts at most (spec: console-session).
const sessionTime = 7 * 24 * time.Hour
