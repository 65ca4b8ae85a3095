package chaos

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/chaos/internal/fault"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
)

// world is a system with two accounts of a database, each with the prisms that the load uses.
type world struct {
	*system.System
	database *system.Database
	load     *load.Load
	first    int // the number of the load's first race
	seed     uint64
	names    [2]string
	keys     [2]string
}

func startWorld(t *testing.T, sc system.Config, lc load.Config) *world {
	t.Helper()
	w := &world{seed: lc.Seed, names: [2]string{"account-0", "account-1"}}
	sc.Model.Seed = lc.Seed
	w.System = startSystem(t, sc)
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	for i := range w.keys {
		var err error
		if w.keys[i], err = w.Account(ctx, w.names[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.begin(t, lc)
	if err := w.load.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	return w
}

// begin makes a load of the accounts, which ends with the test.
func (w *world) begin(t *testing.T, lc load.Config) {
	lc.Keys, w.first = w.keys, lc.First
	for _, g := range w.Gateways {
		lc.Gateways = append(lc.Gateways, g.Listen)
	}
	w.load = load.New(lc)
	t.Cleanup(w.load.Close)
}

// loadRaces is more than the races of a load: the first races of loads of one account differ by multiples of it.
const loadRaces = 1_000_000

// ofOthers tells whether a result is of another load than the one that runs or ran last.
func (w *world) ofOthers(r *row) bool {
	if r.Ref == nil {
		return false
	}
	race, err := load.RaceOf(*r.Ref)
	return err == nil && race/loadRaces != w.first/loadRaces
}

// plan is the faults during d.
func (w *world) plan(d time.Duration) []fault.Fault {
	c := fault.Config{Seed: w.seed, Length: d}
	for _, p := range w.Parts() {
		c.Parts = append(c.Parts, p.Name)
	}
	for _, l := range w.Links {
		c.Links = append(c.Links, l.Name)
		if strings.HasSuffix(l.Name, " to Postgres") || strings.HasSuffix(l.Name, " to results") {
			c.Saving = append(c.Saving, l.Name)
		}
	}
	return fault.Plan(c)
}

// drive makes calls for d, under the faults of a plan, and then brings every race to its end.
func (w *world) drive(t *testing.T, d time.Duration, plan []fault.Fault) *fault.Runner {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	faults, broken := fault.NewRunner(w.System), make(chan struct{})
	go func() {
		defer close(broken)
		faults.Run(ctx, plan)
	}()
	w.load.Run(ctx)
	<-broken
	w.Model.Heal()
	recovery, cancel := context.WithTimeout(t.Context(), recoveryBudget)
	defer cancel()
	if took, err := w.load.Ready(recovery); err != nil {
		t.Errorf("VIOLATION: %v after the faults have ended", err)
	} else {
		t.Logf("every gateway answered %s after the faults had ended", took.Round(time.Millisecond))
	}
	w.load.Finish(t.Context())
	return faults
}

// problems are the violations that do not depend on the order of calls, found by the clients, the system and the audit.
func (w *world) problems(t *testing.T) []error {
	t.Helper()
	return append(w.Problems(), w.ofLoad(t)...)
}

// ofLoad are the problems without those of the system.
func (w *world) ofLoad(t *testing.T) []error {
	t.Helper()
	problems := w.load.Problems()
	if longest := w.load.Seen().Longest; longest > longestCall {
		problems = append(problems, fmt.Errorf("a call took %s", longest))
	}
	return append(problems, w.audit(t, false)...)
}

// longestCall is the sum of a call's bounds and some room (spec: wait-limit, model-wait, saving-after-the-model).
const longestCall = 65 * time.Second

// report prints the figures of a run and fails the test when there is a violation.
func (w *world) report(t *testing.T, faults map[string]int, found []history.Violation, problems []error) {
	t.Helper()
	seen, asked := w.load.Seen(), w.Model.Total()
	total := 0
	var kinds strings.Builder
	for _, kind := range fault.Kinds() {
		if total += faults[kind]; faults != nil {
			fmt.Fprintf(&kinds, "\n    %5d  %s", faults[kind], kind)
		}
	}
	t.Logf("seed: %d", w.seed)
	t.Logf("calls: %d (%d results, %d refused by the contract, %d unavailable, %d with an unknown outcome); the longest took %s",
		seen.Calls, seen.Results, seen.Refused, seen.Nothing, seen.Unknown, seen.Longest.Round(time.Millisecond))
	t.Logf("faults: %d%s", total, kinds.String())
	t.Logf("histories checked: %d", len(w.load.Races()))
	t.Logf("model calls: %d (%d answered, %d failed)", asked.Asked, asked.Answered, asked.Failed)
	t.Logf("violations: %d", len(found)+len(problems))
	if seen.Results == 0 || asked.Answered == 0 {
		t.Error("nothing was answered, so nothing is shown")
	}
	w.show(t, found)
	const most = 20
	for i, err := range problems {
		if i == most {
			t.Errorf("and %d more", len(problems)-most)
			break
		}
		t.Errorf("VIOLATION: %v", err)
	}
}

// show prints violations and writes their pictures.
func (w *world) show(t *testing.T, found []history.Violation) {
	t.Helper()
	if len(found) == 0 {
		return
	}
	dir, err := os.MkdirTemp("", "prism-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	const most = 5
	for i, v := range found {
		if i == most {
			t.Errorf("and %d more", len(found)-most)
			break
		}
		path, err := v.Picture(dir)
		t.Errorf("VIOLATION: %s\npicture: %s (%v); CHAOS_SEED=%d repeats the faults", v, path, err, w.seed)
	}
}
