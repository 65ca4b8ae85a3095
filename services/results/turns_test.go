package results

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// hanging is a database that hangs until it is released, with work, and another one that has work.
type hanging struct {
	hung, other *database
	questions   atomic.Int32 // to the one that hangs
	release     chan struct{}
	answered    chan struct{}
}

func (h *hanging) ask(ctx context.Context, db *database) (*string, error) {
	if db == h.hung && h.questions.Add(1) == 1 {
		defer close(h.answered)
		select {
		case <-h.release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &db.name, nil
}

func newHanging() *hanging {
	return &hanging{
		hung: &database{name: "hangs"}, other: &database{name: "answers"}, release: make(chan struct{}), answered: make(chan struct{}),
	}
}

// spec: database-faults
func TestADatabaseThatHangsIsNotAskedForWorkAgain(t *testing.T) {
	t.Parallel()
	for _, kept := range []time.Duration{0, time.Hour} {
		h := newHanging()
		asked := &turns[string]{keptLate: kept}
		take := func() string {
			t.Helper()
			work, err := asked.take(t.Context(), []*database{h.hung, h.other}, h.ask)
			if err != nil || work == nil {
				t.Fatalf("no work: %v", err)
			}
			return *work
		}
		for range 10 {
			if work := take(); work != h.other.name {
				t.Errorf("work of a database that %s", work)
			}
		}
		if n := h.questions.Load(); n != 1 {
			t.Errorf("the database that hangs was asked %d times", n)
		}
		close(h.release)
		<-h.answered
		eventually(t, func() bool { return !asked.isSlow(h.hung) })
		late := func() int {
			asked.mu.Lock()
			defer asked.mu.Unlock()
			return len(asked.late)
		}
		if n := late(); n != 1 {
			t.Fatalf("%d leases came late", n)
		}
		before := h.questions.Load()
		work := take()
		if taken := work == h.hung.name && h.questions.Load() == before; taken != (kept > 0) {
			t.Errorf("late work that is kept for %s was taken: %t", kept, taken)
		}
	}
}

func TestDatabasesTakeTurnsToGiveWork(t *testing.T) {
	t.Parallel()
	databases := []*database{{name: "a"}, {name: "b"}, {name: "c"}}
	given := map[string]int{}
	asked := &turns[string]{}
	for range 30 {
		work, err := asked.take(t.Context(), databases, func(_ context.Context, db *database) (*string, error) { return &db.name, nil })
		if err != nil {
			t.Fatal(err)
		}
		given[*work]++
	}
	for _, db := range databases {
		if given[db.name] != 10 {
			t.Errorf("of %v", given)
		}
	}
}

func TestWorkOfOneDatabaseIsFoundWhileAnotherIsAway(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	databases := []*database{{name: "away"}, {name: "none"}, {name: "away"}}
	ask := func(_ context.Context, db *database) (*string, error) {
		if db.name == "away" {
			return nil, away
		}
		return nil, nil
	}
	for range databases {
		if work, err := (&turns[string]{}).take(t.Context(), databases, ask); work != nil || err != nil {
			t.Errorf("%v, %v", work, err)
		}
	}
	if _, err := (&turns[string]{}).take(t.Context(), databases[:1:1], ask); !errors.Is(err, away) {
		t.Error(err)
	}
	if _, err := (&turns[string]{}).take(t.Context(), []*database{databases[0], databases[2]}, ask); !errors.Is(err, away) {
		t.Error(err)
	}
}
