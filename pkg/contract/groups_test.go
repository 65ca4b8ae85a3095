package contract_test

import (
	"fmt"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: option-groups, calls-of-a-result, label-orders, sampled-answers
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
		"a decision model":                {api.Model{Probabilities: api.Native}, []prism.Question{choice(77, false), yes}, 1},
	} {
		if got := contract.Calls(c.model, c.questions); got != c.want {
			t.Errorf("%s: %d calls, want %d", name, got, c.want)
		}
	}
}
