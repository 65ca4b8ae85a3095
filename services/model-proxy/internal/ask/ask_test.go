package ask

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type do = func(ctx context.Context) (provider.Reply, *upstream.Fault)

// fake makes one call per function, each for one yes_no question: q0, q1 …
type fake []do

func (f fake) provider() provider.Provider {
	calls := make([]provider.Call, len(f))
	for i, d := range f {
		calls[i] = provider.Call{Questions: []prism.Question{{Key: fmt.Sprintf("q%d", i), Type: prism.YesNo}}, Do: d}
	}
	return provider.Provider{Name: "fake", Calls: func(contract.Ask) []provider.Call { return calls }}
}

// one is an asker of one model without a bound.
func one(p provider.Provider, cfg Config) *Asker {
	return New(models.NewCurrent(models.New(models.Spec{Name: "fake"}, p, nil)), cfg)
}

// sleep waits for d. It reports false when the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func yes(after time.Duration) do {
	return func(ctx context.Context) (provider.Reply, *upstream.Fault) {
		if !sleep(ctx, after) {
			return provider.Reply{}, &upstream.Fault{Class: failure.Unavailable, Cause: upstream.Cancelled}
		}
		return provider.Reply{Answers: []*prism.Answer{{Type: prism.YesNo, Probability: 1}}}, nil
	}
}

func fault(after time.Duration, f upstream.Fault) do {
	return func(ctx context.Context) (provider.Reply, *upstream.Fault) {
		if !sleep(ctx, after) {
			return provider.Reply{}, &upstream.Fault{Class: failure.Unavailable, Cause: upstream.Cancelled}
		}
		return provider.Reply{}, &f
	}
}

func noAnswer(after time.Duration) do {
	return func(ctx context.Context) (provider.Reply, *upstream.Fault) {
		if !sleep(ctx, after) {
			return provider.Reply{}, &upstream.Fault{Class: failure.Unavailable, Cause: upstream.Cancelled}
		}
		return provider.Reply{Answers: []*prism.Answer{nil}}, nil
	}
}

var refused = status(401)

// requests numbers requests: one that fails again counts once (spec: model-breaker).
var requests atomic.Int64

func another() contract.Ask { return contract.Ask{Context: fmt.Sprint(requests.Add(1))} }

func ask(t *testing.T, s *Asker) Report {
	t.Helper()
	v, err := s.Ask(t.Context(), another())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// spec: one-unusable-answer-fails-the-result
func TestTheFirstFailureInQuestionOrderIsTheError(t *testing.T) {
	t.Parallel()
	const unusable0, unusable1 = "The model gave no usable answer to question q0.", "The model gave no usable answer to question q1."
	for name, c := range map[string]struct {
		calls fake
		want  string
		took  int64
	}{
		"a later failure that comes sooner waits for the earlier one": {fake{noAnswer(3 * time.Second), fault(0, refused)}, unusable0, 3000},
		"an earlier failure cancels what is behind it":                {fake{noAnswer(0), yes(14 * time.Second)}, unusable0, 0},
		"a failure waits for the answers before it":                   {fake{yes(2 * time.Second), noAnswer(0)}, unusable1, 2000},
		"a refusal counts like any failure":                           {fake{fault(time.Second, refused), noAnswer(0)}, "The model service refused the key.", 1000},
		"a question that hangs ends at the wait":                      {fake{yes(time.Hour), noAnswer(0)}, contract.TimeoutText, 15000},
		"a failure does not wait for a hang behind it":                {fake{yes(0), noAnswer(time.Second), yes(time.Hour)}, unusable1, 1000},
		"a reply with too few answers is unusable":                    {fake{func(context.Context) (provider.Reply, *upstream.Fault) { return provider.Reply{}, nil }}, unusable0, 0},
		"a single call": {fake{noAnswer(time.Second)}, unusable0, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if v := ask(t, one(c.calls.provider(), Config{})); v.Error != c.want || v.TookMS != c.took || v.Answers != nil {
					t.Errorf("got %+v, want %q after %d ms", v, c.want, c.took)
				}
				synctest.Wait()
			})
		})
	}
}

// spec: provider-openai-chat
func TestTheCallsOfAllQuestionsRunAtOnceAndAnswerInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		calls := make(fake, 64)
		for i := range calls {
			calls[i] = func(ctx context.Context) (provider.Reply, *upstream.Fault) {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer now.Add(-1)
				sleep(ctx, time.Duration(64-i)*10*time.Millisecond)
				return provider.Reply{Answers: []*prism.Answer{{Question: fmt.Sprintf("q%d", i), Type: prism.YesNo, Probability: 1}}}, nil
			}
		}
		v := ask(t, one(calls.provider(), Config{}))
		if v.Failed() || most.Load() != 64 || v.TookMS != 640 {
			t.Fatalf("at most %d at a time; %+v", most.Load(), v)
		}
		want := "{"
		for i := range calls {
			want += fmt.Sprintf(`"q%d":{"type":"yes_no","probability":1},`, i)
		}
		if got := string(v.Answers); got != want[:len(want)-1]+"}" {
			t.Errorf("got %s", got)
		}
	})
}

