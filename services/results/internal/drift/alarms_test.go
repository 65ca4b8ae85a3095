package drift_test

import (
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

// told are the events of drift that were told.
func (w *world) told(t *testing.T) (types []api.EventType) {
	t.Helper()
	must(t, w.Fold(t.Context()))
	for at := (events.Cursor{}); ; {
		happened, next, err := w.ReadEvents(t.Context(), w.account, at, 1000, true)
		must(t, err)
		for _, e := range happened {
			if e.Type == api.DriftAlarm || e.Type == api.DriftEnded {
				if e.Prism != w.prism || e.Version != 1 || e.Question != "q0" || e.Option != "" {
					t.Errorf("told %+v", e)
				}
				types = append(types, e.Type)
			}
		}
		if next == at {
			return types
		}
		at = next
	}
}

// drifting is a world with a reference and an alarm that was told.
func drifting(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.watch(t, time.Time{}, time.Time{})
	w.save(t, w.now, 2000, 0.8)
	w.pass(t, 5*time.Minute)
	w.save(t, w.now, 400, 0.8)
	w.pass(t, 5*time.Minute)
	if told := w.told(t); told != nil {
		t.Fatalf("without drift: %v", told)
	}
	w.now = w.now.Add(2 * time.Hour)
	w.save(t, w.now, 400, 0.4)
	w.pass(t, 5*time.Minute)
	return w
}

// spec: drift-events
func TestAnAlarmIsToldOnceAndSoIsItsEnd(t *testing.T) {
	t.Parallel()
	w := drifting(t)
	alarm, both := []api.EventType{api.DriftAlarm}, []api.EventType{api.DriftAlarm, api.DriftEnded}
	if told := w.told(t); !slices.Equal(told, alarm) {
		t.Fatalf("with drift: %v", told)
	}
	w.save(t, w.now, 100, 0.4)
	w.pass(t, 5*time.Minute)
	w.pass(t, time.Minute)
	if told := w.told(t); !slices.Equal(told, alarm) {
		t.Errorf("while it lasts: %v", told)
	}
	w.pass(t, 30*time.Hour) // without a result
	w.pass(t, time.Minute)
	if told := w.told(t); !slices.Equal(told, both) {
		t.Errorf("when it is over: %v", told)
	}
}

// spec: drift-events
func TestAnAlarmEndsWithTheWatchTheVersionAndThePrism(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, w *world){
		"watch": func(t *testing.T, w *world) {
			t.Helper()
			must(t, w.SetDrift(t.Context(), w.account, w.prism, drift.Change{}, w.by()))
		},
		"version": func(t *testing.T, w *world) {
			t.Helper()
			must(t, w.AddVersion(t.Context(), w.account, prism.Prism{ID: w.prism, Latest: version(2, 1)}, nil, w.by()))
		},
		"prism": func(t *testing.T, w *world) {
			t.Helper()
			_, err := w.SetArchived(t.Context(), w.account, w.prism, true, w.by())
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := drifting(t)
			end(t, w)
			w.pass(t, time.Minute)
			w.pass(t, time.Minute)
			if told := w.told(t); !slices.Equal(told, []api.EventType{api.DriftAlarm, api.DriftEnded}) {
				t.Errorf("told %v", told)
			}
		})
	}
}

// spec: drift-events
func TestAWorkerThatIsSlowTellsNothing(t *testing.T) {
	t.Parallel()
	w := drifting(t)
	was, err := w.DriftWatch(t.Context(), w.account, w.prism)
	must(t, err)
	w.save(t, w.now, 1, 0.4)
	w.pass(t, 5*time.Minute)
	if err := w.SetDriftAlarms(t.Context(), was, nil, w.now); err == nil || !store.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if told := w.told(t); !slices.Equal(told, []api.EventType{api.DriftAlarm}) {
		t.Errorf("told %v", told)
	}
}
