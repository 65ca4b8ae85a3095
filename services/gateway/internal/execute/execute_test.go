package execute_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/memory"
)

// bench is an Executor with everything around it faked. Everything runs in a synctest bubble, so time is not real.
type bench struct {
	*execute.Executor
	asking  execute.Asking
	results *fakeResults
	asked   atomic.Int64
	model   modelFunc
	locks   lock.Locker
	began   sync.Map // time of results, by the last byte of an id
	stop    context.CancelFunc
	done    context.Context
	quota   counts
}

// counts are the results of a day, up to a limit.
type counts struct {
	taken, limit atomic.Int64
	full         atomic.Bool
}

func (c *counts) MaySave(prism.AccountID) error {
	if c.full.Load() {
		return apierr.UnavailableFor(time.Minute)
	}
	return nil
}

func (c *counts) TakeResult(context.Context, prism.AccountID) (func(), error) {
	if c.taken.Add(1) > c.limit.Load() {
		c.taken.Add(-1)
		return nil, apierr.UnavailableFor(time.Hour)
	}
	return func() { c.taken.Add(-1) }, nil
}

var okOutcome = contract.Outcome{Answers: []byte(`{"q":{"type":"yes_no","probability":1}}`), TookMS: 1}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{results: newFakeResults(), locks: memory.New(memory.Config{})}
	b.model = func(context.Context, contract.Ask) (contract.Outcome, error) {
		<-time.After(time.Second) // the bubble's time, which does not pass for real
		return okOutcome, nil
	}
	b.quota.limit.Store(1000)
	b.done, b.stop = context.WithCancel(t.Context())
	var ids atomic.Uint32
	b.asking = execute.Asking{
		Models: modelFunc(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			b.asked.Add(1)
			return b.model(ctx, a)
		}),
		Estimator: anySize{},
		Quota:     &b.quota,
		Log:       slog.New(slog.DiscardHandler),
	}
	b.Executor = execute.New(execute.Deps{
		Asking:  b.asking,
		Results: b.results,
		Locks:   locksOf{b},
		NewID: func(at time.Time) (prism.ResultID, error) {
			n := ids.Add(1)
			b.began.Store(byte(n), at)
			return prism.ResultID{UUID: prism.UUID{0xee, 14: byte(n >> 8), 15: byte(n)}}, nil
		},
		Accounts: execute.NewAccounts(),
	})
	return b
}

// locksOf are the locks that a bench has at the time of the call.
type locksOf struct{ *bench }

func (l locksOf) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return l.locks.Acquire(ctx, name)
}

func (l locksOf) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return l.locks.TryAcquire(ctx, name)
}

// lockFunc is a lock that is held by another caller until the function returns.
type lockFunc func(context.Context, string) (lock.Lease, error)

func (f lockFunc) Acquire(ctx context.Context, name string) (lock.Lease, error) { return f(ctx, name) }

func (lockFunc) TryAcquire(context.Context, string) (lock.Lease, error) { return nil, lock.ErrHeld }

// noLocks is a lock whose backend is away.
type noLocks struct{}

func (noLocks) Acquire(context.Context, string) (lock.Lease, error) { return nil, lock.ErrUnavailable }

func (noLocks) TryAcquire(context.Context, string) (lock.Lease, error) {
	return nil, lock.ErrUnavailable
}

func call(slug, key string) api.CreateResultRequest {
	text := "hello"
	return api.CreateResultRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: slug}}, Format: contract.JSON, NewResult: api.NewResult{Text: &text, IdempotencyKey: key},
	}
}

func (b *bench) create(ctx context.Context, slug, key string) (contract.Response, error) {
	return b.Create(ctx, b.done, contract.KeyDigest{}, call(slug, key))
}

func (b *bench) retry(ctx context.Context, id prism.ResultID) (contract.Response, error) {
	return b.Retry(ctx, b.done, contract.KeyDigest{}, id, contract.JSON)
}

// failing makes the model fail its first n calls.
func (b *bench) failing(n int64) {
	ok := b.model
	b.model = func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
		if b.asked.Load() <= n {
			return contract.Outcome{Error: "no"}, nil
		}
		return ok(ctx, a)
	}
}

type outcome struct {
	response contract.Response
	err      error
}

// atOnce makes n calls at the same moment and returns their outcomes.
func atOnce(n int, call func(i int) (contract.Response, error)) []outcome {
	all := make([]outcome, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { all[i].response, all[i].err = call(i) })
	}
	wg.Wait()
	return all
}

