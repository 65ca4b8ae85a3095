package execute_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (f *fakeResults) Authorize(context.Context, contract.KeyDigest, contract.Operation) error {
	if f.revoked {
		return apierr.RoleNotAllowed()
	}
	return nil
}

func (b *bench) check(ctx context.Context, name string) (contract.Response, error) {
	return b.CheckModel(ctx, contract.KeyDigest{1}, name)
}

// spec: model-check, try-counts, limit-of-results
func TestACheckCountsWhatItUsed(t *testing.T) {
	t.Parallel()
	const found = `{"name":"fast","ok":true,"took_ms":0,"checks":[{"part":"reached","status":"ok","text":"the host answers","write":null}]}`
	for name, check := range map[string]func(*testing.T, *bench){
		"what was found is the answer, and what was used counts": func(t *testing.T, b *bench) {
			response, err := b.check(t.Context(), "fast")
			if err != nil || string(response.Body) != found || response.Failed {
				t.Error(string(response.Body), err)
			}
			want := contract.Try{
				Account: b.results.account, Key: prism.KeyID{UUID: prism.UUID{8}}, Definition: version.Definition, Outcome: okOutcome,
			}
			if len(b.results.tries) != 1 || !reflect.DeepEqual(b.results.tries[0], want) || b.results.saves != 0 || b.quota.taken.Load() != 1 {
				t.Errorf("%+v, %d saves, %d results of the day", b.results.tries, b.results.saves, b.quota.taken.Load())
			}
		},
		"a model that fails counts too": func(t *testing.T, b *bench) {
			b.failing(1)
			response, err := b.check(t.Context(), "fast")
			if err != nil || response.Failed || len(b.results.tries) != 1 || !b.results.tries[0].Outcome.Failed() {
				t.Error(response, err, b.results.tries)
			}
		},
		"a caller that left cancels nothing": func(t *testing.T, b *bench) {
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(500*time.Millisecond, leave)
			if _, err := b.check(ctx, "fast"); err != nil || len(b.results.tries) != 1 {
				t.Error(err, b.results.tries)
			}
		},
		"a model that is not configured counts nothing": func(t *testing.T, b *bench) {
			if _, err := b.check(t.Context(), "other"); !errors.Is(err, apierr.ModelNotFound()) || len(b.results.tries) != 0 || b.quota.taken.Load() != 0 {
				t.Error(err, b.results.tries, b.quota.taken.Load())
			}
		},
		"a model that is being checked counts nothing": func(t *testing.T, b *bench) {
			b.model = func(context.Context, contract.Ask) (contract.Outcome, error) {
				return contract.Outcome{}, contract.ErrUnavailable
			}
			if _, err := b.check(t.Context(), "fast"); !errors.Is(err, contract.ErrUnavailable) || len(b.results.tries) != 0 || b.quota.taken.Load() != 0 {
				t.Error(err, b.results.tries, b.quota.taken.Load())
			}
		},
		"what was not taken is sent again": func(t *testing.T, b *bench) {
			b.results.tryErrs = []error{contract.ErrUnavailable}
			if _, err := b.check(t.Context(), "fast"); err != nil || len(b.results.tries) != 2 || b.asked.Load() != 1 {
				t.Error(err, len(b.results.tries), b.asked.Load())
			}
		},
		"nobody is asked for a key that may not": func(t *testing.T, b *bench) {
			b.results.revoked = true
			if _, err := b.check(t.Context(), "fast"); !errors.Is(err, apierr.RoleNotAllowed()) || b.asked.Load() != 0 {
				t.Error(err, b.asked.Load())
			}
		},
		"nobody is asked while what a check used could not be counted": func(t *testing.T, b *bench) {
			b.results.unwritable = true
			if _, err := b.check(t.Context(), "fast"); !errors.Is(err, apierr.Unavailable()) || b.asked.Load() != 0 {
				t.Error(err, b.asked.Load())
			}
		},
		"one above the results of the day does not ask": func(t *testing.T, b *bench) {
			b.quota.limit.Store(0)
			if _, err := b.check(t.Context(), "fast"); !errors.Is(err, apierr.Unavailable()) || b.asked.Load() != 0 {
				t.Error(err, b.asked.Load())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { check(t, newBench(t)) })
		})
	}
}
