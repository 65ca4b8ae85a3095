package ask

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// scripted is a model whose one call is d, and how often it was called.
type scripted struct {
	*models.Model
	calls atomic.Int32
}

func model(name string, d do, bound int, fallback ...string) *scripted {
	s := &scripted{}
	counted := func(ctx context.Context) (provider.Reply, *upstream.Fault) {
		s.calls.Add(1)
		return d(ctx)
	}
	s.Model = models.New(models.Spec{Name: name, MaxInFlight: bound, Fallback: fallback}, fake{counted}.provider(), nil)
	return s
}

// routed is an asker of the models, of which the first is the default, and the ends of their asks.
func routed(list ...*scripted) (*Asker, *[]End) {
	var ms []*models.Model
	for _, s := range list {
		ms = append(ms, s.Model)
	}
	ends := &[]End{}
	var mu sync.Mutex
	return New(models.NewCurrent(ms...), Config{
		Jitter: func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler),
		Ended: func(_ context.Context, e End) {
			mu.Lock()
			defer mu.Unlock()
			*ends = append(*ends, e)
		},
	}), ends
}

var down = upstream.Fault{Class: failure.Unavailable, Cause: "refused"}

func status(n int) upstream.Fault { return *upstream.Refused(n, nil, nil) }

// retryAfter is a refusal that asks for a pause.
func retryAfter(n int, pause time.Duration) *upstream.Fault {
	f := status(n)
	f.RetryAfter = pause
	return &f
}

// falling has the failures of a class of a model fall back, or not.
func falling(s *scripted, class failure.Class, falls bool) *scripted {
	s.FallbackOn = map[failure.Class]bool{class: falls}
	return s
}

// hold takes all places of a model with one for as long as d, and returns when it has.
func hold(t *testing.T, s *Asker, name string) {
	t.Helper()
	go func() { _, _ = s.Ask(t.Context(), contract.Ask{Definition: prism.Definition{Model: name}}) }()
	synctest.Wait()
}

