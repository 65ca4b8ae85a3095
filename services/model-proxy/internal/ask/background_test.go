package ask

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

var row = contract.Ask{Background: true}

// asking keeps n asks under way until ctx ends, and counts those that ended by their error.
type asking struct {
	sync.WaitGroup
	answered, unavailable, overloaded atomic.Int64
}

func (c *asking) keep(ctx context.Context, s *Asker, n int, a contract.Ask) {
	for range n {
		c.Go(func() {
			for ctx.Err() == nil {
				v, err := s.Ask(ctx, a)
				switch {
				case err == nil:
					c.answered.Add(1)
				case errors.Is(err, contract.ErrUnavailable):
					c.unavailable.Add(1)
				}
				if v.Overloaded {
					c.overloaded.Add(1)
				}
			}
		})
	}
}

// pass lets the time of the bubble pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// spec: run-leaves-places
func TestRowsLeaveAQuarterOfThePlacesWhileCallsCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := model("a", yes(time.Second), 8)
		s, _ := routed(m)
		ctx, stop := context.WithCancel(t.Context())
		var rows asking
		rows.keep(ctx, s, 20, row)
		pass(500 * time.Millisecond)
		if m.Running() != 8 {
			t.Errorf("%d rows are at the model that nobody else wants", m.Running())
		}
		// A call has the next free place, whatever number of rows wait.
		start := time.Now()
		if v := ask(t, s); v.Failed() || time.Since(start) > 1500*time.Millisecond {
			t.Errorf("got %+v after %s", v, time.Since(start))
		}
		pass(2 * time.Second)
		if m.Running() != 6 {
			t.Errorf("%d rows are at the model while calls come", m.Running())
		}
		start = time.Now()
		if v := ask(t, s); v.Failed() || time.Since(start) != time.Second {
			t.Errorf("a call waited for a place: %s", time.Since(start))
		}
		pass(7 * time.Second)
		if m.Running() != 8 {
			t.Errorf("%d rows are at the model some time after the last call", m.Running())
		}
		stop()
		rows.Wait()
		if n := rows.unavailable.Load(); n != 0 {
			t.Errorf("%d rows had no place", n)
		}
	})
}

// spec: run-leaves-places
func TestCallsComeBeforeRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := model("a", yes(time.Second), 1)
		s, _ := routed(m)
		var calls sync.WaitGroup
		var mu sync.Mutex
		var order []bool
		for _, background := range []bool{true, true, true, false, false} {
			calls.Go(func() {
				if _, err := s.Ask(t.Context(), contract.Ask{Background: background}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, background)
			})
			synctest.Wait()
		}
		calls.Wait()
		for i, background := range []bool{true, false, false, true, true} {
			if order[i] != background {
				t.Fatalf("rows and calls ended in the order %v", order)
			}
		}
	})
}

// spec: run-leaves-places
func TestARowWithoutAPlaceWaitsAndDoesNotFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := model("a", yes(14*time.Second), 1)
		s, ends := routed(m)
		hold(t, s, "a")
		start := time.Now()
		if _, err := s.Ask(t.Context(), row); !errors.Is(err, contract.ErrUnavailable) || time.Since(start) != placeWait {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		pass(time.Minute)
		if len(*ends) != 1 || m.calls.Load() != 1 || s.InFlight() != 0 || m.Running() != 0 {
			t.Errorf("%d ends, %d calls, %d in flight", len(*ends), m.calls.Load(), s.InFlight())
		}
	})
}

// spec: run-leaves-places
func TestRowsLeaveAQuarterOfTheBoundOfTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := one(fake{yes(time.Second)}.provider(), Config{MaxInFlight: 8})
		for range 6 {
			go func() { _, _ = s.Ask(t.Context(), row) }()
		}
		synctest.Wait()
		if _, err := s.Ask(t.Context(), row); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("one row more: %v", err)
		}
		for range 2 {
			go func() { _, _ = s.Ask(t.Context(), contract.Ask{}) }()
		}
		synctest.Wait()
		if s.InFlight() != 8 {
			t.Errorf("%d in flight", s.InFlight())
		}
		pass(2 * time.Second)
	})
}

// spec: run-yields
func TestRowsLearnThatCallsCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := routed(model("a", yes(100*time.Millisecond), 0))
		wantOf := func(when string, a contract.Ask, want bool) {
			t.Helper()
			if v, err := s.Ask(t.Context(), a); err != nil || v.CallsCome != want {
				t.Errorf("%s: got %+v, %v", when, v, err)
			}
		}
		wantOf("a row alone", row, false)
		wantOf("a call", contract.Ask{}, false)
		wantOf("a row after the call", row, true)
		wantOf("another call", contract.Ask{}, false)
		pass(200 * time.Millisecond)
		wantOf("a row soon after the call", row, true)
		wantOf("a row half a second after the call", row, false)
	})
}

// spec: run-slows-down
func TestAModelThatHasTooMuchToDoIsOverloaded(t *testing.T) {
	t.Parallel()
	once := func(f upstream.Fault) do {
		var calls atomic.Int32
		return func(ctx context.Context) (provider.Reply, *upstream.Fault) {
			if calls.Add(1) == 1 {
				return provider.Reply{}, &f
			}
			return yes(time.Second)(ctx)
		}
	}
	for name, c := range map[string]struct {
		model              *scripted
		failed, overloaded bool
	}{
		"an answer":                     {model("a", yes(time.Second), 0), false, false},
		"an answer after 429":           {model("a", once(status(429)), 0), false, true},
		"an answer after 503":           {model("a", once(status(503)), 0), false, true},
		"an answer after 529":           {model("a", once(status(529)), 0), false, true},
		"an answer after a timeout":     {model("a", once(upstream.Fault{Class: failure.Unavailable, Cause: upstream.TimedOut}), 0), false, true},
		"an answer after 500":           {model("a", once(status(500)), 0), false, false},
		"an answer after no connection": {model("a", once(down), 0), false, false},
		"429 each time":                 {model("a", fault(time.Second, status(429)), 0), true, true},
		"no answer in 15 s":             {model("a", yes(time.Minute), 0), true, true},
		"no connection":                 {model("a", fault(0, down), 0), true, false},
		"no usable answer":              {model("a", noAnswer(0), 0), true, false},
		"400, which is no sign":         {model("a", fault(0, status(400)), 0), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := routed(c.model)
				if v := ask(t, s); v.Failed() != c.failed || v.Overloaded != c.overloaded {
					t.Errorf("got %+v", v)
				}
				pass(time.Minute)
			})
		})
	}
}

// spec: run-slows-down
func TestAModelIsOverloadedWhenItsPlacesAreWaitedForLongerThanItAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows       int
		overloaded bool
	}{
		"as many rows as places":       {4, false},
		"each place is waited for":     {8, false},
		"many rows wait for each turn": {24, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := routed(model("a", yes(time.Second), 4))
				ctx, stop := context.WithCancel(t.Context())
				var rows asking
				rows.keep(ctx, s, c.rows, row)
				pass(10500 * time.Millisecond)
				if n := rows.answered.Load(); n != 40 {
					t.Errorf("%d rows in 10 s, want 40", n)
				}
				stop()
				rows.Wait()
				if (rows.overloaded.Load() > 0) != c.overloaded {
					t.Errorf("overloaded %d times", rows.overloaded.Load())
				}
			})
		})
	}
}
