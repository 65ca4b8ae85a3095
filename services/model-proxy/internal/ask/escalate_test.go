package ask

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// says answers q0 with a probability of yes.
func says(p float64, after time.Duration) do {
	return func(ctx context.Context) (provider.Reply, *upstream.Fault) {
		if !sleep(ctx, after) {
			return provider.Reply{}, &upstream.Fault{Class: failure.Unavailable, Cause: upstream.Cancelled}
		}
		return provider.Reply{Answers: []*prism.Answer{{Question: "q0", Type: prism.YesNo, Probability: p}}}, nil
	}
}

func answerOf(p float64) string {
	return `{"q0":{"type":"yes_no","probability":` + strconv.FormatFloat(p, 'g', -1, 64) + `}}`
}

// escalated asks with an escalation from the model a to the model b, below 0.6.
func escalated(t *testing.T, s *Asker, change ...func(*contract.Ask)) Report {
	t.Helper()
	a := another()
	a.Definition.Escalate = &prism.Escalate{To: "b", Below: 0.6}
	for _, c := range change {
		c(&a)
	}
	v, err := s.Ask(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// spec: escalation, escalation-time, call-of-a-model
func TestDoubtfulAnswersAreThoseOfASecondModel(t *testing.T) {
	t.Parallel()
	const (
		second = time.Second
		no     = prism.ErrorCode("no escalation")
	)
	hangs := func(context.Context) (provider.Reply, *upstream.Fault) {
		<-time.After(time.Minute) // the bubble's clock; whatever the context says
		return provider.Reply{}, nil
	}
	to := func(name string) func(*contract.Ask) {
		return func(a *contract.Ask) { a.Definition.Escalate.To = name }
	}
	for name, c := range map[string]struct {
		models []*scripted
		change func(*contract.Ask)
		p      float64 // of the result; -1: it failed
		model  string  // whose answers it has
		fell   bool
		code   prism.ErrorCode
		other  string // the other model of the record
		first  float64
		took   time.Duration
	}{
		"a certain yes": {
			models: []*scripted{model("a", says(0.7, second), 0), model("b", says(0.9, 0), 0)}, p: 0.7, model: "a", code: no, took: second,
		},
		"a certain no": {
			models: []*scripted{model("a", says(0.3, second), 0), model("b", says(0.9, 0), 0)}, p: 0.3, model: "a", code: no, took: second,
		},
		"a doubtful yes": {
			models: []*scripted{model("a", says(0.55, second), 0), model("b", says(0.9, second), 0)},
			p:      0.9, model: "b", other: "a", first: 0.55, took: 2 * second,
		},
		"a doubtful no": {
			models: []*scripted{model("a", says(0.45, 0), 0), model("b", says(0.1, 0), 0)}, p: 0.1, model: "b", other: "a", first: 0.45,
		},
		"the bound itself is certain": {
			models: []*scripted{model("a", says(0.6, 0), 0), model("b", says(0.9, 0), 0)}, p: 0.6, model: "a", code: no,
		},
		"the second answers count, however doubtful": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", says(0.5, 0), 0)}, p: 0.5, model: "b", other: "a", first: 0.55,
		},
		"a question that is covered": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", says(0.9, 0), 0)},
			change: func(a *contract.Ask) { a.Definition.Escalate.Questions = []string{"other", "q0"} },
			p:      0.9, model: "b", other: "a", first: 0.55,
		},
		"a question that is not covered": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", says(0.9, 0), 0)},
			change: func(a *contract.Ask) { a.Definition.Escalate.Questions = []string{"other"} }, p: 0.55, model: "a", code: no,
		},
		"a first model that fails": {
			models: []*scripted{model("a", fault(0, refused), 0), model("b", says(0.9, 0), 0)}, p: -1, model: "a", code: no,
		},
		"a second model that refuses": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", fault(second, refused), 0)},
			p:      0.55, model: "a", code: prism.CodeRefusedKey, other: "b", took: second,
		},
		"a second model without a usable answer": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", noAnswer(second), 0)},
			p:      0.55, model: "a", code: prism.CodeNoUsableAnswer, other: "b", took: second,
		},
		"a second model that takes all the time": {
			models: []*scripted{model("a", says(0.55, second), 0), model("b", says(0.9, time.Hour), 0)},
			p:      0.55, model: "a", code: prism.CodeTimeout, other: "b", took: 15 * second,
		},
		"a second model that does not heed the end of the time": {
			models: []*scripted{model("a", says(0.55, second), 0), model("b", hangs, 0)},
			p:      0.55, model: "a", code: prism.CodeTimeout, other: "b", took: 15 * second,
		},
		"time enough for the second": {
			models: []*scripted{model("a", says(0.55, 11250*time.Millisecond), 0), model("b", says(0.9, 3700*time.Millisecond), 0)},
			p:      0.9, model: "b", other: "a", first: 0.55, took: 14950 * time.Millisecond,
		},
		"too little time for the second": {
			models: []*scripted{model("a", says(0.55, 11251*time.Millisecond), 0), model("b", says(0.9, 0), 0)},
			p:      0.55, model: "a", code: prism.CodeTimeout, other: "b", took: 11251 * time.Millisecond,
		},
		"a second model that is not configured": {
			models: []*scripted{model("a", says(0.55, 0), 0)}, p: 0.55, model: "a", code: prism.CodeModelNotConfigured, other: "b",
		},
		"the fallback of the first": {
			models: []*scripted{model("a", fault(8*second, status(503)), 0, "c"), model("b", says(0.9, 0), 0), model("c", says(0.55, 0), 0)},
			p:      0.9, model: "b", other: "c", first: 0.55, took: 7500 * time.Millisecond,
		},
		"the fallback of the first is the second": {
			models: []*scripted{model("a", fault(8*second, status(503)), 0, "b"), model("b", says(0.55, 0), 0)},
			p:      0.55, model: "b", fell: true, code: no, took: 7500 * time.Millisecond,
		},
		"the default model has become the second": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", says(0.9, 0), 0)}, change: to("a"), p: 0.55, model: "a", code: no,
		},
		"the fallback of the second": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", says(0.9, time.Hour), 0, "c"), model("c", says(0.8, 0), 0)},
			p:      0.8, model: "c", fell: true, other: "a", first: 0.55, took: 7500 * time.Millisecond,
		},
		"the fallback of the second fails too": {
			models: []*scripted{model("a", says(0.55, 0), 0), model("b", says(0.9, time.Hour), 0, "c"), model("c", fault(0, refused), 0)},
			p:      0.55, model: "a", code: prism.CodeRefusedKey, other: "c", took: 7500 * time.Millisecond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := routed(c.models...)
				var ended []prism.ErrorCode
				s.cfg.Escalated = func(_ *models.Model, code prism.ErrorCode) { ended = append(ended, code) }
				v := escalated(t, s, func(a *contract.Ask) {
					if c.change != nil {
						c.change(a)
					}
				})
				<-time.After(time.Hour) // for what did not heed the end of the time
				synctest.Wait()
				want := ""
				if c.p >= 0 {
					want = answerOf(c.p)
				}
				if string(v.Answers) != want || v.Failed() != (c.p < 0) || v.Call.Name != c.model || v.Call.FellBack != c.fell ||
					v.TookMS != c.took.Milliseconds() {
					t.Errorf("got %s %q of %s after %d ms", v.Answers, v.Error, v.Call.Name, v.TookMS)
				}
				e := v.Call.Escalation
				if (e == nil) != (c.code == no) {
					t.Fatalf("escalation %+v", e)
				}
				if e == nil {
					return
				}
				first := ""
				if c.code == "" {
					first = answerOf(c.first)
				}
				if e.ErrorCode != c.code || e.Name != c.other || string(e.Answers) != first || !slices.Equal(e.Questions, []string{"q0"}) ||
					e.FellBack != (c.other == "c") || (e.Provider == "") != (c.code == prism.CodeModelNotConfigured) {
					t.Errorf("escalation %+v with %s", e, e.Answers)
				}
				if c.code != prism.CodeModelNotConfigured && (len(ended) != 1 || ended[0] != c.code) {
					t.Errorf("told %v", ended)
				}
			})
		})
	}
}

