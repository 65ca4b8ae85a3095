package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestModel holds the model call with the systemone provider. The suite of services/model-proxy holds every provider.
// spec: probability-checks, one-unusable-answer-fails-the-result, error-texts, model-wait, model-wait-is-hard,
// upstream-retries, retry-after, result-status
func TestModel(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: instructions, create-members, provider-systemone
		t.Run("one call carries the fields as an object, the context and every question", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, twoFields, triageQuestions, "instructions", "Answer for a bank.")
			script := s.model.Script()
			s.main.create(t, prism, object("fields", map[string]string{"message": script.Tag, "subject": "s"}, "context", "the context")).ok(t)
			wantEqual(t, "the number of calls", script.Calls(), 1)
			r := script.Requests()[0]
			wantEqual(t, "the key", r.Header.Get("Authorization"), "Bearer "+launch.ModelKey)
			wantEqual(t, "the model", r.Model, launch.ModelName)
			wantEqual(t, "the message", r.Field("message"), script.Tag)
			wantEqual(t, "the subject", r.Field("subject"), "s")
			wantEqual(t, "the context", r.Field("context"), "the context")
			if !strings.Contains(string(r.Raw), "Answer for a bank.") {
				t.Error("the instructions are not sent")
			}
			var shape []string
			for _, q := range r.Questions {
				shape = append(shape, fmt.Sprint(q.ID, " ", q.Type, " ", q.Names))
				if q.Instructions == "" {
					t.Errorf("question %s has no text", q.ID)
				}
			}
			wantEqual(t, "the questions", shape, []string{
				"intent choice [card transfer insufficient_information]", "urgent noul []", "mood score [Calm Upset Angry]",
			})
			criteria := string(r.Questions[0].Criteria)
			for _, part := range []string{"Card, lost or stolen", "The card is gone", "Transfer", "Insufficient information"} {
				if !strings.Contains(criteria, part) {
					t.Errorf("criteria without %q: %s", part, criteria)
				}
			}
		})
		// spec: took-ms
		t.Run("took_ms is how long the model took", func(t *testing.T) {
			t.Parallel()
			script := s.model.Script(model.After(300*time.Millisecond, model.Likely()))
			took := s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t).TookMS
			if took < 300 || took > 10_000 {
				t.Errorf("took_ms is %d", took)
			}
		})
		unusable(t, s)
		refusals(t, s)
		waits(t, s)
	})
}

// unusable are responses without a usable answer. The suite of services/model-proxy has every form of them.
func unusable(t *testing.T, s *stack) {
	t.Helper()
	for name, c := range map[string]struct {
		step  model.Step
		want  string
		calls int
	}{
		// spec: probability-checks, one-unusable-answer-fails-the-result
		"a refusal of one question": {
			model.Answer(model.Answers{"urgent": model.Raw(`{"type":"refusal","refusal":"` + model.BodyMark + `"}`)}),
			"The model gave no usable answer to question urgent.", 1,
		},
		// spec: unreadable-replies
		"a body that is not JSON": {model.Body("<html>" + model.BodyMark), "The model service did not answer in JSON.", 2},
		// spec: errors-in-a-200
		"an error with the status 200": {
			model.Body(`{"error":{"message":"` + model.BodyMark + `","type":"insufficient_quota","code":429}}`), "The model service has no balance left.", 1,
		},
	} {
		t.Run(name+" fails the result", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, yesNo)
			script := s.model.Script(c.step)
			failed := s.main.create(t, prism, text(script.Tag)).failed(t)
			wantEqual(t, "the error", *failed.Error, c.want)
			wantEqual(t, "the number of calls", script.Calls(), c.calls)
		})
	}
}

// refusals are error statuses of the model.
func refusals(t *testing.T, s *stack) {
	t.Helper()
	t.Run("a 400 of the model is a refusal and not tried again", func(t *testing.T) {
		t.Parallel()
		script := s.model.Script(model.Status(400))
		failed := s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).failed(t)
		wantEqual(t, "the error", *failed.Error, "The model service refused the call (status 400).")
		wantEqual(t, "the number of calls", script.Calls(), 1)
	})
	// spec: upstream-retries, one-owner-of-retries
	t.Run("a status that may pass and a connection that breaks are tried again", func(t *testing.T) {
		t.Parallel()
		script := s.model.Script(model.Status(503), model.Cut(), model.Likely())
		s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
		wantEqual(t, "the number of calls", script.Calls(), 3)
	})
}

// waits are the cases that take the full 15 seconds of a model call. They run concurrently.
func waits(t *testing.T, s *stack) {
	t.Helper()
	for name, step := range map[string]model.Step{
		// spec: create-result, error-texts, model-wait
		"a model that hangs fails after 15 seconds": model.Hang(),
		// spec: model-wait-is-hard
		"a model that drips bytes fails after 15 seconds": model.Drip(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := s.model.Script(step)
			failed := s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).failed(t)
			wantEqual(t, "the error", *failed.Error, "The model did not answer within 15 seconds.")
			if failed.TookMS < 15_000 || failed.TookMS > 16_000 {
				t.Errorf("took_ms is %d", failed.TookMS)
			}
			var stored struct{ Status string }
			s.main.read(t, failed.ID, "").decode(t, &stored)
			wantEqual(t, "the status stored", stored.Status, "failed")
		})
	}
}
