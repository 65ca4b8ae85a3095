package execute_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: one-clock
func TestAnIDBeginsWithTheTimeOfTheLastLookUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.failing(1)
		began := time.Now()
		all := atOnce(2, func(int) (contract.Response, error) { return b.create(t.Context(), "a", "k") })
		first, second := resultID(t, all[0].response), resultID(t, all[1].response)
		if first.UUID[15] > second.UUID[15] {
			first, second = second, first
		}
		// The second call waited for the lock until the first had failed, and then looked up again.
		b.beganAt(t, first, began)
		b.beganAt(t, second, time.Now().Add(-time.Second))
		b.model = func(context.Context, contract.Ask) (contract.Outcome, error) {
			return contract.Outcome{Error: "no"}, nil
		}
		failed, err := b.create(t.Context(), "a", "other")
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		retried, err := b.retry(t.Context(), resultID(t, failed))
		if err != nil {
			t.Fatal(err)
		}
		b.beganAt(t, resultID(t, retried), time.Now())
	})
}

func (b *bench) beganAt(t *testing.T, id prism.ResultID, want time.Time) {
	t.Helper()
	if at, ok := b.began.Load(id.UUID[15]); !ok || !want.Equal(at.(time.Time)) {
		t.Errorf("the id begins with %v, want %s", at, want)
	}
}
