package service_test

import (
	"errors"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The clock of the service of newWorld advances by a millisecond whenever it is read.
// spec: one-clock
func TestALookUpBeforeTheModelHasTheTimeOfTheService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failed := w.save(w.prism(t, "a"))
	failed.Outcome = contract.Outcome{Error: "no"}
	if _, err := w.Save(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	before := time.UnixMilli(w.clock.Load())
	create, err := w.CreateFacts(t.Context(), contract.CreateQuery{Key: w.key, Prism: prism.Ref{Slug: "a"}})
	if err != nil || !create.At.After(before) {
		t.Errorf("a create is at %s, %v, want one after %s", create.At, err, before)
	}
	retry, err := w.RetryFacts(t.Context(), w.key, failed.ID)
	if err != nil || !retry.At.After(create.At) || retry.At.UnixMilli() > w.clock.Load() {
		t.Errorf("a retry is at %s, %v, want one after %s", retry.At, err, create.At)
	}
}

// spec: key-expiry, one-clock
func TestAKeyExpiresByTheClockOfTheService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expires := time.UnixMilli(w.clock.Load()).Add(time.Hour)
	key := w.newKey(t, api.NewKey{Name: "k", ExpiresAt: &expires})
	use := func(at time.Time) error {
		w.clock.Store(at.UnixMilli() - 1)
		_, err := w.ListKeys(t.Context(), key, contract.Page{Limit: 1})
		return err
	}
	if err := use(expires.Add(-time.Millisecond)); err != nil {
		t.Errorf("a millisecond before: %v", err)
	}
	if err := use(expires); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("at that time: %v", err)
	}
}
