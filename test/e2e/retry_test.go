package e2e

import (
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestRetry holds which state a retry moves where, and which bodies a retry accepts.
func TestRetry(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: state-retried, retry-result
		t.Run("a retry that succeeds is a new result with its own id", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			failed, script := s.main.refused(t, prism, "ref", "r1")
			script.Then()
			again := s.main.retry(t, failed.ID).ok(t)
			if again.ID == failed.ID {
				t.Error("the retry has the old id")
			}
			wantEqual(t, "the ref", *again.Ref, "r1")
			wantEqual(t, "the prism", again.Prism, prism)
			wantEqual(t, "the state sent", script.Requests()[1].State, script.Requests()[0].State)
			wantEqual(t, "the questions sent", script.Requests()[1].Questions, script.Requests()[0].Questions)
		})
		// spec: state-retried
		t.Run("the old result stays as it was", func(t *testing.T) {
			t.Parallel()
			failed, script := s.main.refused(t, s.main.triage(t))
			before := s.main.read(t, failed.ID, "raw")
			script.Then()
			s.main.retry(t, failed.ID).ok(t)
			s.main.read(t, failed.ID, "raw").wantBody(t, string(before.body))
		})
		// spec: retry-chain
		t.Run("a retry that fails is saved, answers 502 and can be retried once in turn", func(t *testing.T) {
			t.Parallel()
			first, script := s.main.refused(t, s.main.triage(t))
			second := s.main.retry(t, first.ID).failed(t)
			s.main.retry(t, first.ID).wantFail(t, alreadyRetried(second.ID))
			script.Then()
			third := s.main.retry(t, second.ID).ok(t)
			s.main.retry(t, second.ID).wantFail(t, alreadyRetried(third.ID))
			s.main.retry(t, third.ID).wantFail(t, onlyFailed)
			s.main.retry(t, first.ID).wantFail(t, alreadyRetried(second.ID))
		})
		// spec: retry-result
		t.Run("a retry uses the version of the failed result", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, yesNo)
			failed, script := s.main.refused(t, prism)
			s.main.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(twoFields), "questions", raw(triageQuestions))).wantStatus(t, 201)
			script.Then()
			again := s.main.retry(t, failed.ID).ok(t)
			wantEqual(t, "the version", again.Version, 1)
			wantEqual(t, "the number of questions sent", len(script.Requests()[1].Questions), 1)
		})
		// spec: archived-prism-cannot-answer
		t.Run("unarchiving makes results of the prism retryable again", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			failed, script := s.main.refused(t, prism)
			s.main.archive(t, prism)
			s.main.retry(t, failed.ID).wantFail(t, prismArchived)
			s.main.post(t, "/v1/prisms/"+prism+"/unarchive", "").wantStatus(t, 200)
			script.Then()
			s.main.retry(t, failed.ID).ok(t)
		})
		// spec: reads-change-nothing
		t.Run("a read never changes a state", func(t *testing.T) {
			t.Parallel()
			failed, script := s.main.refused(t, s.main.triage(t))
			for range 3 {
				s.main.read(t, failed.ID, "")
			}
			wantEqual(t, "the number of model calls", script.Calls(), 1)
			script.Then()
			s.main.retry(t, failed.ID).ok(t)
		})
		for name, in := range map[string]call{
			// spec: absent-body, retry-body
			"no body": {},
			// spec: retry-body
			"plain text": {body: "hello {", contentType: "text/plain"},
		} {
			t.Run("a retry with "+name+" is accepted and the body ignored", func(t *testing.T) {
				t.Parallel()
				failed, script := s.main.refused(t, s.fill(t, "{one}"))
				script.Then(model.Likely())
				in.method, in.path = "POST", "/v1/results/"+failed.ID+"/retry"
				s.main.do(t, in).ok(t)
			})
		}
		for name, body := range map[string]string{
			// spec: retry-body
			"half an object": `{"a":`,
		} {
			t.Run("a retry with "+name+" is malformed", func(t *testing.T) {
				t.Parallel()
				s.main.post(t, s.fill(t, "/v1/results/{one_failed}/retry"), body).wantFail(t, malformed)
			})
		}
	}, spread)
}
