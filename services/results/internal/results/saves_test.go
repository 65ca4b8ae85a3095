package results

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: unwritable-store
func TestThreeSavesInARowThatCannotBeWrittenRefuseCalls(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("postgres: save result: %w", store.ErrUnwritable)
	late := fmt.Errorf("postgres: save: %w", context.DeadlineExceeded)
	away := fmt.Errorf("postgres: %w: %w", store.ErrUnavailable, context.DeadlineExceeded)
	for _, tt := range []struct {
		name     string
		outcomes []error
		refused  bool
	}{
		{"no save", nil, false},
		{"two saves fail", []error{full, full}, false},
		{"three saves fail", []error{full, full, full}, true},
		{"saves take too long", []error{late, full, late}, true},
		{"a save between them succeeds", []error{full, full, nil, full, full}, false},
		{"a later save or probe succeeds", []error{full, full, full, full, nil}, false},
		{"the database is away", []error{away, away, away}, false},
		{"a database that is away says nothing", []error{full, away, full, away, full}, true},
		{"a lost race says nothing", []error{full, contract.ErrKeyTaken, full, &store.RetriedError{}, full}, true},
		{"other faults", []error{errors.New("a value"), store.ErrNotFound, errors.New("a value")}, false},
	} {
		var s saves
		for _, err := range tt.outcomes {
			s.note(err)
		}
		if s.refused() != tt.refused {
			t.Errorf("%s: refused is %t", tt.name, s.refused())
		}
	}
}

// spec: unwritable-store
func TestAStoreIsProbedOnlyWhileCallsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var s saves
		var probed atomic.Int32
		var writable atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.probe(ctx, s.refused, func(ctx context.Context) error {
				probed.Add(1)
				if writable.Load() {
					return nil
				}
				<-ctx.Done() // a probe that hangs ends too
				return ctx.Err()
			})
		}()
		<-time.After(time.Minute)
		synctest.Wait()
		if n := probed.Load(); n != 0 {
			t.Errorf("a store that can be written was probed %d times", n)
		}
		for range refuseAfter {
			s.note(store.ErrUnwritable)
		}
		<-time.After(3 * (probeLimit + probeEvery))
		synctest.Wait()
		if n := probed.Load(); n < 2 || !s.refused() {
			t.Errorf("probed %d times, refused is %t", n, s.refused())
		}
		writable.Store(true)
		<-time.After(probeLimit + 2*probeEvery)
		synctest.Wait()
		if s.refused() {
			t.Error("a successful probe changes nothing")
		}
		cancel()
		<-done
	})
}
