package ask

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// spec: calls-of-a-result
func TestQuestionsThatNeedTooManyCallsAreNotAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ calls, later int }{{512, 0}, {513, 0}, {500, 12}, {500, 13}} {
		var asked atomic.Int64
		calls := make([]provider.Call, c.calls)
		for i := range calls {
			calls[i] = provider.Call{Questions: []prism.Question{{Key: fmt.Sprint("q", i), Type: prism.YesNo}}}
			calls[i].Do = func(ctx context.Context) (provider.Reply, *upstream.Fault) {
				asked.Add(1)
				return yes(0)(ctx)
			}
		}
		calls[0].Later = c.later
		s := one(provider.Provider{Name: "fake", Calls: func(contract.Ask) []provider.Call { return calls }}, Config{})
		v := ask(t, s)
		if c.calls+c.later <= 512 {
			if v.Failed() || int(asked.Load()) != c.calls {
				t.Errorf("%+v: %d calls, %s", c, asked.Load(), v.Error)
			}
			continue
		}
		if v.Error != "The model would need 513 calls for these questions, and makes at most 512." || v.Code != prism.CodeNoUsableAnswer ||
			asked.Load() != 0 || v.Call.Tries != 0 || strings.Contains(v.Error, "q0") {
			t.Errorf("%+v: %d calls, %+v", c, asked.Load(), v)
		}
	}
}
