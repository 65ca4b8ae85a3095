package service_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// answerReads is a store that counts how often answers are read, and reads them twice.
type answerReads struct {
	sqlstore.Store
	n atomic.Int64
}

func (r *answerReads) Answers(
	ctx context.Context, a prism.AccountID, ids []prism.ResultID, read func(quality.Answered) error,
) error {
	r.n.Add(1)
	for range 2 { // a store may read again
		if err := r.Store.Answers(ctx, a, ids, read); err != nil {
			return err
		}
	}
	return nil
}

// spec: measures-hold-little
func TestManyQuestionsAreMeasuredAFewAtATime(t *testing.T) {
	t.Parallel()
	const questions, options, results = 20, 26, 31 // a part has 8 questions
	w := newWorld(t)
	of := make([]prism.Question, questions)
	for i := range of {
		of[i] = prism.Question{Key: fmt.Sprint("q", i), Type: prism.Choice, Text: "?"}
		for o := range options {
			of[i].Options = append(of[i].Options, prism.Option{Key: fmt.Sprint("o", o)})
		}
	}
	values := map[string]func(int) string{}
	for i, q := range of {
		values[q.Key] = func(n int) string { return fmt.Sprint("o", (n+i)%3) }
	}
	w.saveLabelled(t, w.questions(t, "p", of...), 1, results, func(n int) string {
		var answers prism.Answers
		for i, q := range of {
			a := prism.Answer{Question: q.Key, Type: prism.Choice, Chosen: fmt.Sprint("o", n%options), Confidence: 0.5}
			for o := range options {
				p := 0.5 / (options - 1)
				if (n+i)%options == o {
					p = 0.5
				}
				a.Probabilities = append(a.Probabilities, prism.KeyProbability{Key: fmt.Sprint("o", o), Probability: p})
			}
			answers = append(answers, a)
		}
		return string(answerjson.Append(nil, answers))
	}, values)
	reads := &answerReads{Store: w.store.Store}
	w.store.Store = reads
	ask := func(s *service.Service, question string) (bodies []strictjson.Value) {
		response, err := facade{s}.Quality(t.Context(), w.key, versionOf("p"), question)
		if err != nil {
			t.Fatal(err)
		}
		var found struct {
			Questions []strictjson.Value `json:"questions"`
		}
		decode(t, response, &found)
		return found.Questions
	}
	together := ask(w.Service, "")
	if n := reads.n.Load(); n != 3 || len(together) != questions {
		t.Fatalf("the answers to %d questions were read %d times, want %d and 3", len(together), n, questions)
	}
	fresh := service.New(w.Deps) // with nothing in its cache
	for i, q := range of {
		if alone := ask(fresh, q.Key); string(alone[0]) != string(together[i]) {
			t.Errorf("%s: measured alone\n%s\nand with the others\n%s", q.Key, alone[0], together[i])
		}
	}
}
