package execute_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: retries-at-once
func TestRetry(t *testing.T) {
	t.Parallel()
	failed := func(t *testing.T, b *bench, key string) prism.ResultID {
		t.Helper()
		b.failing(1)
		response, err := b.create(t.Context(), "a", key)
		if err != nil || !response.Failed {
			t.Fatal(response, err)
		}
		return resultID(t, response)
	}
	tests := []struct {
		name string
		run  func(t *testing.T, b *bench)
	}{
		{"of two retries at once one runs and the other names its result", func(t *testing.T, b *bench) {
			id := failed(t, b, "")
			all := atOnce(2, func(int) (contract.Response, error) { return b.retry(t.Context(), id) })
			if all[0].err != nil {
				all[0], all[1] = all[1], all[0]
			}
			if all[0].err != nil || !errors.Is(all[1].err, apierr.AlreadyRetried(resultID(t, all[0].response))) {
				t.Errorf("%v, %v", all[0].err, all[1].err)
			}
			if b.asked.Load() != 2 {
				t.Errorf("%d model calls, want the first and one retry", b.asked.Load())
			}
		}},
		{"a keyed repeat and a retry of its failed result are one race", func(t *testing.T, b *bench) {
			id := failed(t, b, "k")
			all := atOnce(10, func(i int) (contract.Response, error) {
				if i%2 == 0 {
					return b.retry(t.Context(), id)
				}
				return b.create(t.Context(), "a", "k")
			})
			if b.asked.Load() != 2 {
				t.Errorf("%d model calls, want the first and one more", b.asked.Load())
			}
			for i, a := range all {
				if i%2 == 1 && a.err != nil {
					t.Errorf("a repeat got %v", a.err)
				}
			}
		}},
		{"without locks the store lets one retry win and the other names it", func(t *testing.T, b *bench) {
			id := failed(t, b, "")
			b.locks = noLocks{}
			all := atOnce(2, func(int) (contract.Response, error) { return b.retry(t.Context(), id) })
			if all[0].err != nil {
				all[0], all[1] = all[1], all[0]
			}
			if all[0].err != nil || !errors.Is(all[1].err, apierr.AlreadyRetried(resultID(t, all[0].response))) {
				t.Errorf("%v, %v", all[0].err, all[1].err)
			}
		}},
	}
	deleting := func(b *bench, id prism.ResultID) {
		model := b.model
		b.model = func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			b.results.delete(id)
			return model(ctx, a)
		}
	}
	// spec: retry-of-a-deleted-result
	tests = append(tests, []struct {
		name string
		run  func(t *testing.T, b *bench)
	}{
		{"a retry of a result that is deleted meanwhile finds none, at once", func(t *testing.T, b *bench) {
			id := failed(t, b, "k")
			deleting(b, id)
			_, err := b.retry(t.Context(), id)
			if results, saves := b.results.count(); !errors.Is(err, apierr.ResultNotFound()) || results != 0 || saves != 2 {
				t.Errorf("%v, %d results after %d saves", err, results, saves)
			}
		}},
		{"a keyed repeat of a result that is deleted meanwhile is saved with its key", func(t *testing.T, b *bench) {
			deleting(b, failed(t, b, "k"))
			response, err := b.create(t.Context(), "a", "k")
			if err != nil || response.Failed {
				t.Fatal(response, err)
			}
			again, err := b.create(t.Context(), "a", "k")
			if err != nil || string(again.Body) != string(response.Body) || b.asked.Load() != 2 {
				t.Errorf("the repeat got %s %v after %d model calls", again.Body, err, b.asked.Load())
			}
		}},
	}...)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test.run(t, newBench(t)) })
		})
	}
}
