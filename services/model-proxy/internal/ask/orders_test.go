package ask

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// orders makes the calls of one question in several orders.
func orders(dos ...do) provider.Provider {
	calls := make([]provider.Call, len(dos))
	for i, d := range dos {
		calls[i] = provider.Call{Questions: []prism.Question{{Key: "q0", Type: prism.YesNo}}, Order: i, Do: d}
	}
	return provider.Provider{Name: "fake", Probabilities: api.Logprobs, Calls: func(contract.Ask) []provider.Call { return calls }}
}

// spec: label-orders, order-disagreement
func TestTheOrdersOfAQuestionArePooled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		with := func(mass, p float64, after time.Duration) do {
			return func(ctx context.Context) (provider.Reply, *upstream.Fault) {
				r, f := says(p, after)(ctx)
				r.LabelMass = []prism.LabelMass{{Question: "q0", Mass: mass}}
				r.Tokens = provider.Tokens{Input: count(10), Output: count(1)}
				return r, f
			}
		}
		var tries atomic.Int32
		again := func(ctx context.Context) (provider.Reply, *upstream.Fault) {
			if tries.Add(1) == 1 {
				return provider.Reply{}, new(status(503))
			}
			return with(0.5, 0.2, time.Second)(ctx)
		}
		v := ask(t, one(orders(with(1, 0.8, 3*time.Second), again), Config{Jitter: func() float64 { return 0 }}))
		// The geometric means of 0.8 and 0.2, and of 0.2 and 0.8, are the same.
		if string(v.Answers) != answerOf(0.5) || v.TookMS != 3000 || v.Call.Tries != 3 || *v.Call.Usage.InputTokens != 20 {
			t.Errorf("got %s after %d ms, %+v", v.Answers, v.TookMS, v.Call)
		}
		if m := v.Call.LabelMass; len(m) != 1 || m[0] != (prism.LabelMass{Question: "q0", Mass: 0.75}) {
			t.Errorf("label mass %+v", m)
		}
		if d := v.Call.Disagreement; len(d) != 1 || d[0].Question != "q0" || d[0].Distance < 0.3-1e-9 || d[0].Distance > 0.3+1e-9 {
			t.Errorf("disagreement %+v", d)
		}
	})
}

// spec: label-orders, one-unusable-answer-fails-the-result
func TestAnOrderThatFailsFailsItsQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		orders provider.Provider
		want   string
		took   int64
	}{
		"no usable answer": {orders(says(0.8, time.Second), noAnswer(0), says(0.8, time.Hour)), "The model gave no usable answer to question q0.", 1000},
		"no answer":        {orders(says(0.8, 0), says(0.8, time.Hour)), contract.TimeoutText, 15000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if v := ask(t, one(c.orders, Config{})); v.Error != c.want || v.TookMS != c.took || v.Call.Disagreement != nil {
					t.Errorf("got %+v", v)
				}
			})
		})
	}
	t.Run("a panic", func(t *testing.T) {
		t.Parallel()
		s := one(orders(says(0.8, 0), func(context.Context) (provider.Reply, *upstream.Fault) { panic("a value") }), Config{Log: slog.New(slog.DiscardHandler)})
		if _, err := s.Ask(t.Context(), contract.Ask{}); err == nil {
			t.Error("it passed")
		}
	})
}

// spec: label-orders
func TestAtMost64CallsOfAResultRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		add := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			now += n
			most = max(most, now)
		}
		calls := make([]do, 160)
		for i := range calls {
			calls[i] = func(ctx context.Context) (provider.Reply, *upstream.Fault) {
				add(1)
				defer add(-1)
				return says(0.8, time.Second)(ctx)
			}
		}
		if v := ask(t, one(orders(calls...), Config{})); v.Failed() || most != 64 || v.TookMS != 3000 || v.Call.Tries != 160 {
			t.Errorf("at most %d; %+v", most, v)
		}
	})
}