// spec: model-wait-is-hard
func TestAProviderThatIgnoresItsContextDoesNotHoldTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		s := one(fake{func(context.Context) (provider.Reply, *upstream.Fault) {
			<-stuck
			return provider.Reply{}, nil
		}}.provider(), Config{MaxInFlight: 1})
		if v := ask(t, s); v.Error != contract.TimeoutText || v.TookMS != 15000 {
			t.Errorf("got %+v", v)
		}
		// It keeps its slot: there are never more such goroutines than MaxInFlight.
		if _, err := s.Ask(t.Context(), contract.Ask{}); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		close(stuck)
		synctest.Wait()
		if s.InFlight() != 0 {
			t.Error("the slot was not freed")
		}
	})
}

// spec: model-check
func TestACheckTakesAtMostFifteenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		m := models.New(models.Spec{Name: "fake"}, fake{func(context.Context) (provider.Reply, *upstream.Fault) {
			<-stuck
			return provider.Reply{}, nil
		}}.provider(), nil)
		s := New(models.NewCurrent(m), Config{})
		start := time.Now()
		did, err := s.Check(t.Context(), m, make([]contract.Ask, 2))
		if err != nil || len(did) != 1 || did[0].Code != prism.CodeTimeout || time.Since(start) != contract.ModelWait {
			t.Errorf("got %+v, %v after %s", did, err, time.Since(start))
		}
		close(stuck)
		synctest.Wait()
		if did, err := s.Check(t.Context(), m, make([]contract.Ask, 2)); err != nil || len(did) != 1 || did[0].Code == prism.CodeTimeout {
			t.Errorf("the next one: got %+v, %v", did, err)
		}
	})
}

// spec: fair-shares
func TestAsksOfOneAccountLeavePlacesForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := one(fake{yes(time.Second)}.provider(), Config{MaxInFlight: 3})
		asks := func(account string) error {
			_, err := s.Ask(fair.With(t.Context(), account), contract.Ask{})
			return err
		}
		for range 3 {
			go func() { _ = asks("a") }()
		}
		synctest.Wait()
		if err := asks("a"); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("one more of the account: %v", err)
		}
		if err := asks("b"); err != nil {
			t.Errorf("one of another: %v", err)
		}
		synctest.Wait()
	})
}

// spec: overload
func TestOneMoreThanMayBeUnderWayIsShedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := one(fake{yes(time.Second)}.provider(), Config{MaxInFlight: 3})
		for range 3 {
			go func() { _, _ = s.Ask(t.Context(), contract.Ask{}) }()
		}
		synctest.Wait()
		start := time.Now()
		if _, err := s.Ask(t.Context(), contract.Ask{}); !errors.Is(err, contract.ErrUnavailable) || time.Since(start) != 0 {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		<-time.After(2 * time.Second) // the bubble's clock
		synctest.Wait()
		if v := ask(t, s); v.Failed() {
			t.Errorf("room again, yet %+v", v)
		}
	})
}

// spec: upstream-retries
func TestPausesGrowAndAreShortenedByUpToHalf(t *testing.T) {
	t.Parallel()
	full := []time.Duration{100, 200, 400, 800, 1600, 2000, 2000}
	for _, jitter := range []float64{0, 0.5, 0.999} {
		s := one(fake{}.provider(), Config{Jitter: func() float64 { return jitter }})
		for i, ms := range full {
			want := time.Duration(float64(ms) * float64(time.Millisecond) * (1 - jitter/2))
			if got := s.backoff(i + 1); got-want > time.Microsecond || want-got > time.Microsecond {
				t.Errorf("pause %d with jitter %v is %v, want %v", i+1, jitter, got, want)
			}
		}
	}
	if got := one(fake{}.provider(), Config{}).backoff(1 << 30); got < maxPause/2 || got > maxPause {
		t.Errorf("a very late pause is %v", got)
	}
}

// spec: retry-after
// spec: one-owner-of-retries
func TestRetryingStopsWhereTheNextPauseDoesNotFit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		slow := func(ctx context.Context) (provider.Reply, *upstream.Fault) {
			n++
			return fault(7400*time.Millisecond, status(503))(ctx)
		}
		v := ask(t, one(fake{slow}.provider(), Config{Jitter: func() float64 { return 0 }}))
		// 7.4 + 0.1 + 7.4 = 14.9 s; the next pause of 0.2 s would end after the wait.
		if v.Error != "The model service refused the call (status 503)." || v.TookMS != 14900 || n != 2 {
			t.Errorf("got %+v after %d attempts", v, n)
		}
	})
}

func TestAPanicIsAnErrorWithoutItsValue(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]fake{
		"one call":   {func(context.Context) (provider.Reply, *upstream.Fault) { panic("a value") }},
		"many calls": {yes(0), func(context.Context) (provider.Reply, *upstream.Fault) { panic("a value") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := one(calls.provider(), Config{Log: slog.New(slog.DiscardHandler)})
			_, err := s.Ask(t.Context(), contract.Ask{})
			if err == nil || errors.Is(err, contract.ErrUnavailable) || err.Error() != "ask: provider fake panicked" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// spec: client-disconnect
func TestTheTraceOfTheCallerReachesTheProviderButNotItsCancellation(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "trace"))
	cancel()
	s := one(fake{func(ctx context.Context) (provider.Reply, *upstream.Fault) {
		if ctx.Err() != nil || ctx.Value(key{}) != "trace" {
			t.Errorf("got %v, %v", ctx.Err(), ctx.Value(key{}))
		}
		if _, ok := ctx.Deadline(); !ok {
			t.Error("no deadline")
		}
		return yes(0)(ctx)
	}}.provider(), Config{})
	if v, err := s.Ask(ctx, contract.Ask{}); err != nil || v.Failed() {
		t.Errorf("got %+v, %v", v, err)
	}
}
