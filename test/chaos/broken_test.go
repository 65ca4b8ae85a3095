package chaos

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// The tests of this file break Prism on purpose, and prove that the checks find violations.

// contended is a load with concurrent calls in each race: the model takes long enough.
func contended(t *testing.T) load.Config {
	t.Helper()
	return load.Config{Seed: seed(t), Clients: 18, Pause: 5 * time.Millisecond, Tag: upstream.Tag{FailPercent: 45}}
}

func ownLocks() system.Config {
	return system.Config{OwnLocks: true, Model: upstream.Config{Pause: 40 * time.Millisecond, MaxPause: time.Second}}
}

func TestWithoutASharedLockExtraModelCallsAreCountedAndHistoriesHold(t *testing.T) {
	t.Parallel()
	onceOf(t, func() string {
		w := startWorld(t, ownLocks(), contended(t))
		w.drive(t, 2*time.Second, nil)
		w.report(t, nil, history.Check(w.load.Histories()), w.problems(t))

		problems := w.audit(t, true)
		if len(problems) == 0 {
			return "gateways that do not see each other's locks asked the model no more than once for each result"
		}
		for _, err := range problems {
			if !strings.Contains(err.Error(), "model calls") {
				t.Errorf("VIOLATION: %v", err)
			}
		}
		t.Logf("%d races asked the model more often than once for each result, such as: %v", len(problems), problems[0])
		return ""
	})
}

// spec: linearizable
func TestWithoutTheConstraintViolationsAreFound(t *testing.T) {
	t.Parallel()
	onceOf(t, func() string { return violate(t) })
}

func violate(t *testing.T) (missed string) {
	t.Helper()
	w := startWorld(t, ownLocks(), contended(t))
	conn, err := pgx.Connect(t.Context(), w.DatabaseURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "DROP INDEX results_idempotency_key"); err != nil {
		t.Fatal(err)
	}
	w.drive(t, 2*time.Second, nil)

	found := history.Check(w.load.Histories())
	if len(found) == 0 {
		return "no history is violated although keys can be taken twice"
	}
	path, err := found[0].Picture(t.TempDir())
	if err != nil {
		t.Errorf("no picture: %v", err)
	}
	t.Logf("as they should be, %d histories are violated; this one is drawn in %s:\n%s", len(found), path, found[0])

	twice := 0
	for _, err := range w.audit(t, false) {
		if strings.Contains(err.Error(), "is held by") {
			twice++
		}
	}
	if twice == 0 {
		return "the audit does not see keys that are held by two results"
	}
	return ""
}
