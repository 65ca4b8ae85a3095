package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/program"
)

func TestEveryTextHasAnAnswerOfItsQuestion(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	sets, err := readSets(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 4 || len(sets[0].rows) != 200 {
		t.Fatalf("%d prisms, the first with %d texts", len(sets), len(sets[0].rows))
	}
	for _, s := range sets {
		q := s.prism.Questions[0]
		answers := map[string]bool{
			"yes": q.Type == client.YesNo, "no": q.Type == client.YesNo, "insufficient_information": q.InsufficientInformation,
		}
		for _, o := range q.Options {
			answers[o.Key] = true
		}
		for _, l := range q.Levels {
			answers[l.Key] = true
		}
		for _, r := range s.rows {
			if r.text == "" || !answers[r.answer] {
				t.Errorf("%s: %q has the answer %q", s.prism.Slug, r.text, r.answer)
			}
		}
		if got := len(slices.DeleteFunc(slices.Collect(maps.Values(answers)), func(is bool) bool { return !is })); got != choices(q) {
			t.Errorf("%s: %d choices, want %d", s.prism.Slug, choices(q), got)
		}
	}
}

func TestTheWaysAreMeasured(t *testing.T) {
	t.Parallel()
	yes := 0.8
	w := &way{
		prism: "p", probabilities: "stated", asked: 3, input: 200, output: 50, took: []time.Duration{time.Second}, wrong: map[string]int{"cut": 1},
		said: []stated{
			readAnswer(client.Answer{Type: client.YesNo, Probability: &yes}, "yes"),
			readAnswer(client.Answer{Type: client.Choice, Value: "a", Probabilities: client.Probabilities{{Key: "a", P: 0.5}, {Key: "b", P: 0.25}}}, "b"),
		},
	}
	// −(ln 0.8 + ln 0.25)/2, and (0.2 + 0.5)/2
	const want = "| p | `stated` | 2 of 3 | 50% | 0.80 | 0.35 | 1000 ms | 100, 25 | 1 × cut |\n"
	if got := waysTable([]*way{w, {prism: "q", probabilities: "sampled"}}); !strings.Contains(got, want) || !strings.Contains(got, "| q | `sampled` | 0 of 0 | – | – | – |") {
		t.Errorf("the table is\n%s", got)
	}
}

func TestTheTableSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	one := row{
		upstream: "u", prism: "p", choices: 4, asked: 4, answered: 2, right: 1, said: map[string]int{"a": 2},
		took: []time.Duration{time.Second, 3 * time.Second, 2 * time.Second}, wrong: map[string]int{"The model service refused.": 2},
		before: figures{input: 5, massed: 1, mass: 0.5},
		after:  figures{input: 105, output: 3, massed: 3, mass: 1.5, low: 1, attempts: 6, lost: 2},
	}
	const want = "| u | p | 2 of 4 | 50% | 25% | `a` 100% | 0.50 | 50% | 100, 3 | 2000 ms | 3000 ms | " +
		"2 × The model service refused.; 2 of 6 calls of the model without a response of status 2xx |\n"
	if got := table([]row{one}); !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "| upstream |") {
		t.Errorf("the table is\n%s", got)
	}
	if err := silent([]row{one, {asked: 1}}); err == nil {
		t.Error("a prism without an answer is no error")
	}
}