// spec: escalation
func TestASecondModelIsAskedAllQuestions(t *testing.T) {
	t.Parallel()
	answers := func(ps ...float64) (calls fake) {
		for i, p := range ps {
			calls = append(calls, func(context.Context) (provider.Reply, *upstream.Fault) {
				q := fmt.Sprintf("q%d", i)
				a := &prism.Answer{Question: q, Type: prism.Choice, Chosen: "x", Probabilities: []prism.KeyProbability{{Key: "x", Probability: p}, {Key: "y", Probability: 1 - p}}}
				return provider.Reply{Answers: []*prism.Answer{a}, LabelMass: []prism.LabelMass{{Question: q, Mass: p}}}, nil
			})
		}
		return calls
	}
	apis := []provider.Provider{answers(0.99, 0.55, 0.59).provider(), answers(0.75, 0.875, 1).provider()}
	for i := range apis {
		apis[i].Probabilities = api.Logprobs
	}
	s := New(models.NewCurrent(models.New(models.Spec{Name: "a"}, apis[0], nil), models.New(models.Spec{Name: "b"}, apis[1], nil)), Config{})
	v := escalated(t, s)
	want := `{"q0":{"type":"choice","value":"x","probabilities":{"x":0.75,"y":0.25},"confidence":0},` +
		`"q1":{"type":"choice","value":"x","probabilities":{"x":0.875,"y":0.125},"confidence":0},` +
		`"q2":{"type":"choice","value":"x","probabilities":{"x":1,"y":0},"confidence":0}}`
	if string(v.Answers) != want || v.Call.Tries != 6 {
		t.Errorf("got %s after %d tries", v.Answers, v.Call.Tries)
	}
	if e := v.Call.Escalation; !slices.Equal(e.Questions, []string{"q1", "q2"}) {
		t.Errorf("the questions are %v", e.Questions)
	}
	if got := v.Call.LabelMass; len(got) != 3 || got[0].Mass != 0.75 {
		t.Errorf("the label mass is %+v", got)
	}
}