// spec: fallback
func TestWhatFallsBackAndWhen(t *testing.T) {
	t.Parallel()
	const second = time.Second
	refusedText := func(n string) string { return "The model service refused the call (status " + n + ")." }
	for name, c := range map[string]struct {
		models []*scripted
		error  string
		model  string // that was asked last
		took   time.Duration
		tries  int32
	}{
		"a model that answers is the only one": {
			[]*scripted{model("a", yes(second), 0, "b"), model("b", yes(0), 0)}, "", "a", second, 1,
		},
		"no connection, after the tries that fit in half of the time": {
			// 0.1 + 0.2 + 0.4 + 0.8 + 1.6 + 2 + 2 = 7.1 s; the next pause of 2 s does not fit.
			[]*scripted{model("a", fault(0, down), 0, "b"), model("b", yes(second), 0)}, "", "b", 8100 * time.Millisecond, 9,
		},
		"a refusal of half of the time": {
			[]*scripted{model("a", fault(7*second, status(503)), 0, "b"), model("b", yes(0), 0)}, "", "b", 7500 * time.Millisecond, 3,
		},
		"no answer within half of the time": {
			[]*scripted{model("a", yes(8*second), 0, "b"), model("b", yes(second), 0)}, "", "b", 8500 * time.Millisecond, 2,
		},
		"an answer just within half of the time": {
			[]*scripted{model("a", yes(7400*time.Millisecond), 0, "b"), model("b", yes(0), 0)}, "", "a", 7400 * time.Millisecond, 1,
		},
		"three models that hang have 7.5, 3.75 and 3.75 s": {
			[]*scripted{model("a", yes(time.Hour), 0, "b", "c"), model("b", yes(time.Hour), 0), model("c", yes(time.Hour), 0)},
			contract.TimeoutText, "c", 15 * second, 3,
		},
		"the third of three has what the second left": {
			[]*scripted{model("a", yes(time.Hour), 0, "b", "c"), model("b", yes(time.Hour), 0), model("c", yes(3700*time.Millisecond), 0)},
			"", "c", 14950 * time.Millisecond, 3,
		},
		"the error is that of the last": {
			[]*scripted{model("a", yes(time.Hour), 0, "b"), model("b", fault(0, status(401)), 0)},
			texts[failure.RefusedKey], "b", 7500 * time.Millisecond, 2,
		},
		"the fallbacks of a fallback are not asked": {
			[]*scripted{model("a", yes(time.Hour), 0, "b"), model("b", yes(time.Hour), 0, "c"), model("c", yes(0), 0)},
			contract.TimeoutText, "b", 15 * second, 2,
		},
		"without a fallback a model has all the time": {
			[]*scripted{model("a", yes(14900*time.Millisecond), 0), model("b", yes(0), 0)}, "", "a", 14900 * time.Millisecond, 1,
		},
		"a balance that is used up falls back at once": {
			[]*scripted{model("a", fault(0, status(402)), 0, "b"), model("b", yes(0), 0)}, "", "b", 0, 2,
		},
		"no JSON falls back after a second try": {
			[]*scripted{model("a", fault(0, *upstream.Unreadable(nil)), 0, "b"), model("b", yes(0), 0)}, "", "b", 100 * time.Millisecond, 3,
		},
		"no usable answer does not fall back": {
			[]*scripted{model("a", noAnswer(0), 0, "b"), model("b", yes(0), 0)},
			"The model gave no usable answer to question q0.", "a", 0, 1,
		},
		"no log-probabilities do not fall back": {
			[]*scripted{model("a", noLogProbs, 0, "b"), model("b", yes(0), 0)}, noLogProbsText, "a", 0, 1,
		},
		"a refused key does not fall back":    {[]*scripted{model("a", fault(0, status(401)), 0, "b"), model("b", yes(0), 0)}, texts[failure.RefusedKey], "a", 0, 1},
		"a model nobody knows does not":       {[]*scripted{model("a", fault(0, status(404)), 0, "b"), model("b", yes(0), 0)}, texts[failure.NotFound], "a", 0, 1},
		"a text that is too long does not":    {[]*scripted{model("a", fault(0, status(413)), 0, "b"), model("b", yes(0), 0)}, texts[failure.TooLong], "a", 0, 1},
		"a text that is filtered does not":    {[]*scripted{model("a", fault(0, *upstream.ContentFault()), 0, "b"), model("b", yes(0), 0)}, texts[failure.Content], "a", 0, 1},
		"status 400 does not fall back":       {[]*scripted{model("a", fault(0, status(400)), 0, "b"), model("b", yes(0), 0)}, refusedText("400"), "a", 0, 1},
		"status 302 does not fall back":       {[]*scripted{model("a", fault(0, status(302)), 0, "b"), model("b", yes(0), 0)}, refusedText("302"), "a", 0, 1},
		"a class that was added falls back":   {[]*scripted{falling(model("a", fault(0, status(401)), 0, "b"), failure.RefusedKey, true), model("b", yes(0), 0)}, "", "b", 0, 2},
		"a class that was removed does not":   {[]*scripted{falling(model("a", fault(0, status(402)), 0, "b"), failure.Exhausted, false), model("b", yes(0), 0)}, texts[failure.Exhausted], "a", 0, 1},
		"only that class changes with it":     {[]*scripted{falling(model("a", fault(0, status(401)), 0, "b"), failure.Content, true), model("b", yes(0), 0)}, texts[failure.RefusedKey], "a", 0, 1},
		"one that does not answer falls back": {[]*scripted{falling(model("a", noAnswer(0), 0, "b"), failure.NoAnswer, true), model("b", yes(0), 0)}, "", "b", 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, ends := routed(c.models...)
				v := ask(t, s)
				synctest.Wait()
				if v.Error != c.error || v.Call.Name != c.model || v.TookMS != c.took.Milliseconds() || v.Call.Tries != c.tries {
					t.Errorf("got %q of %s after %d ms and %d tries", v.Error, v.Call.Name, v.TookMS, v.Call.Tries)
				}
				if v.Call.FellBack != (c.model != "a") {
					t.Errorf("fell back is %v", v.Call.FellBack)
				}
				last := (*ends)[len(*ends)-1]
				if last.Model.Name != c.model || last.FellBack != v.Call.FellBack || last.Report.Error != c.error {
					t.Errorf("the last end is %+v", last)
				}
			})
		})
	}
	for _, n := range []int{408, 409, 429, 500, 503, 529} {
		synctest.Test(t, func(t *testing.T) {
			busy := func(context.Context) (provider.Reply, *upstream.Fault) {
				return provider.Reply{}, retryAfter(n, 8*second) // does not fit in half of the time
			}
			s, _ := routed(model("a", busy, 0, "b"), model("b", yes(0), 0))
			if v := ask(t, s); v.Failed() || v.Call.Name != "b" || v.TookMS != 0 {
				t.Errorf("status %d: %+v", n, v)
			}
		})
	}
}

