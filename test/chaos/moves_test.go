package chaos

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/filerun"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

const (
	// movedRows is the length of a file that is run while its account moves.
	movedRows = 600
	// movesBudget bounds the moves: after each, its old rows stay for a minute.
	movesBudget = 10 * time.Minute
)

// Accounts move among four databases while they are used: by keyed creates, retries, reads and exports, and one by the upload and the run of a
// file. No call fails for a move. Then further accounts move, and for each of these moves one is killed of its source, its target, results and
// the mover, which is begun again. Afterwards each account is in one database, whole.
//
// spec: account-moves, linearizable, one-save-per-result, durable-before-response, usage-is-exact
func TestAccountsMoveAmongDatabasesWhileTheyAreUsed(t *testing.T) {
	t.Parallel()
	s := startSpread(t, system.Config{Logical: true, Workers: 1})
	rnd := rand.New(rand.NewPCG(s.seed, 43))
	ctx, cancel := context.WithTimeout(t.Context(), movesBudget)
	defer cancel()
	key, err := s.Account(ctx, runner)
	if err != nil {
		t.Fatal(err)
	}
	var first, second []string // the accounts that move without kills, and with them
	for _, w := range s.worlds {
		first, second = append(first, w.names[0]), append(second, w.names[1])
	}
	first = append(first, runner)

	stop := s.begin(t, s.worlds...)
	load.Wait(ctx, quietTime)
	quiet := longest(s.worlds)
	ran := make(chan error, 1)
	go func() {
		report, err := filerun.Do(ctx, filerun.Config{
			URL: s.Gateways[0].URL(), Key: key, Prism: "moved", Rows: movedRows, Tag: upstream.Tag{FailPercent: 20},
		}, func(int64) {})
		if err == nil {
			err = report.Right(movedRows)
		}
		ran <- err
	}()
	var moves sync.WaitGroup
	targets := s.move(ctx, t, rnd, &moves, first, nil)
	s.arrive(t, targets)
	t.Logf("the longest call took %s before the moves, and %s with them", quiet, longest(s.worlds))
	stop()
	for _, w := range s.worlds {
		if late := w.untouched(t, ""); late != "" {
			t.Errorf("VIOLATION: during moves, %s", late)
		}
		s.whole(t, w)
	}
	if err := <-ran; err != nil {
		t.Errorf("VIOLATION: the run of an account that moved: %v", err)
	}

	stop = s.begin(t, s.worlds...)
	var kills sync.WaitGroup
	killers := s.killers()
	maps.Copy(targets, s.move(ctx, t, rnd, &moves, second, func(name string, from, to *system.Database, mover context.CancelFunc) {
		kill := killers[slices.Index(second, name)]
		kills.Go(func() {
			load.Wait(ctx, time.Duration(rnd.IntN(2000))*time.Millisecond)
			if err := kill(ctx, from, to, mover); err != nil {
				t.Error(err)
			}
		})
	}))
	kills.Wait()
	s.arrive(t, targets)
	for _, w := range s.worlds {
		if _, err := w.load.Ready(ctx); err != nil {
			t.Errorf("VIOLATION: %v after moves", err)
		}
	}
	stop()
	for _, w := range s.worlds {
		s.whole(t, w)
	}
	moves.Wait()
	s.settled(t, targets)
	s.calls(t, s.worlds...)
	report(t, s.Problems())
}

// killers kill what takes part in a move.
func (s *spread) killers() []func(ctx context.Context, from, to *system.Database, mover context.CancelFunc) error {
	crash := func(ctx context.Context, d *system.Database) error {
		if err := d.Primary().Crash(); err != nil {
			return err
		}
		return d.Primary().Restart(ctx)
	}
	return []func(ctx context.Context, from, to *system.Database, mover context.CancelFunc) error{
		func(ctx context.Context, from, _ *system.Database, _ context.CancelFunc) error {
			return crash(ctx, from)
		},
		func(ctx context.Context, _, to *system.Database, _ context.CancelFunc) error { return crash(ctx, to) },
		func(ctx context.Context, _, _ *system.Database, _ context.CancelFunc) error {
			if err := s.Results[0].Kill(); err != nil {
				return err
			}
			return s.Results[0].Start(ctx)
		},
		func(_ context.Context, _, _ *system.Database, mover context.CancelFunc) error {
			mover()
			return nil
		},
	}
}

// move begins to move accounts to other databases, drawn at random, and returns these. Each move is begun again until it is over. began, if
// set, is told of each, with what kills its first mover.
func (s *spread) move(
	ctx context.Context, t *testing.T, rnd *rand.Rand, moves *sync.WaitGroup, names []string,
	began func(name string, from, to *system.Database, mover context.CancelFunc),
) map[string]*system.Database {
	places, targets := s.places(t), map[string]*system.Database{}
	for _, name := range names {
		from := places[name]
		others := slices.DeleteFunc(slices.Clone(s.Databases), func(d *system.Database) bool { return d == from })
		to := others[rnd.IntN(len(others))]
		targets[name] = to
		mover, kill := context.WithCancel(ctx)
		moves.Go(func() {
			defer kill()
			for n := 1; ; n++ {
				_, err := s.Operate(mover, "account", "move", name, "--to", to.Name)
				if err == nil {
					t.Logf("%s moved from %s to %s with %d commands", name, from.Name, to.Name, n)
					return
				}
				if began == nil && n < 4 {
					t.Logf("moving %s from %s to %s: %v", name, from.Name, to.Name, err)
				}
				mover = ctx
				if !load.Wait(ctx, 200*time.Millisecond) {
					t.Errorf("VIOLATION: the move of %s from %s to %s does not end: %v", name, from.Name, to.Name, err)
					return
				}
			}
		})
		if began != nil {
			began(name, from, to, kill)
		}
	}
	return targets
}

// arrive waits until the directory has accounts where they are moved to.
func (s *spread) arrive(t *testing.T, targets map[string]*system.Database) {
	t.Helper()
	until(t, "the accounts are in their new databases", func() bool {
		pass(50 * time.Millisecond)
		places := s.places(t)
		for name, to := range targets {
			if places[name] != to {
				return false
			}
		}
		return true
	})
}

// settled expects each account in one database, which is that of the directory, and nothing left of the moves.
func (s *spread) settled(t *testing.T, targets map[string]*system.Database) {
	t.Helper()
	for _, d := range s.Databases {
		var want []string
		for name, to := range targets {
			if to == d {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if got := collect[string](t, d, "SELECT name FROM accounts ORDER BY name"); !slices.Equal(got, want) {
			t.Errorf("VIOLATION: %s has the accounts %q, want %q", d.Name, got, want)
		}
		for what, sql := range map[string]string{
			"rows of other accounts": "SELECT count(*) FROM results WHERE account_id NOT IN (SELECT id FROM accounts)",
			"publications":           "SELECT count(*) FROM pg_publication",
			"subscriptions":          "SELECT count(*) FROM pg_subscription",
			"slots":                  "SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'logical'",
			"rows under way":         "SELECT count(*) FROM arriving_rows",
		} {
			if n := collect[int64](t, d, sql); n[0] != 0 {
				t.Errorf("VIOLATION: %s has %d %s after all moves", d.Name, n[0], what)
			}
		}
	}
	if _, err := s.Operate(t.Context(), "databases", "repair"); err != nil {
		t.Errorf("VIOLATION: %v", err)
	}
}

// longest is the duration of the longest call of worlds so far.
func longest(worlds []*world) (took time.Duration) {
	for _, w := range worlds {
		took = max(took, w.load.Seen().Longest)
	}
	return took
}