// spec: escalation, call-of-a-model, usage-members
func TestTokensAndCostOfBothModelsAddUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second do
		input  int64
		cost   int64
	}{
		"the second answers": {says(0.9, 0), 300, 1900},
		"the second fails":   {noAnswer(0), 300, 1900},
	} {
		priced := func(name string, tokens, price int64, d do) *models.Model {
			counted := func(ctx context.Context) (provider.Reply, *upstream.Fault) {
				r, f := d(ctx)
				r.Tokens = provider.Tokens{Input: count(tokens), Output: count(1)}
				return r, f
			}
			return models.New(models.Spec{Name: name, Price: &models.Price{Currency: "USD", Input: price}}, fake{counted}.provider(), nil)
		}
		s := New(models.NewCurrent(priced("a", 100, 1, says(0.55, 0)), priced("b", 200, 9, c.second)), Config{})
		u := escalated(t, s).Call.Usage
		if *u.InputTokens != c.input || *u.OutputTokens != 2 || *u.Cost != c.cost || u.Currency != "USD" {
			t.Errorf("%s: %d and %d tokens for %d %s", name, *u.InputTokens, *u.OutputTokens, *u.Cost, u.Currency)
		}
	}
}

// spec: escalation-time, model-breaker
func TestASecondModelThatFailsIsSkippedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := model("a", says(0.55, 0), 0)
		b := model("b", func(context.Context) (provider.Reply, *upstream.Fault) {
			return provider.Reply{}, &upstream.Fault{Class: failure.Unavailable, Status: 503, RetryAfter: time.Minute} // no second try
		}, 0)
		s, _ := routed(a, b)
		asks := func(n int, want prism.ErrorCode) {
			t.Helper()
			for range n {
				if v := escalated(t, s); string(v.Answers) != answerOf(0.55) || v.Call.Escalation.ErrorCode != want || v.TookMS != 0 {
					t.Fatalf("got %s, %+v after %d ms", v.Answers, v.Call.Escalation, v.TookMS)
				}
			}
		}
		asks(11, prism.CodeRefused)
		asks(5, prism.CodeSkipped)
		if b.calls.Load() != 11 {
			t.Errorf("%d calls", b.calls.Load())
		}
		<-time.After(5*time.Second + 1)
		asks(1, prism.CodeRefused) // on trial
		asks(1, prism.CodeSkipped)
	})
}

// spec: escalation-time, model-places, run-leaves-places, run-slows-down
func TestASecondModelWithoutAPlaceIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		busy       time.Duration // how long the place of b is taken
		background bool
		p          float64
		code       prism.ErrorCode
	}{
		"a call that gets the place": {8 * time.Second, false, 0.9, ""},
		"a row that gets the place":  {8 * time.Second, true, 0.9, ""}, // later than placeWait
		"a call that gets none":      {time.Hour, false, 0.55, prism.CodeTimeout},
		"a row that gets none":       {time.Hour, true, 0.55, prism.CodeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var first atomic.Bool
				b := model("b", func(ctx context.Context) (provider.Reply, *upstream.Fault) {
					if first.CompareAndSwap(false, true) {
						<-time.After(c.busy) // whatever the context says: the place is taken
						return provider.Reply{}, &refused
					}
					return says(0.9, 0)(ctx)
				}, 1)
				s, ends := routed(model("a", says(0.55, time.Second), 0), b)
				hold(t, s, "b")
				v := escalated(t, s, func(a *contract.Ask) { a.Background = c.background })
				want := min(c.busy, 15*time.Second)
				if string(v.Answers) != answerOf(c.p) || v.Call.Escalation.ErrorCode != c.code || v.TookMS != want.Milliseconds() || !v.Overloaded {
					t.Errorf("got %s, %+v after %d ms, overloaded %v", v.Answers, v.Call.Escalation, v.TookMS, v.Overloaded)
				}
				<-time.After(2 * time.Hour)
				synctest.Wait()
				if b.Running() != 0 {
					t.Errorf("%d calls of b are left", b.Running())
				}
				waited := func(e End) bool { return e.Model.Name == "b" && e.Took == 14*time.Second } // a took the first second
				if c.code != "" && !slices.ContainsFunc(*ends, waited) {
					t.Errorf("no ask of b took 14 s: %+v", *ends)
				}
			})
		})
	}
}
