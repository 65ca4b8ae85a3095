package execute_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (f *fakeResults) TryFacts(ctx context.Context, _ contract.KeyDigest) (contract.TryFacts, error) {
	if f.hangs {
		<-ctx.Done()
		return contract.TryFacts{}, ctx.Err()
	}
	if f.revoked {
		return contract.TryFacts{}, apierr.RoleNotAllowed()
	}
	return contract.TryFacts{Account: f.account, Key: prism.KeyID{UUID: prism.UUID{8}}, Unwritable: f.unwritable}, nil
}

func (f *fakeResults) FinishTry(ctx context.Context, t contract.Try) (contract.Response, error) {
	f.tries = append(f.tries, t)
	if len(f.tryErrs) > 0 {
		err := f.tryErrs[0]
		f.tryErrs = f.tryErrs[1:]
		return contract.Response{}, err
	}
	return contract.Response{Body: []byte("{}"), Failed: t.Outcome.Failed()}, ctx.Err()
}

func (b *bench) try(ctx context.Context) (contract.Response, error) {
	text := "hello"
	return b.Try(ctx, contract.KeyDigest{1}, api.NewTry{
		Definition: version.Definition, Lens: &prism.Lens{}, Text: &text, Context: "c",
	})
}

// spec: try, try-counts, limit-of-results
func TestATryAsksTheModelAndSavesNothing(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(*testing.T, *bench){
		"the model gets the definition, the fields and the context": func(t *testing.T, b *bench) {
			ask := b.model
			b.model = func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
				want := contract.Ask{Definition: version.Definition, Fields: []prism.FieldValue{{Key: "text", Value: "hello"}}, Context: "c"}
				if !reflect.DeepEqual(a, want) {
					t.Errorf("asked %+v", a)
				}
				return ask(ctx, a)
			}
			response, err := b.try(t.Context())
			if err != nil || response.Failed {
				t.Error(response, err)
			}
			want := contract.Try{
				Account: b.results.account, Key: prism.KeyID{UUID: prism.UUID{8}}, Definition: version.Definition,
				Lens: &prism.Lens{}, Outcome: okOutcome,
			}
			if len(b.results.tries) != 1 || !reflect.DeepEqual(b.results.tries[0], want) || b.results.saves != 0 ||
				b.quota.taken.Load() != 1 {
				t.Errorf("%+v, %d saves, %d results of the day", b.results.tries, b.results.saves, b.quota.taken.Load())
			}
		},
		"a model that fails is told, and counts": func(t *testing.T, b *bench) {
			b.failing(1)
			response, err := b.try(t.Context())
			if err != nil || !response.Failed || b.quota.taken.Load() != 1 {
				t.Error(response, err, b.quota.taken.Load())
			}
		},
		"a caller that left cancels nothing": func(t *testing.T, b *bench) {
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(500*time.Millisecond, leave)
			if _, err := b.try(ctx); err != nil || len(b.results.tries) != 1 {
				t.Error(err, b.results.tries)
			}
		},
		"what was not taken is sent again": func(t *testing.T, b *bench) {
			b.results.tryErrs = []error{contract.ErrUnavailable, contract.ErrUnavailable}
			if _, err := b.try(t.Context()); err != nil || len(b.results.tries) != 3 || b.asked.Load() != 1 {
				t.Error(err, len(b.results.tries), b.asked.Load())
			}
		},
		"what may have been counted is not": func(t *testing.T, b *bench) {
			b.results.tryErrs = []error{errLostResponse}
			if _, err := b.try(t.Context()); !errors.Is(err, errLostResponse) || len(b.results.tries) != 1 {
				t.Error(err, len(b.results.tries))
			}
		},
		"results that stay away are a 500": func(t *testing.T, b *bench) {
			for range 1000 {
				b.results.tryErrs = append(b.results.tryErrs, contract.ErrUnavailable)
			}
			var refused *apierr.Error
			if _, err := b.try(t.Context()); !errors.As(err, &refused) || refused.Status != http.StatusInternalServerError {
				t.Error(err)
			}
		},
		"nobody is asked for a key that may not": func(t *testing.T, b *bench) {
			b.results.revoked = true
			if _, err := b.try(t.Context()); !errors.Is(err, apierr.RoleNotAllowed()) || b.asked.Load() != 0 {
				t.Error(err, b.asked.Load())
			}
		},
		"a look-up that hangs is a 503": func(t *testing.T, b *bench) {
			b.results.hangs = true
			if _, err := b.try(t.Context()); !errors.Is(err, contract.ErrUnavailable) || b.asked.Load() != 0 {
				t.Error(err, b.asked.Load())
			}
		},
		"one above the results of the day does not ask": func(t *testing.T, b *bench) {
			b.quota.limit.Store(0)
			if _, err := b.try(t.Context()); !errors.Is(err, apierr.Unavailable()) || b.asked.Load() != 0 {
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
