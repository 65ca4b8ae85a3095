package runs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
)

// spec: row-waits
func TestARowThatIsNotTakenIsTriedAgain(t *testing.T) {
	for name, err := range map[string]error{
		"no place at the model":  contract.ErrUnavailable,
		"model-proxy is away":    apierr.Unavailable(),
		"something else":         errors.New("a bug"),
		"a limit of the account": apierr.UnavailableFor(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				s.add(1, 1, "", contract.RowLimits{}, 20)
				from := time.Now().Add(30 * time.Second)
				rows := &answerer{do: func(_ context.Context, _ contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
					if time.Now().Before(from) {
						return contract.RowOutcome{}, err
					}
					return okRow(row), nil
				}}
				w := start(t, s, rows, Config{})
				pass(29 * time.Second)
				if _, began := rows.count(); began < 6 || began > 150 {
					t.Errorf("%d tries in 29 s", began)
				}
				if over, leases := s.over(); over != 0 || leases != 1 {
					t.Errorf("%d rows are over, %d leases", over, leases)
				}
				pass(10 * time.Second)
				if over, leases := s.over(); over != 20 || leases != 0 {
					t.Errorf("%d rows are over, %d leases", over, leases)
				}
				w.stop()
			})
		})
	}
}

// spec: row-waits
func TestAPanicIsARowThatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, 1, "", contract.RowLimits{}, 5)
		var panics atomic.Bool
		panics.Store(true)
		rows := &answerer{do: func(_ context.Context, _ contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
			if panics.Load() && row.Row == 3 {
				panic("a value")
			}
			return okRow(row), nil
		}}
		w := start(t, s, rows, Config{})
		pass(time.Second)
		if over, _ := s.over(); over != 4 {
			t.Errorf("%d rows are over", over)
		}
		panics.Store(false)
		pass(10 * time.Second)
		if over, _ := s.over(); over != 5 {
			t.Errorf("%d rows are over", over)
		}
		w.stop()
	})
}
