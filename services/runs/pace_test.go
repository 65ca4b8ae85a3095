package runs

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/prism-results/prism/pkg/contract"
)

// upstream answers in took with so many places. A row that waits for one longer than the model answers, and longer than 0.1 s,
// is told that the model is overloaded, as model-proxy does.
func upstream(places int, took time.Duration) *answerer {
	free := make(chan struct{}, places)
	return &answerer{do: func(_ context.Context, _ contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
		came := time.Now()
		free <- struct{}{}
		waited := time.Since(came)
		<-time.After(took)
		<-free
		o := okRowAfter(row, waited+took)
		o.Save.Outcome.Overloaded = waited > max(took, 100*time.Millisecond)
		return o, nil
	}}
}

// spec: run-slows-down, run-leaves-places
func TestThePlacesOfAModelAreUsed(t *testing.T) {
	for name, c := range map[string]struct {
		places int
		took   time.Duration
		warm   time.Duration
		least  int // rows a second
	}{
		"64 places of 50 ms": {64, 50 * time.Millisecond, 2 * time.Second, 1150},
		"4 places of 1 s":    {4, time.Second, 10 * time.Second, 3},
		"1 place of 5 ms":    {1, 5 * time.Millisecond, 2 * time.Second, 180},
		"200 places of 2 s":  {200, 2 * time.Second, 20 * time.Second, 70},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				s.add(1, 1, "", contract.RowLimits{}, chunksOf(200)...)
				w := start(t, s, upstream(c.places, c.took), Config{})
				pass(c.warm)
				before, _ := s.over()
				pass(6 * time.Second)
				if over, _ := s.over(); over-before < 6*c.least {
					t.Errorf("%d rows in 6 s", over-before)
				}
				w.stop()
			})
		})
	}
}

// spec: run-slows-down
func TestEachModelHasAPaceOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "slow", contract.RowLimits{}, chunksOf(40)...)
		s.add(1, 2, "fast", contract.RowLimits{}, chunksOf(80)...)
		slow, fast := upstream(2, time.Second), upstream(64, 50*time.Millisecond)
		rows := &answerer{do: func(ctx context.Context, facts contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
			if facts.Version.Model == "slow" {
				return slow.AnswerRow(ctx, facts, row)
			}
			return fast.AnswerRow(ctx, facts, row)
		}}
		w := start(t, s, rows, Config{})
		pass(10 * time.Second)
		if _, n := fast.count(); n < 6000 {
			t.Errorf("%d rows of the fast model in 10 s beside a slow one", n)
		}
		if _, n := slow.count(); n < 18 {
			t.Errorf("%d rows of the slow model in 10 s", n)
		}
		w.stop()
	})
}

// spec: run-yields
func TestRowsYieldToCalls(t *testing.T) {
	for name, c := range map[string]struct {
		model, around time.Duration // what the model takes for a row, and what Prism takes
		warm          time.Duration
		alone, beside int // rows a second
	}{
		"a fast model":                         {0, 50 * time.Millisecond, 3 * time.Second, 5120, 20},
		"a model that answers after some time": {80 * time.Millisecond, 20 * time.Millisecond, 3 * time.Second, 2560, 50},
		"a slow model":                         {2 * time.Second, 5 * time.Millisecond, 20 * time.Second, 128, 128},
		"a Prism that hangs":                   {0, 2 * time.Second, 20 * time.Second, 128, 10},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				s.add(1, 1, "", contract.RowLimits{}, chunksOf(400)...)
				var calls atomic.Bool
				rows := &answerer{do: func(_ context.Context, _ contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
					<-time.After(c.model + c.around)
					o := okRowAfter(row, c.model)
					o.Save.Outcome.CallsCome = calls.Load()
					return o, nil
				}}
				w := start(t, s, rows, Config{})
				wantRate := func(when string, want int) {
					t.Helper()
					pass(c.warm)
					_, before := rows.count()
					pass(2 * time.Second)
					if _, after := rows.count(); after-before < 2*want*9/10 || after-before > 2*want*11/10 {
						t.Errorf("%s: %d rows in 2 s, want %d a second", when, after-before, want)
					}
				}
				wantRate("alone", c.alone)
				calls.Store(true)
				wantRate("beside calls", c.beside)
				calls.Store(false)
				wantRate("alone again", c.alone)
				w.stop()
			})
		})
	}
}

// spec: run-yields
func TestSavesCountForWhatPrismWorksOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPace(100, nil)
		for range 100 {
			p.noteAnswer(time.Millisecond, true)
			p.noteSave(600*time.Millisecond, 200)
		}
		p.noteSave(time.Hour, 0)
		began := time.Now()
		for range 100 {
			row := p.ask("")
			<-row.granted
			p.ended(row, time.Now(), answered)
		}
		if took := time.Since(began); took < 380*time.Millisecond || took > 400*time.Millisecond {
			t.Errorf("100 rows of 1 ms, and 3 ms to save each, began within %s", took)
		}
	})
}

