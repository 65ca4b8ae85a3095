package e2e

import (
	"net/http"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestIdempotency holds the rules of idempotency keys, one call after another. TestConcurrency has concurrent calls.
func TestIdempotency(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: repeat-of-an-ok-result
		t.Run("a repeated key returns the stored result and asks no model", func(t *testing.T) {
			t.Parallel()
			prism, script, key := s.main.triage(t), s.model.Script(), newKey()
			first := s.main.create(t, prism, text(script.Tag, "idempotency_key", key, "ref", "r1"))
			second := s.main.create(t, prism, text(script.Tag, "idempotency_key", key))
			first.ok(t)
			second.wantStatus(t, 200)
			second.wantBody(t, string(first.body))
			wantEqual(t, "the number of model calls", script.Calls(), 1)
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 1)
		})
		// spec: idempotency-header, repeat-of-an-ok-result
		t.Run("the header is the key, and tells of a repeat", func(t *testing.T) {
			t.Parallel()
			prism, script, key := s.main.triage(t), s.model.Script(), newKey()
			send := func(body string, keys ...string) reply {
				return s.main.do(t, call{path: "/v1/prisms/" + prism + "/results", body: body, header: http.Header{"Idempotency-Key": keys}})
			}
			replayed := func(r reply, want ...string) {
				t.Helper()
				if got := r.header.Values("Idempotent-Replayed"); !slices.Equal(got, want) {
					t.Errorf("Idempotent-Replayed: %q, want %q", got, want)
				}
			}
			first := send(text(script.Tag), key)
			first.ok(t)
			replayed(first)
			for _, body := range []string{text(script.Tag), text(script.Tag, "idempotency_key", key)} {
				again := send(body, key)
				again.wantBody(t, string(first.body))
				replayed(again, "true")
			}
			replayed(s.main.create(t, prism, text(script.Tag, "idempotency_key", key)), "true")
			wantEqual(t, "the number of model calls", script.Calls(), 1)
			send(text("x", "idempotency_key", key), key+"x").wantFail(t, invalid("idempotency_key: differs from the Idempotency-Key header"))
			send(text("x"), key, key).wantFail(t, invalid("idempotency_key: sent more than once"))
			failed, script := s.main.refused(t, prism)
			replayed(s.main.retry(t, failed.ID))
			script.Then()
			replayed(send(text(script.Tag)))
		})
		// spec: repeat-of-an-ok-result
		t.Run("a stored success does not look at the repeat's version, fields or size", func(t *testing.T) {
			t.Parallel()
			prism, key := s.main.triage(t), newKey()
			first := s.main.create(t, prism, text("x", "idempotency_key", key))
			for _, body := range []string{
				text("y", "idempotency_key", key, "version", 99, "ref", "other", "context", "other"),
				object("fields", raw(`{}`), "idempotency_key", key),
				object("fields", raw(`{"nothing":"x"}`), "idempotency_key", key),
				text(manyTokens, "idempotency_key", key),
			} {
				s.main.create(t, prism, body).wantBody(t, string(first.body))
			}
		})
		t.Run("a repeat has the format that it asks for", func(t *testing.T) {
			t.Parallel()
			prism, key := s.main.triage(t), newKey()
			first := s.main.create(t, prism, text("x", "idempotency_key", key)).ok(t)
			for _, format := range []string{"raw", "csv", "tsv", "jsonl"} {
				r := s.main.post(t, "/v1/prisms/"+prism+"/results?format="+format, text("x", "idempotency_key", key))
				r.wantStatus(t, 200)
				r.wantBody(t, string(s.main.read(t, first.ID, format).body))
			}
		})
		// spec: repeat-of-a-failed-result, repeat-keeps-what-was-stored
		t.Run("a stored failure is retried with its stored fields, context, ref and version", func(t *testing.T) {
			t.Parallel()
			prism, key := s.main.prism(t, oneField, yesNo), newKey()
			failed, script := s.main.refused(t, prism, "idempotency_key", key, "ref", "r1", "context", "c1")
			s.main.post(t, "/v1/prisms/"+prism+"/versions", object("fields", raw(twoFields), "questions", raw(triageQuestions))).wantStatus(t, 201)
			script.Then()
			again := s.main.create(t, prism, object("fields", raw(`{"other":"y"}`), "idempotency_key", key, "version", 99, "ref", "r2", "context", "c2")).ok(t)
			if again.ID == failed.ID {
				t.Error("the retry has the old id")
			}
			wantEqual(t, "the version", again.Version, 1)
			wantEqual(t, "the ref", *again.Ref, "r1")
			requests := script.Requests()
			wantEqual(t, "the number of model calls", len(requests), 2)
			wantEqual(t, "the state sent", requests[1].State, requests[0].State)
			wantEqual(t, "the context sent", requests[1].Field("context"), "c1")
			s.main.retry(t, failed.ID).wantFail(t, alreadyRetried(again.ID))
		})
		// spec: key-moves-to-the-retry
		t.Run("the key moves along a chain of failures", func(t *testing.T) {
			t.Parallel()
			prism, key := s.main.triage(t), newKey()
			first, script := s.main.refused(t, prism, "idempotency_key", key)
			second := s.main.create(t, prism, text(script.Tag, "idempotency_key", key)).failed(t)
			third := s.main.create(t, prism, text(script.Tag, "idempotency_key", key)).failed(t)
			script.Then()
			last := s.main.create(t, prism, text(script.Tag, "idempotency_key", key)).ok(t)
			for _, pair := range [][2]string{{first.ID, second.ID}, {second.ID, third.ID}, {third.ID, last.ID}} {
				s.main.retry(t, pair[0]).wantFail(t, alreadyRetried(pair[1]))
			}
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 4)
		})
		// spec: idempotency-key, key-scope
		t.Run("two accounts may use the same key", func(t *testing.T) {
			t.Parallel()
			key := newKey()
			first := s.main.create(t, s.main.triage(t), text("x", "idempotency_key", key)).ok(t)
			second := s.other.create(t, s.other.triage(t), text("x", "idempotency_key", key)).ok(t)
			if first.ID == second.ID {
				t.Error("one result for two accounts")
			}
		})
		// spec: client-disconnect
		t.Run("a client that goes away does not cancel its call", func(t *testing.T) {
			t.Parallel()
			prism, release, key := s.main.triage(t), make(chan struct{}), newKey()
			script := s.model.Script(model.Hold(release, model.Likely()))
			body := text(script.Tag, "idempotency_key", key)
			leave := s.main.startAndLeave(t, call{path: "/v1/prisms/" + prism + "/results", body: body})
			if err := script.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			leave()
			close(release)
			// The repeat waits for the first call, or finds the saved result of the first call.
			s.main.create(t, prism, body).ok(t)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 1)
		})
	}, spread)
}