func noLogProbs(context.Context) (provider.Reply, *upstream.Fault) {
	return provider.Reply{Answers: []*prism.Answer{nil}, Missing: prism.CodeNoLogProbabilities}, nil
}

// spec: fallback, model-places
func TestAModelWithoutAPlaceIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		models []*scripted
		full   []string
		error  string
		model  string
		took   time.Duration
	}{
		"the next model is asked at once": {
			[]*scripted{model("a", yes(5*time.Second), 1, "b"), model("b", yes(time.Second), 0)}, []string{"a"}, "", "b", time.Second,
		},
		"the last one is waited for": {
			[]*scripted{model("a", yes(5*time.Second), 1, "b"), model("b", yes(3*time.Second), 1)}, []string{"a", "b"}, "", "b", 6 * time.Second,
		},
		"a model alone is waited for": {[]*scripted{model("a", yes(6*time.Second), 1)}, []string{"a"}, "", "a", 12 * time.Second},
		"the wait for a place is inside the 15 s": {
			[]*scripted{model("a", yes(8*time.Second), 1)}, []string{"a"}, contract.TimeoutText, "a", 15 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, ends := routed(c.models...)
				for _, name := range c.full {
					hold(t, s, name)
				}
				if v := ask(t, s); v.Error != c.error || v.Call.Name != c.model || v.TookMS != c.took.Milliseconds() {
					t.Errorf("got %q of %s after %d ms", v.Error, v.Call.Name, v.TookMS)
				}
				<-time.After(time.Minute) // the bubble's clock
				synctest.Wait()
				for _, m := range c.models {
					if m.Running() != 0 {
						t.Errorf("%d calls of %s are left", m.Running(), m.Name)
					}
				}
				if len(*ends) != len(c.full)+1 {
					t.Errorf("%d ends", len(*ends))
				}
			})
		})
	}
}

// spec: model-places
func TestAWaitThatFindsNoPlaceCallsNoModelAndSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		a := model("a", func(context.Context) (provider.Reply, *upstream.Fault) { <-stuck; return provider.Reply{}, nil }, 1)
		s, ends := routed(a)
		hold(t, s, "a")
		v := ask(t, s)
		synctest.Wait()
		if v.Error != contract.TimeoutText || v.Call.Tries != 0 || v.Call.Name != "a" || v.TookMS != 15000 || a.calls.Load() != 1 {
			t.Errorf("got %+v after %d calls", v, a.calls.Load())
		}
		if len(*ends) != 1 || (*ends)[0].Report.Cause != noPlace {
			t.Errorf("ends %+v", *ends)
		}
		close(stuck)
		synctest.Wait()
	})
}

