package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
)

func noAnswerTo(question string) string {
	return "The model gave no usable answer to question " + question + "."
}

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
		t.Run("a call without a context sends none", func(t *testing.T) {
			t.Parallel()
			script := s.model.Script()
			s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
			if _, sent := script.Requests()[0].State["context"]; sent {
				t.Error("a context was sent")
			}
		})
		// spec: probabilities-of-an-answer
		t.Run("probabilities are normalised, in definition order, and sum to 1", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			script := s.model.Script(model.Answer(model.Answers{
				"intent": model.Options{"transfer": 0.33, "insufficient_information": 0.33, "card": 0.33},
				"mood":   model.Levels{0.1, 0.2, 0.74},
			}))
			created := s.main.create(t, prism, text(script.Tag)).ok(t)
			r := s.main.read(t, created.ID, "raw")
			wantMembers(t, r.body, []string{"answers"}, "intent", "urgent", "mood")
			wantMembers(t, r.body, []string{"answers", "intent"}, "type", "value", "probabilities", "confidence")
			wantMembers(t, r.body, []string{"answers", "intent", "probabilities"}, "card", "transfer", "insufficient_information")
			wantMembers(t, r.body, []string{"answers", "urgent"}, "type", "probability")
			wantMembers(t, r.body, []string{"answers", "mood"}, "type", "level", "probabilities")
			wantMembers(t, r.body, []string{"answers", "mood", "probabilities"}, "calm", "upset", "angry")
			var answers struct {
				Answers map[string]struct {
					Value, Level  string
					Probabilities map[string]float64
					Confidence    float64
				}
			}
			r.decode(t, &answers)
			for _, name := range []string{"intent", "mood"} {
				sum := 0.0
				for _, p := range answers.Answers[name].Probabilities {
					sum += p
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Errorf("%s sums to %v", name, sum)
				}
			}
			wantEqual(t, "the first of a tie", answers.Answers["intent"].Value, "card")
			wantEqual(t, "the level", answers.Answers["mood"].Level, "angry")
			if c := answers.Answers["intent"].Confidence; math.Abs(c) > 1e-9 {
				t.Errorf("the confidence of a guess is %v", c)
			}
		})
		// spec: confidence
		t.Run("confidence is by the formula, whatever the model says", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			for p, want := range map[float64]float64{1: 1, 0.8: 0.7, 0.5: 0.25} {
				script := s.model.Script(model.Answer(model.Answers{
					"intent": model.Options{"card": p, "transfer": (1 - p) / 2, "insufficient_information": (1 - p) / 2},
				}))
				created := s.main.create(t, prism, text(script.Tag)).ok(t)
				var answers struct {
					Answers struct{ Intent struct{ Confidence float64 } }
				}
				s.main.read(t, created.ID, "raw").decode(t, &answers)
				if got := answers.Answers.Intent.Confidence; math.Abs(got-want) > 1e-9 {
					t.Errorf("%v for %v, want %v", got, p, want)
				}
			}
		})
		// spec: show-average
		t.Run("the average weighs the levels' values", func(t *testing.T) {
			t.Parallel()
			script := s.model.Script(model.Answer(model.Answers{"mood": model.Levels{0.5, 0.25, 0.25}}))
			created := s.main.create(t, s.main.triage(t), text(script.Tag)).ok(t)
			wantEqual(t, "the average", created.answer(t, "mood_average"), 0.5*1+0.25*2+0.25*10)
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

// unusable are answers without usable probabilities.
func unusable(t *testing.T, s *stack) {
	t.Helper()
	choice := func(json string) model.Step {
		return model.Answer(model.Answers{"intent": model.Raw(json)})
	}
	mood := func(json string) model.Step { return model.Answer(model.Answers{"mood": model.Raw(json)}) }
	urgent := func(json string) model.Step {
		return model.Answer(model.Answers{"urgent": model.Raw(json)})
	}
	for _, row := range []struct {
		name     string
		step     model.Step
		question string
	}{
		// spec: probability-checks
		{"an option without a probability", choice(`{"type":"choice","choice":"card","probabilities":{"card":0.5,"transfer":0.5}}`), "intent"},
		// spec: probability-checks
		{"a sum of 0.9", choice(`{"type":"choice","choice":"card","probabilities":{"card":0.5,"transfer":0.2,"insufficient_information":0.2}}`), "intent"},
		{"a sum of 1.1", choice(`{"type":"choice","choice":"card","probabilities":{"card":0.7,"transfer":0.2,"insufficient_information":0.2}}`), "intent"},
		// spec: result-status, probability-checks, error-texts
		{"a negative probability", choice(`{"type":"choice","choice":"card","probabilities":{"card":1.1,"transfer":-0.1,"insufficient_information":0}}`), "intent"},
		// spec: probability-checks
		{"a probability that is a string", choice(`{"type":"choice","choice":"card","probabilities":{"card":"0.5","transfer":0.5,"insufficient_information":0}}`), "intent"},
		{"probabilities that are null", choice(`{"type":"choice","choice":"card","probabilities":null}`), "intent"},
		{"an answer that is null", choice(`null`), "intent"},
		{"a noul above 1", urgent(`{"type":"noul","noul":1.5}`), "urgent"},
		{"a noul below 0", urgent(`{"type":"noul","noul":-0.5}`), "urgent"},
		{"a noul that is not there", urgent(`{"type":"noul"}`), "urgent"},
		{"a level without a probability", mood(`{"type":"score","score":1,"probabilities":{"0":0.5,"2":0.5}}`), "mood"},
		// spec: probability-checks, one-unusable-answer-fails-the-result
		{"a refusal of one question", urgent(`{"type":"refusal","refusal":"` + model.BodyMark + `"}`), "urgent"},
	} {
		t.Run(row.name+" is no usable answer", func(t *testing.T) {
			t.Parallel()
			script := s.model.Script(row.step)
			failed := s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).failed(t)
			wantEqual(t, "the error", *failed.Error, noAnswerTo(row.question))
		})
	}
	for name, body := range map[string]string{
		"a body that is not JSON":     "<html>" + model.BodyMark,
		"an empty body":               "",
		"a body without answers":      `{"id":"x"}`,
		"answers to nothing":          `{"answers":{}}`,
		"a body that is cut off":      `{"answers":{"urgent":{"type":"noul","noul":0.`,
		"answers nested without end":  strings.Repeat(`{"answers":`, 100_000),
		"a body of several megabytes": `{"answers":{},"x":"` + strings.Repeat("x", 9*mib) + `"}`,
	} {
		t.Run(name+" is no usable answer", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, yesNo)
			script := s.model.Script(model.Body(body))
			failed := s.main.create(t, prism, text(script.Tag)).failed(t)
			wantEqual(t, "the error", *failed.Error, noAnswerTo("urgent"))
		})
	}
	// spec: provider-systemone
	t.Run("members that nobody knows are ignored", func(t *testing.T) {
		t.Parallel()
		script := s.model.Script(model.Answer(model.Answers{
			"intent": model.Raw(`{"extra":[1],"probabilities":{"card":0.5,"transfer":0.25,"insufficient_information":0.25}}`),
			"more":   model.Raw(`{}`),
		}))
		created := s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
		wantEqual(t, "the answer", created.answer(t, "intent"), "card")
	})
	// spec: probability-checks
	t.Run("a sum within 5% of 1 is rounding", func(t *testing.T) {
		t.Parallel()
		for _, p := range []float64{0.21, 0.29} { // sums of 0.96 and 1.04
			script := s.model.Script(model.Answer(model.Answers{
				"intent": model.Options{"card": 0.5, "transfer": p, "insufficient_information": 0.25},
			}))
			s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
		}
	})
}