func resultID(t *testing.T, response contract.Response) prism.ResultID {
	t.Helper()
	id, err := prism.ParseUUID(string(response.Body))
	if err != nil {
		t.Fatalf("response %q is no result", response.Body)
	}
	return prism.ResultID{UUID: id}
}

// spec: same-key-at-once, same-key-on-different-prisms-at-once, first-calls-race-on-different-prisms,
// client-disconnect, saving-after-the-model, dependency-away-before-the-model, stopping
func TestCreate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  func(t *testing.T, b *bench)
	}{
		{"a call without an idempotency key is one model call and one save, without a lock", func(t *testing.T, b *bench) {
			b.locks = lockFunc(func(context.Context, string) (lock.Lease, error) {
				t.Error("a lock was asked for")
				return nil, lock.ErrUnavailable
			})
			if _, err := b.create(t.Context(), "a", ""); err != nil {
				t.Fatal(err)
			}
			if _, saves := b.results.count(); saves != 1 || b.asked.Load() != 1 {
				t.Errorf("%d saves, %d model calls", saves, b.asked.Load())
			}
		}},
		{"of calls with one key at once one goes to the model and all return its result", func(t *testing.T, b *bench) {
			all := atOnce(20, func(int) (contract.Response, error) { return b.create(t.Context(), "a", "k") })
			for _, a := range all {
				if a.err != nil || string(a.response.Body) != string(all[0].response.Body) {
					t.Fatalf("got %s, %v; the first got %s", a.response.Body, a.err, all[0].response.Body)
				}
			}
			if b.asked.Load() != 1 {
				t.Errorf("%d model calls", b.asked.Load())
			}
		}},
		{"waiters for a failed result retry it, one by one", func(t *testing.T, b *bench) {
			b.failing(3)
			all := atOnce(10, func(int) (contract.Response, error) { return b.create(t.Context(), "a", "k") })
			failed := 0
			for _, a := range all {
				if a.err != nil {
					t.Fatal(a.err)
				}
				if a.response.Failed {
					failed++
				}
			}
			if failed != 3 || b.asked.Load() != 4 {
				t.Errorf("%d failed of %d model calls, want 3 of 4", failed, b.asked.Load())
			}
		}},
		{"of calls with one key for two prisms one prism wins and the model is asked once", func(t *testing.T, b *bench) {
			slugs := []string{"a", "b"}
			all := atOnce(10, func(i int) (contract.Response, error) { return b.create(t.Context(), slugs[i%2], "k") })
			won := map[bool]int{}
			for _, a := range all {
				if a.err != nil && !errors.Is(a.err, apierr.KeyOfAnotherPrism()) {
					t.Fatal(a.err)
				}
				won[a.err == nil]++
			}
			if won[true] != 5 || b.asked.Load() != 1 {
				t.Errorf("%d answered, %d model calls", won[true], b.asked.Load())
			}
		}},
		{"without locks the store decides and every call returns the one result", func(t *testing.T, b *bench) {
			b.locks = noLocks{}
			all := atOnce(5, func(int) (contract.Response, error) { return b.create(t.Context(), "a", "k") })
			for _, a := range all {
				if a.err != nil || string(a.response.Body) != string(all[0].response.Body) {
					t.Fatalf("got %s, %v", a.response.Body, a.err)
				}
			}
			if n, _ := b.results.count(); n != 1 {
				t.Errorf("%d results", n)
			}
		}},
		{"without locks the lost race for another prism is a 409 after the model call", func(t *testing.T, b *bench) {
			b.locks = noLocks{}
			slugs := []string{"a", "b"}
			all := atOnce(2, func(i int) (contract.Response, error) { return b.create(t.Context(), slugs[i], "k") })
			if (all[0].err == nil) == (all[1].err == nil) {
				t.Errorf("%v, %v", all[0].err, all[1].err)
			}
			if b.asked.Load() != 2 {
				t.Errorf("%d model calls", b.asked.Load())
			}
		}},
		{"a call that waited in vain for a lock looks up again before it calls the model", func(t *testing.T, b *bench) {
			b.locks = lockFunc(func(ctx context.Context, _ string) (lock.Lease, error) {
				b.locks = noLocks{}
				_, err := b.create(ctx, "a", "k") // what it waited for
				return nil, errors.Join(lock.ErrUnavailable, err)
			})
			if _, err := b.create(t.Context(), "a", "k"); err != nil || b.asked.Load() != 1 {
				t.Errorf("%v, %d model calls", err, b.asked.Load())
			}
		}},
		{"a client disconnect does not keep the result from being saved", func(t *testing.T, b *bench) {
			ctx, leave := context.WithCancel(t.Context())
			go func() { <-time.After(time.Millisecond); leave() }()
			if _, err := b.create(ctx, "a", "k"); err != nil {
				t.Fatal(err)
			}
			if n, _ := b.results.count(); n != 1 {
				t.Error("nothing was saved")
			}
		}},
		// spec: one-save-per-result
		{"a save with a lost response is one save", func(t *testing.T, b *bench) {
			b.results.saveErrs = []error{errLostResponse, errors.New("away")}
			if _, err := b.create(t.Context(), "a", "k"); err != nil {
				t.Fatal(err)
			}
			if n, saves := b.results.count(); n != 1 || saves != 3 {
				t.Errorf("%d results of %d saves", n, saves)
			}
		}},
		{"results that stay away are a 500 after the longest wait", func(t *testing.T, b *bench) {
			for range 1000 {
				b.results.saveErrs = append(b.results.saveErrs, contract.ErrUnavailable)
			}
			started := time.Now()
			_, err := b.create(t.Context(), "a", "")
			if !errors.Is(err, apierr.Internal()) {
				t.Fatal(err)
			}
			if took := time.Since(started); took > 12*time.Second {
				t.Errorf("took %s", took)
			}
		}},
		{"a model-proxy that took nothing is a 503 and saves nothing", func(t *testing.T, b *bench) {
			b.model = func(context.Context, contract.Ask) (contract.Outcome, error) {
				return contract.Outcome{}, contract.ErrUnavailable
			}
			if _, err := b.create(t.Context(), "a", "k"); !errors.Is(err, apierr.Unavailable()) {
				t.Fatal(err)
			}
			if n, _ := b.results.count(); n != 0 {
				t.Error("a result was saved")
			}
		}},
		{"a lost response of model-proxy is a failed result", func(t *testing.T, b *bench) {
			b.model = func(context.Context, contract.Ask) (contract.Outcome, error) {
				return contract.Outcome{}, errors.New("connection reset")
			}
			response, err := b.create(t.Context(), "a", "k")
			if err != nil || !response.Failed {
				t.Fatal(response, err)
			}
		}},
		{"a model-proxy that hangs is a timed-out result just after the wait", func(t *testing.T, b *bench) {
			b.model = func(ctx context.Context, _ contract.Ask) (contract.Outcome, error) {
				<-ctx.Done()
				return contract.Outcome{}, ctx.Err()
			}
			started := time.Now()
			response, err := b.create(t.Context(), "a", "")
			if err != nil || !response.Failed {
				t.Fatal(response, err)
			}
			if took := time.Since(started); took > contract.ModelWait+time.Second {
				t.Errorf("took %s", took)
			}
			if got := b.results.results[resultID(t, response)].Outcome.Error; got != contract.TimeoutText {
				t.Errorf("error %q", got)
			}
		}},
		// spec: wait-limit
		{"waiting for others longer than 35 s is a 503", func(t *testing.T, b *bench) {
			b.locks = lockFunc(func(ctx context.Context, _ string) (lock.Lease, error) {
				<-ctx.Done()
				return nil, lock.ErrTimeout
			})
			started := time.Now()
			if _, err := b.create(t.Context(), "a", "k"); !errors.Is(err, apierr.Unavailable()) {
				t.Fatal(err)
			}
			if took := time.Since(started); took != 35*time.Second {
				t.Errorf("waited %s", took)
			}
		}},
		{"at a stop, a call that waits for a lock is a 503, and a call at the model is finished", func(t *testing.T, b *bench) {
			first := make(chan outcome, 1)
			go func() {
				response, err := b.create(t.Context(), "a", "k")
				first <- outcome{response, err}
			}()
			synctest.Wait()
			time.AfterFunc(time.Millisecond, b.stop)
			if _, err := b.create(t.Context(), "a", "k"); !errors.Is(err, apierr.Unavailable()) {
				t.Error(err)
			}
			if a := <-first; a.err != nil {
				t.Error(a.err)
			}
		}},
		{"results that hang are away, and the model is not asked", func(t *testing.T, b *bench) {
			b.results.hangs = true
			began := time.Now()
			if _, err := b.create(t.Context(), "a", "k"); !errors.Is(err, contract.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(began); took != contract.ResultsWait || b.asked.Load() != 0 {
				t.Errorf("it took %s and %d model calls", took, b.asked.Load())
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test.run(t, newBench(t)) })
		})
	}
}