// spec: model-breaker
func TestAModelThatFailsMostOfItsLastCallsIsSkipped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var works atomic.Bool
		a := model("a", func(ctx context.Context) (provider.Reply, *upstream.Fault) {
			if works.Load() {
				return yes(time.Millisecond)(ctx)
			}
			return provider.Reply{}, retryAfter(429, time.Minute) // no second try
		}, 0, "b")
		b := model("b", yes(0), 0)
		s, _ := routed(a, b)
		asks := func(n int, want string) {
			t.Helper()
			for range n {
				if v := ask(t, s); v.Failed() || v.Call.Name != want {
					t.Fatalf("got %q of %s, want %s", v.Error, v.Call.Name, want)
				}
			}
		}
		calls := func(want int32, state int) {
			t.Helper()
			if a.calls.Load() != want || a.State() != state {
				t.Fatalf("%d calls of a in state %d, want %d in %d", a.calls.Load(), a.State(), want, state)
			}
		}
		works.Store(true)
		asks(30, "a") // the oldest of them do not count
		works.Store(false)
		asks(10, "b")
		calls(40, 0) // half of the last 20 is not more than half
		works.Store(true)
		asks(10, "a")
		works.Store(false)
		asks(11, "b") // pushes out the ten that failed first
		calls(61, 2)
		asks(5, "b")
		calls(61, 2) // skipped
		<-time.After(5*time.Second + 1)
		calls(61, 1)
		asks(1, "b")
		calls(62, 2) // one call on trial failed
		asks(5, "b")
		calls(62, 2)
		<-time.After(5*time.Second + 1)
		works.Store(true)
		asks(1, "a")
		calls(63, 0)
		works.Store(false)
		asks(10, "b")
		calls(73, 0) // the failures from before do not count
		asks(1, "b")
		calls(74, 2)
	})
}

// spec: model-breaker
func TestARequestThatAlwaysFailsCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		poison := contract.Ask{Context: "poison", Fields: []prism.FieldValue{{Key: "a", Value: "b"}}}
		a := model("a", func(context.Context) (provider.Reply, *upstream.Fault) {
			return provider.Reply{}, retryAfter(500, time.Minute)
		}, 0, "b")
		s, _ := routed(a, model("b", yes(0), 0))
		for range 50 {
			if v, err := s.Ask(t.Context(), poison); err != nil || v.Call.Name != "b" {
				t.Fatalf("got %+v, %v", v, err)
			}
		}
		if a.State() != 0 || a.calls.Load() != 50 {
			t.Errorf("state %d after %d calls", a.State(), a.calls.Load())
		}
		for range 10 {
			ask(t, s)
		}
		if a.State() != 2 {
			t.Error("ten other requests and that one do not open the breaker")
		}
	})
}

// spec: model-breaker, fallback
func TestWhatIsWrongWithARequestDoesNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := falling(model("a", fault(0, *upstream.ContentFault()), 0, "b"), failure.Content, true)
		s, _ := routed(a, model("b", yes(0), 0))
		for range 30 {
			if v := ask(t, s); v.Call.Name != "b" {
				t.Fatalf("got %+v", v)
			}
		}
		if a.State() != 0 {
			t.Errorf("state %d", a.State())
		}
	})
}

// spec: exhausted-model
func TestAModelWithoutABalanceIsPassedOverForAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := model("a", fault(0, status(402)), 0, "b")
		s, _ := routed(a, model("b", yes(0), 0))
		calls := func(want int32) {
			t.Helper()
			for range 3 {
				if v := ask(t, s); v.Failed() || v.Call.Name != "b" || v.TookMS != 0 {
					t.Fatalf("got %+v", v)
				}
			}
			if a.calls.Load() != want {
				t.Errorf("%d calls, want %d", a.calls.Load(), want)
			}
		}
		calls(1)
		<-time.After(59 * time.Second)
		calls(1)
		<-time.After(2 * time.Second)
		calls(2)
		own := falling(model("a", fault(0, status(402)), 0, "b"), failure.Exhausted, false)
		s, _ = routed(own, model("b", yes(0), 0))
		for range 3 { // what is not to fall back is not passed over
			if v := ask(t, s); v.Error != texts[failure.Exhausted] || v.Call.Name != "a" {
				t.Errorf("got %+v", v)
			}
		}
		alone, _ := routed(model("c", fault(0, status(402)), 0))
		for range 3 { // nothing else can be asked
			if v := ask(t, alone); v.Error != texts[failure.Exhausted] || v.Call.Tries != 1 || v.TookMS != 0 {
				t.Errorf("got %+v", v)
			}
		}
	})
}