// refusals are error statuses of the model.
func refusals(t *testing.T, s *stack) {
	t.Helper()
	for _, status := range []int{400, 401, 403, 404, 413, 422} {
		t.Run(fmt.Sprintf("a %d of the model is a refusal and not tried again", status), func(t *testing.T) {
			t.Parallel()
			script := s.model.Script(model.Status(status))
			failed := s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).failed(t)
			wantEqual(t, "the error", *failed.Error, fmt.Sprintf("The model service refused the call (status %d).", status))
			wantEqual(t, "the number of calls", script.Calls(), 1)
		})
	}
	for _, status := range []int{408, 409, 429, 500, 502, 503, 529} {
		t.Run(fmt.Sprintf("a %d of the model is tried again", status), func(t *testing.T) {
			t.Parallel()
			script := s.model.Script(model.Status(status), model.Likely())
			s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
			wantEqual(t, "the number of calls", script.Calls(), 2)
		})
	}
	// spec: upstream-retries, one-owner-of-retries
	t.Run("a connection that breaks is tried again", func(t *testing.T) {
		t.Parallel()
		script := s.model.Script(model.Cut(), model.Cut(), model.Likely())
		s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
		wantEqual(t, "the number of calls", script.Calls(), 3)
	})
	// spec: retry-after
	t.Run("Retry-After is honoured when it fits", func(t *testing.T) {
		t.Parallel()
		script := s.model.Script(model.Status(429, "Retry-After", "2"), model.Likely())
		s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
		calls := script.Requests()
		if pause := calls[1].At.Sub(calls[0].At); len(calls) != 2 || pause < 1900*time.Millisecond {
			t.Errorf("%d calls, %v apart", len(calls), pause)
		}
	})
}

// waits are the cases that take the full 15 seconds of a model call. They run concurrently.
func waits(t *testing.T, s *stack) {
	t.Helper()
	const late = "The model did not answer within 15 seconds."
	for _, row := range []struct {
		name string
		step model.Step
		want []string
	}{
		// spec: create-result, error-texts, model-wait
		{"a model that hangs fails after 15 seconds", model.Hang(), []string{late}},
		// spec: model-wait-is-hard
		{"a model that drips bytes fails after 15 seconds", model.Drip(), []string{late}},
		// spec: error-texts, error-texts-hold-no-secrets
		{"a model that always fails is given up", model.Status(500), []string{late, "The model service refused the call (status 500)."}},
		// spec: error-texts
		{"a model that always breaks the connection is given up", model.Cut(), []string{late, "The model service could not be reached."}},
		// spec: retry-after
		{"a Retry-After that does not fit is not waited for", model.Status(429, "Retry-After", "120"), []string{late, "The model service refused the call (status 429)."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			script, began := s.model.Script(row.step), time.Now()
			failed := s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).failed(t)
			took := time.Since(began)
			for _, want := range row.want {
				if *failed.Error == want {
					row.want = nil
				}
			}
			if row.want != nil {
				t.Errorf("the error is %q", *failed.Error)
			}
			if *failed.Error == late && (failed.TookMS < 15_000 || failed.TookMS > 16_000) {
				t.Errorf("took_ms is %d", failed.TookMS)
			}
			if took > 20*time.Second {
				t.Errorf("the answer took %v", took)
			}
			var stored struct{ Status string }
			if err := json.Unmarshal(s.main.read(t, failed.ID, "").body, &stored); err != nil || stored.Status != "failed" {
				t.Errorf("stored as %q: %v", stored.Status, err)
			}
		})
	}
}