// spec: run-slows-down
func TestThePace(t *testing.T) {
	// ends gives places back, of rows that began at a time.
	ends := func(p *pace, tickets []*ticket, began time.Time, how modelSignal) {
		for _, t := range tickets {
			p.ended(t, began, how)
		}
	}
	// fill takes all places that there are.
	fill := func(p *pace, model string) (granted []*ticket) {
		for {
			one := p.ask(model)
			select {
			case <-one.granted:
				granted = append(granted, one)
			default:
				p.withdraw(one)
				return granted
			}
		}
	}
	for name, test := range map[string]func(t *testing.T, p *pace, slowdowns *int){
		"doubles with each round of answers until the first overload": func(t *testing.T, p *pace, _ *int) {
			for _, want := range []int{8, 16, 32, 64, 100, 100} {
				got := fill(p, "")
				if len(got) != want {
					t.Fatalf("%d places, want %d", len(got), want)
				}
				ends(p, got, time.Now(), answered)
			}
		},
		"is halved, and then grows by one with each round": func(t *testing.T, p *pace, slowdowns *int) {
			ends(p, fill(p, ""), time.Now(), answered)
			ends(p, fill(p, "")[:1], time.Now(), overloaded)
			p.running, p.modelPlaces("").running = 0, 0
			for _, want := range []int{8, 8, 9, 10} {
				got := fill(p, "")
				if len(got) < want || len(got) > want+1 {
					t.Fatalf("%d places, want %d", len(got), want)
				}
				ends(p, got, time.Now(), answered)
			}
			if *slowdowns != 1 {
				t.Errorf("%d slowdowns", *slowdowns)
			}
		},
		"is halved once for what was overloaded at once": func(t *testing.T, p *pace, slowdowns *int) {
			rows := fill(p, "")
			began := time.Now()
			<-time.After(time.Minute)
			ends(p, rows[:4], began, overloaded)
			<-time.After(time.Minute)
			ends(p, rows[4:], began, overloaded) // they began before
			if got := fill(p, ""); len(got) != 4 || *slowdowns != 1 {
				t.Errorf("%d places, %d slowdowns", len(got), *slowdowns)
			}
		},
		"is halved four times a second": func(t *testing.T, p *pace, slowdowns *int) {
			for range 20 { // 2 s of failures at once
				<-time.After(100 * time.Millisecond)
				ends(p, fill(p, ""), time.Now(), overloaded)
			}
			if got := fill(p, ""); len(got) != 1 || *slowdowns != 7 {
				t.Errorf("%d places, %d slowdowns", len(got), *slowdowns)
			}
		},
		"has always a place": func(t *testing.T, p *pace, _ *int) {
			for range 20 {
				<-time.After(time.Minute)
				ends(p, fill(p, ""), time.Now(), overloaded)
			}
			if got := fill(p, ""); len(got) != 1 {
				t.Errorf("%d places", len(got))
			}
		},
		"does not grow while places are left": func(t *testing.T, p *pace, _ *int) {
			for range 100 {
				ends(p, []*ticket{p.ask("")}, time.Now(), answered)
			}
			if got := fill(p, ""); len(got) != slowStart {
				t.Errorf("%d places", len(got))
			}
		},
		"is not touched by what was not asked": func(t *testing.T, p *pace, slowdowns *int) {
			ends(p, fill(p, ""), time.Now(), notAsked)
			if got := fill(p, ""); len(got) != slowStart || *slowdowns != 0 {
				t.Errorf("%d places, %d slowdowns", len(got), *slowdowns)
			}
		},
		"has places for all models together": func(t *testing.T, p *pace, _ *int) {
			n := 0
			for _, model := range []string{"a", "b", "c"} {
				for range 5 {
					got := fill(p, model)
					ends(p, got, time.Now(), answered)
				}
				n += len(fill(p, model))
			}
			if n != 100 || p.rows() != 100 {
				t.Errorf("%d places, %d rows", n, p.rows())
			}
		},
		"forgets models without rows": func(t *testing.T, p *pace, _ *int) {
			for i := range 10 * keptModels {
				ends(p, []*ticket{p.ask(string(rune('a' + i)))}, time.Now(), answered)
			}
			if len(p.models) > keptModels {
				t.Errorf("%d models are remembered", len(p.models))
			}
		},
		"serves chunks in turns, and a model without places holds up no other": func(t *testing.T, p *pace, _ *int) {
			full := fill(p, "a")
			waits, next, other := p.ask("a"), p.ask("a"), p.ask("b")
			select {
			case <-other.granted:
			default:
				t.Error("a row of another model waits")
			}
			p.ended(full[0], time.Now(), notAsked)
			select {
			case <-waits.granted:
			default:
				t.Error("the first one has no place")
			}
			p.withdraw(waits)
			select {
			case <-next.granted:
			default:
				t.Error("a ticket that was withdrawn keeps its place")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slowdowns := 0
				test(t, newPace(100, func() { slowdowns++ }), &slowdowns)
			})
		})
	}
}

// spec: run-slows-down
func TestARowThatTheModelRefusesSlowsDown(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{}, chunksOf(30)...)
		var mu sync.Mutex
		running := 0
		rows := &answerer{do: func(_ context.Context, _ contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
			mu.Lock()
			running++
			most := running
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				running--
			}()
			<-time.After(100 * time.Millisecond)
			o := okRowAfter(row, 100*time.Millisecond)
			if most > 10 { // refused, as a model with 429
				o.Save.Outcome.Error, o.Save.Outcome.Overloaded = "The model service refused the call (status 429).", true
			}
			return o, nil
		}}
		w := start(t, s, rows, Config{})
		pass(20 * time.Second)
		count := func(outcome string) float64 {
			return testutil.ToFloat64(w.Service.metrics.rows.WithLabelValues(outcome))
		}
		if ok, failed := count(rowOK), count(rowFailed); ok < 1000 || failed > ok/10 {
			t.Errorf("%v rows are ok, %v failed", ok, failed)
		}
		if n := testutil.ToFloat64(w.Service.metrics.slowdowns); n < 1 || n > 40 {
			t.Errorf("%v slowdowns", n)
		}
		w.stop()
	})
}
