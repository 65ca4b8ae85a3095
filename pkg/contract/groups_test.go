package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: option-groups, calls-of-a-result, label-orders, sampled-answers, asked-parts
func TestCallsOfAResultAreThoseOfAllRounds(t *testing.T) {
	t.Parallel()
	choice := func(n int, insufficient bool) prism.Question {
		q := prism.Question{Key: "q", Type: prism.Choice, InsufficientInformation: insufficient}
		for i := range n {
			q.Options = append(q.Options, prism.Option{Key: fmt.Sprint("o", i)})
		}
		return q
	}
	yes := prism.Question{Key: "y", Type: prism.YesNo}
	tags := func(key string) prism.Question {
		q := choice(100, false)
		q.Key, q.Type = key, prism.Tags
		return q
	}
	order, samples := "cyclic", 7
	logprobs := api.Model{Probabilities: api.Logprobs}
	cyclic := api.Model{Probabilities: api.Logprobs, Order: &order}
	for name, c := range map[string]struct {
		model     api.Model
		questions []prism.Question
		want      int
	}{
		"20 options at once":              {logprobs, []prism.Question{choice(20, false)}, 1},
		"21 options in two groups":        {logprobs, []prism.Question{choice(21, false)}, 3},
		"20 and insufficient information": {logprobs, []prism.Question{choice(20, true)}, 3},
		"255 options":                     {logprobs, []prism.Question{choice(255, false)}, 17},
		"orders of the last round":        {cyclic, []prism.Question{choice(77, false), yes}, 5 + 8 + 2},
		"several questions":               {logprobs, []prism.Question{choice(77, false), yes, choice(3, false)}, 8},
		"samples":                         {api.Model{Probabilities: api.Sampled, Samples: &samples}, []prism.Question{choice(77, false), yes}, 7},
		"stated":                          {api.Model{Probabilities: api.Stated}, []prism.Question{choice(77, false), yes}, 1},
		"an option is a question":         {logprobs, []prism.Question{tags("a"), yes}, 101},
		"orders of each option":           {cyclic, []prism.Question{tags("a"), yes}, 202},
		"options in the same call":        {api.Model{Probabilities: api.Native}, []prism.Question{tags("a"), tags("b"), yes}, 1},
		"more options than a call asks":   {api.Model{Probabilities: api.Stated}, []prism.Question{tags("a"), tags("b"), tags("c")}, 2},
		"samples of more than a call":     {api.Model{Probabilities: api.Sampled, Samples: &samples}, []prism.Question{tags("a"), tags("b"), tags("c")}, 14},
		"no call":                         {api.Model{Probabilities: api.Simulated}, []prism.Question{tags("a"), tags("b"), tags("c")}, 1},
		"a decision model":                {api.Model{Probabilities: api.Native}, []prism.Question{choice(77, false), yes}, 1},
	} {
		if got := contract.Calls(c.model, c.questions); got != c.want {
			t.Errorf("%s: %d calls, want %d", name, got, c.want)
		}
	}
}

// spec: asked-parts
func TestPartsHaveKeysThatNoQuestionHas(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 64)
	options := []prism.Option{{Key: "a"}, {Key: "bb"}}
	questions := []prism.Question{
		{Key: "q", Type: prism.Tags, Options: options},
		{Key: "y", Type: prism.YesNo},
		{Key: long, Type: prism.Tags, Options: options},
		{Key: long[:62] + "x", Type: prism.Tags, Options: options},
		{Key: long[:62], Type: prism.Tags, Options: options},
	}
	seen := map[string]bool{}
	var got []string
	for _, q := range contract.AskedOf(questions) {
		if len(q.Key) > 64 || seen[q.Key] {
			t.Errorf("%s, %d characters, seen %v", q.Key, len(q.Key), seen[q.Key])
		}
		seen[q.Key] = true
		if q.Whole != nil {
			got = append(got, q.Whole.Key+"."+q.Option)
		} else if q.Key != "y" {
			t.Errorf("%s is whole", q.Key)
		}
	}
	if len(got) != 8 || !seen["q-a"] || !seen["q-bb"] || !seen[long[:62]+"-a"] || got[7] != long[:62]+".bb" {
		t.Errorf("got %v of %v", got, seen)
	}
}
