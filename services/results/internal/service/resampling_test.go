package service

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: fair-shares
func TestAccountsTakeTurnsToResample(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMeasures()
		var mu sync.Mutex
		var order []byte
		resample := func(account byte) error {
			_, err := resampleInTurn(t.Context(), m, prism.AccountID{UUID: prism.UUID{account}}, func() (any, error) {
				mu.Lock()
				order = append(order, account)
				mu.Unlock()
				<-time.After(time.Second) // of the bubble's clock
				return nil, nil
			})
			return err
		}
		var calls sync.WaitGroup
		begin := func(accounts ...byte) {
			for _, a := range accounts {
				calls.Go(func() {
					if err := resample(a); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
			}
		}
		begin('a', 'a', 'a', 'a', 'b', 'b', 'c')
		calls.Wait()
		if want := "abcabaa"; string(order) != want {
			t.Errorf("resampled for %s, want %s", order, want)
		}
		if len(m.turns) != 0 {
			t.Errorf("%d turns are left", len(m.turns))
		}
	})
}

func TestWhoCannotWaitForResamplingGetsA503(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMeasures()
		release := make(chan struct{})
		go func() {
			_, _ = resampleInTurn(t.Context(), m, prism.AccountID{}, func() (any, error) { <-release; return nil, nil })
		}()
		synctest.Wait()
		for _, account := range []prism.AccountID{{}, {UUID: prism.UUID{1}}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := resampleInTurn(ctx, m, account, func() (any, error) { t.Error("it computes"); return nil, nil })
			cancel()
			if !errors.Is(err, contract.ErrUnavailable) {
				t.Error(err)
			}
		}
		close(release)
		synctest.Wait()
		if len(m.turns) != 0 {
			t.Errorf("%d turns are left", len(m.turns))
		}
	})
}
