package chaos

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/test/internal/load"
)

// A retry of many results outlives the process at every step: it is stored whole or not at all, and each result is retried once. What
// was leased goes on when the lease has ended.
//
// spec: retry-many-once
func TestARetryOfManyGoesOnAfterTheProcessDied(t *testing.T) {
	t.Parallel()
	for _, point := range []crash.Point{crash.InCommit, crash.AfterCommit, crash.AfterLease, crash.BeforeRows, crash.AfterRows} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			retryManyAcross(t, point)
		})
	}
}

func retryManyAcross(t *testing.T, point crash.Point) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	st := standalone(t, false)
	var failed []*crashCase
	for range 5 {
		c := &crashCase{stage: st, kind: kind{failed: true}}
		c.prepare(ctx, t)
		failed = append(failed, c)
	}
	retry := func(more string, value any) load.Reply {
		return st.do(ctx, st.at, http.MethodPost, "/v1/results/retry", map[string]any{"prism": load.Slugs[0], "status": "failed", more: value})
	}
	if err := st.victim.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := st.victim.StartArmed(ctx, point); err != nil {
		t.Fatal(err)
	}
	st.reachable(ctx, t)
	retry("expect", len(failed))
	dying, ended := context.WithTimeout(ctx, toDie)
	defer ended()
	if err := st.victim.Died(dying); err != nil {
		t.Fatal(err)
	}
	if err := st.victim.Start(ctx); err != nil {
		t.Fatal(err)
	}
	st.reachable(ctx, t)
	if point == crash.InCommit {
		if got := retry("expect", len(failed)); got.Status != http.StatusAccepted {
			t.Fatalf("the repeat was answered %s", got)
		}
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var got load.Reply
	for ; string(got.Body) != `{"retrying":0}`; got = retry("dry_run", true) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the retry does not end: %s", got)
		}
	}
	for _, c := range failed {
		after := c.saved(ctx, t, st.next)
		if len(after) != 1 || after[0].Status != "ok" {
			t.Errorf("the retries of %s are %v", c.old, after)
		}
		if n := c.asked(); n < 1 || n > 2 {
			t.Errorf("the model was asked %d times to retry %s", n, c.old)
		}
	}
}
