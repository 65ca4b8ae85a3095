package execute_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/gateway/internal/lock"
)

// spec: same-key-at-once, key-revocation
func TestACreateCallOfAKnownAccountLocksBeforeItLooksUp(t *testing.T) {
	t.Parallel()
	known := func(t *testing.T) *bench {
		t.Helper()
		b := newBench(t)
		if _, err := b.create(t.Context(), "a", "first"); err != nil {
			t.Fatal(err)
		}
		b.results.lookUps = 0
		b.asked.Store(0)
		return b
	}
	// running starts a call that is at the model, and takes one second there.
	running := func(t *testing.T, b *bench, key string) <-chan outcome {
		t.Helper()
		first := make(chan outcome, 1)
		go func() {
			response, err := b.create(t.Context(), "a", key)
			first <- outcome{response, err}
		}()
		synctest.Wait()
		if b.asked.Load() != 1 {
			t.Fatalf("%d calls at the model", b.asked.Load())
		}
		return first
	}
	// immediate makes a call that must not wait.
	immediate := func(t *testing.T, b *bench, slug, key string) outcome {
		t.Helper()
		began := time.Now()
		response, err := b.create(t.Context(), slug, key)
		if took := time.Since(began); took != 0 {
			t.Errorf("waited %s", took)
		}
		return outcome{response, err}
	}
	tests := []struct {
		name string
		run  func(t *testing.T, b *bench)
	}{
		{"a first call looks up once, under the lock", func(t *testing.T, b *bench) {
			first := running(t, b, "k")
			if b.results.lookUps != 1 {
				t.Errorf("%d look-ups", b.results.lookUps)
			}
			account := b.results.account.String()
			if _, err := b.locks.TryAcquire(t.Context(), "key/"+account+"/k"); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("the lock: %v", err)
			}
			if o := <-first; o.err != nil || b.results.lookUps != 1 {
				t.Errorf("%v, %d look-ups", o.err, b.results.lookUps)
			}
		}},
		{"an API key that was not seen before looks up before it locks", func(t *testing.T, b *bench) {
			other := contract.KeyDigest{1}
			if _, err := b.Create(t.Context(), b.done, other, call("a", "k")); err != nil || b.results.lookUps != 2 {
				t.Errorf("%v, %d look-ups", err, b.results.lookUps)
			}
		}},
		{"an API key without an account takes no lock", func(t *testing.T, b *bench) {
			b.results.revoked = true
			b.locks = nil // a call would panic
			for range 2 {
				_, err := b.Create(t.Context(), b.done, contract.KeyDigest{1}, call("a", "k"))
				if !errors.Is(err, apierr.InvalidAPIKey()) {
					t.Errorf("got %v", err)
				}
			}
		}},
		{"a stored ok result is returned at once while another call holds the lock", func(t *testing.T, b *bench) {
			account := b.results.account.String()
			if _, err := b.locks.TryAcquire(t.Context(), "key/"+account+"/first"); err != nil {
				t.Fatal(err)
			}
			if o := immediate(t, b, "a", "first"); o.err != nil || b.results.lookUps != 1 {
				t.Errorf("%v, %d look-ups", o.err, b.results.lookUps)
			}
		}},
		{"a refused call does not wait for a running one", func(t *testing.T, b *bench) {
			first := running(t, b, "k")
			if o := immediate(t, b, "unknown", "k"); !errors.Is(o.err, apierr.PrismNotFound()) {
				t.Errorf("an unknown prism: %v", o.err)
			}
			b.results.revoked = true
			if o := immediate(t, b, "a", "k"); !errors.Is(o.err, apierr.InvalidAPIKey()) {
				t.Errorf("a revoked API key: %v", o.err)
			}
			if o := <-first; o.err != nil {
				t.Errorf("the running call: %v", o.err)
			}
		}},
		{"a call that needs no model frees the lock", func(t *testing.T, b *bench) {
			immediate(t, b, "a", "first")
			immediate(t, b, "b", "first")
			immediate(t, b, "unknown", "first")
			b.results.revoked = true
			immediate(t, b, "a", "first")
			b.results.revoked = false
			account := b.results.account.String()
			if _, err := b.locks.TryAcquire(t.Context(), "key/"+account+"/first"); err != nil {
				t.Error(err)
			}
		}},
		{"without locks a first call looks up before and after it tried to lock", func(t *testing.T, b *bench) {
			b.locks = noLocks{}
			if _, err := b.create(t.Context(), "a", "k"); err != nil || b.results.lookUps != 2 {
				t.Errorf("%v, %d look-ups", err, b.results.lookUps)
			}
		}},
		{"of calls at once one goes to the model", func(t *testing.T, b *bench) {
			all := atOnce(20, func(int) (contract.Response, error) { return b.create(t.Context(), "a", "k") })
			for _, o := range all {
				if o.err != nil || string(o.response.Body) != string(all[0].response.Body) {
					t.Fatalf("got %s, %v", o.response.Body, o.err)
				}
			}
			if b.asked.Load() != 1 {
				t.Errorf("%d model calls", b.asked.Load())
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test.run(t, known(t)) })
		})
	}
}
