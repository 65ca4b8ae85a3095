package providertest

import (
	"math"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
)

// Fuzz feeds a decoder any bytes and checks what holds of every reply: an element for each question, and answers that follow the
// rules (spec: probabilities-of-an-answer, chosen-key).
func Fuzz(f *testing.F, decode func(raw []byte, questions []prism.Question) provider.Reply) {
	f.Helper()
	questions := Ask().Definition.Questions
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := decode(raw, questions)
		if len(r.Answers) != len(questions) {
			t.Fatalf("%d places for %d questions", len(r.Answers), len(questions))
		}
		if r.Tokens.Input.N < 0 || r.Tokens.Output.N < 0 || r.Tokens.Cached.N < 0 {
			t.Errorf("negative tokens: %+v", r.Tokens)
		}
		for i, a := range r.Answers {
			if a != nil {
				valid(t, questions[i], *a)
			}
		}
	})
}

func valid(t *testing.T, q prism.Question, a prism.Answer) {
	t.Helper()
	if a.Question != q.Key || a.Type != q.Type {
		t.Errorf("an answer to %s for %s", a.Question, q.Key)
	}
	if !(a.Probability >= 0 && a.Probability <= 1) || !(a.Confidence >= 0 && a.Confidence <= 1) {
		t.Errorf("out of bounds: %+v", a)
	}
	keys := q.AnswerKeys()
	if len(a.Probabilities) != len(keys) {
		t.Fatalf("%d probabilities for %d options", len(a.Probabilities), len(keys))
	}
	var sum, chosen float64
	for i, p := range a.Probabilities {
		if p.Key != keys[i] || !(p.Probability >= 0 && p.Probability <= 1) {
			t.Errorf("probability %d is %+v", i, p)
		}
		if sum += p.Probability; p.Key == a.Chosen {
			chosen = p.Probability
		}
	}
	if len(keys) == 0 {
		return
	}
	if math.Abs(sum-1) > 1e-15 {
		t.Errorf("sums to %v", sum)
	}
	for _, p := range a.Probabilities {
		if p.Probability > chosen {
			t.Errorf("chose %s over %s", a.Chosen, p.Key)
		}
	}
}