// spec: model-breaker
func TestOneCallAtATimeIsOnTrial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		a := model("a", func(ctx context.Context) (provider.Reply, *upstream.Fault) {
			if slow.Load() {
				return yes(time.Second)(ctx)
			}
			return provider.Reply{}, &upstream.Fault{Class: failure.Unavailable, Status: 503, RetryAfter: time.Minute}
		}, 0, "b")
		s, _ := routed(a, model("b", yes(0), 0))
		for range 11 {
			ask(t, s)
		}
		slow.Store(true)
		<-time.After(5*time.Second + 1)
		hold(t, s, "a") // on trial
		if v := ask(t, s); v.Call.Name != "b" || v.TookMS != 0 {
			t.Errorf("asked %s", v.Call.Name)
		}
		<-time.After(2 * time.Second)
		if v := ask(t, s); v.Call.Name != "a" {
			t.Errorf("asked %s after the trial", v.Call.Name)
		}
	})
}

// spec: model-breaker, fallback
func TestNothingElseToAskIsAsked(t *testing.T) {
	t.Parallel()
	fails := func(context.Context) (provider.Reply, *upstream.Fault) {
		return provider.Reply{}, &upstream.Fault{Class: failure.Unavailable, Status: 503, RetryAfter: time.Minute}
	}
	synctest.Test(t, func(t *testing.T) {
		a, b := model("a", fails, 0, "b"), model("b", fails, 0)
		s, _ := routed(a, b)
		for range 11 {
			ask(t, s)
		}
		if a.State() != 2 || b.State() != 2 {
			t.Fatalf("states %d and %d", a.State(), b.State())
		}
		if v := ask(t, s); v.Call.Name != "a" || v.Call.FellBack || v.Status != 503 || a.calls.Load() != 12 || b.calls.Load() != 11 {
			t.Errorf("asked %s: %d and %d calls", v.Call.Name, a.calls.Load(), b.calls.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) { // a model without a fallback
		a := model("a", fails, 0)
		s, _ := routed(a)
		for range 20 {
			ask(t, s)
		}
		if a.calls.Load() != 20 {
			t.Errorf("%d calls", a.calls.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) { // all the time for a model whose fallback is skipped
		a, b := model("a", yes(14*time.Second), 0, "b"), model("b", fails, 0)
		s, _ := routed(a, b)
		for range 11 {
			a := another()
			a.Definition.Model = "b"
			_, _ = s.Ask(t.Context(), a)
		}
		// The breaker would let a call of b through in 5 s, but a has begun by then.
		if v := ask(t, s); v.Failed() || v.Call.Name != "a" || v.TookMS != 14000 {
			t.Errorf("got %q of %s after %d ms", v.Error, v.Call.Name, v.TookMS)
		}
	})
}

// spec: model-of-a-call
func TestTheModelOfTheDefinitionIsAsked(t *testing.T) {
	t.Parallel()
	a, b := model("a", yes(0), 0), model("b", yes(0), 0)
	s, _ := routed(a, b)
	for name, want := range map[string]string{"": "a", "a": "a", "b": "b"} {
		v, err := s.Ask(t.Context(), contract.Ask{Definition: prism.Definition{Model: name}})
		if err != nil || v.Failed() || v.Call.Name != want {
			t.Errorf("%q: asked %s, %v", name, v.Call.Name, err)
		}
	}
	v, err := s.Ask(t.Context(), contract.Ask{Definition: prism.Definition{Model: "gone"}})
	if err != nil || v.Error != "The model gone is not configured." || v.Call.ErrorCode != prism.CodeModelNotConfigured ||
		v.Call.Name != "gone" || v.Call.Tries != 0 || a.calls.Load()+b.calls.Load() != 3 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// spec: one-owner-of-retries
func TestAPanicOfAModelDoesNotFallBack(t *testing.T) {
	t.Parallel()
	s, _ := routed(model("a", func(context.Context) (provider.Reply, *upstream.Fault) { panic("a value") }, 1, "b"), model("b", yes(0), 0))
	for range 2 { // the place is free again
		if _, err := s.Ask(t.Context(), contract.Ask{}); err == nil || errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
}
