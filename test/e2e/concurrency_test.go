package e2e

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// atOnce sends the calls together and lets the model answer when all have been written.
func (s *stack) atOnce(t *testing.T, script *model.Script, then model.Step, calls ...call) []reply {
	t.Helper()
	release, before := make(chan struct{}), script.Calls()
	script.Then(model.Hold(release, then))
	var written sync.WaitGroup
	written.Add(len(calls))
	pending := make([]<-chan outcome, len(calls))
	for i, in := range calls {
		in.sent = sync.OnceFunc(written.Done)
		pending[i] = s.main.start(t, in)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	written.Wait()
	if err := script.Await(ctx, before+1); err != nil {
		t.Error(err)
	}
	close(release)
	replies := make([]reply, len(calls))
	for i := range pending {
		replies[i] = await(t, pending[i])
	}
	return replies
}

// startAndLeave sends a call and returns a function that disconnects the client.
func (c *client) startAndLeave(t *testing.T, in call) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := c.request(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		own := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		if resp, err := own.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}()
	return func() { cancel(); <-gone }
}

// TestConcurrency holds the rules of concurrent calls. test/chaos proves the rules under faults.
func TestConcurrency(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		repeat := func(in call, n int) (calls []call) {
			for range n {
				calls = append(calls, in)
			}
			return calls
		}
		// spec: same-key-at-once
		t.Run("the same key at once is one model call and one result", func(t *testing.T) {
			t.Parallel()
			prism, script := s.main.triage(t), s.model.Script()
			in := call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag, "idempotency_key", newKey())}
			replies := s.atOnce(t, script, model.Likely(), repeat(in, 6)...)
			for _, r := range replies {
				r.ok(t)
				r.wantBody(t, string(replies[0].body))
			}
			wantEqual(t, "the number of model calls", script.Calls(), 1)
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 1)
		})
		// spec: retries-at-once
		t.Run("of retries at once one runs and the others name it", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			failed, script := s.main.refused(t, prism)
			in := call{method: "POST", path: "/v1/results/" + failed.ID + "/retry"}
			replies := s.atOnce(t, script, model.Likely(), repeat(in, 4)...)
			var winner result
			for _, r := range replies {
				if r.status == 200 {
					winner = r.ok(t)
				}
			}
			for _, r := range replies {
				if r.status != 200 {
					r.wantFail(t, alreadyRetried(winner.ID))
				}
			}
			wantEqual(t, "the number of model calls", script.Calls(), 2)
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 2)
		})
	})
}
