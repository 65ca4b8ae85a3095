package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// areRetried waits until no failed result of a prism is left.
func (c *client) areRetried(t *testing.T, prism string) {
	t.Helper()
	const want = `{"retrying":0}`
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		r := c.retryMany(t, prism, `"dry_run":true`)
		if string(r.body) == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got %s, want %s", r.body, want)
		}
	}
}

func (c *client) retryMany(t *testing.T, prism, more string) reply {
	t.Helper()
	return c.post(t, "/v1/results/retry", fmt.Sprintf(`{"prism":%q,"status":"failed",%s}`, prism, more))
}

// TestRetryMany holds the retry of all failed results of a prism.
func TestRetryMany(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: retry-many, retry-many-count, retry-many-once, retry-many-answers
		t.Run("failed results are retried once, if they are as many as the caller says", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.triage(t)
			failed, script := own.refused(t, prism, "idempotency_key", "k", "ref", "r1")
			other, otherScript := own.refused(t, prism)
			own.create(t, prism, text("fine")).ok(t)
			script.Then()
			otherScript.Then()
			own.retryMany(t, prism, `"dry_run":true`).wantBody(t, `{"retrying":2}`)
			own.retryMany(t, prism, `"expect":3`).wantFail(t, fail{409, "conflict", "2 results match now."})
			own.retryMany(t, prism, `"expect":0,"to":"2026-01-01T00:00:00Z"`).wantStatus(t, 202)
			r := own.retryMany(t, prism, `"expect":2`)
			r.wantStatus(t, 202)
			r.wantBody(t, `{"retrying":2}`)
			own.areRetried(t, prism)
			wantEqual(t, "the calls of the model", script.Calls()+otherScript.Calls(), 4)
			for _, old := range []string{failed.ID, other.ID} {
				own.retry(t, old).wantStatus(t, 409)
			}
			page := string(own.get(t, "/v1/results?ref=r1&status=ok").body)
			if strings.Count(page, `"id":`) != 1 {
				t.Errorf("got %s", page)
			}
			own.retryMany(t, "none", `"expect":0`).wantFail(t, noPrism)
		})
		// spec: retry-many-of-runs
		t.Run("the failed rows of a run are retried as results of their rows", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			script := s.model.Script(model.Status(400), model.Likely())
			prism, f := own.prism(t, oneField, yesNo), own.upload(t, "csv", "text\r\nfine\r\n"+script.Tag+"\r\n")
			path := "/v1/runs/" + own.runFile(t, prism, f.ID, `,"pause_at_failures":1`).run(t, 201).ID
			if done := own.follow(t, strings.TrimPrefix(path, "/v1/runs/")); done.Failed != 1 {
				t.Errorf("got %+v", done)
			}
			own.retryMany(t, prism, `"expect":1`).wantStatus(t, 202)
			own.areRetried(t, prism)
			if done := own.get(t, path).run(t, 200); done.OK != 2 || done.Failed != 0 {
				t.Errorf("got %+v", done)
			}
		})
	})
}
