package modelproxy

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/chathost"
)

// threeTypes is an ask of a question of each type.
func threeTypes() contract.Ask {
	option, level := func(k string) prism.Option { return prism.Option{Key: k, Label: "The " + k} }, func(k string) prism.Level { return prism.Level{Key: k, Label: "The " + k} }
	a := question()
	a.Definition.Questions = []prism.Question{
		{Key: "team", Type: prism.Choice, Text: "Which?", Options: []prism.Option{option("a"), option("b"), option("c"), option("d")}},
		{Key: "urgent", Type: prism.YesNo, Text: "Is it?"},
		{Key: "tone", Type: prism.Scale, Text: "How?", Levels: []prism.Level{level("low"), level("mid"), level("high")}},
	}
	return a
}

// hosted is a service with a model at a host. lines are further members of the model.
func hosted(t *testing.T, h chathost.Host, lines string) (*Service, *chathost.Server) {
	t.Helper()
	server := chathost.New(h)
	t.Cleanup(server.Close)
	text := "default: a\nmodels:\n  - name: a\n    provider: openai-chat\n    base_url: URL\n    model: " + chathost.Model + "\n    api_key_env: KEY\n" + lines
	s, err := New(Config{ModelsFile: file(t, server.BaseURL(), text), Getenv: func(string) string { return chathost.Key }},
		Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, server
}

// askEachHost asks each host in each way that it can be asked in, "" for its own, and checks the answers.
func askEachHost(t *testing.T, a contract.Ask, check func(t *testing.T, how string, out contract.Outcome, answers prism.Answers)) {
	t.Helper()
	for _, h := range chathost.Hosts() {
		for _, how := range []string{"", "stated", "sampled"} {
			t.Run(h.Name+" "+how, func(t *testing.T) {
				t.Parallel()
				lines := "    host: " + h.Name + "\n"
				if how != "" {
					lines += "    probabilities: " + how + "\n"
				}
				s, _ := hosted(t, h, lines)
				out, err := s.Ask(t.Context(), a)
				if err != nil || out.Failed() {
					t.Fatalf("got %+v, %v", out, err)
				}
				answers, err := answerjson.Parse(out.Answers)
				if err != nil {
					t.Fatal(err)
				}
				check(t, how, out, answers)
			})
		}
	}
}

// spec: model-hosts, stated-probabilities, sampled-answers
func TestEachHostAnswersQuestionsOfEachType(t *testing.T) {
	t.Parallel()
	if n := len(chathost.Hosts()); n != 16 {
		t.Errorf("%d hosts", n)
	}
	askEachHost(t, threeTypes(), func(t *testing.T, how string, out contract.Outcome, got prism.Answers) {
		want := func(options int) float64 {
			if how == "sampled" {
				return (4 + 1/float64(options)) / 6
			}
			return chathost.Certain
		}
		for i, p := range []float64{got[0].Probabilities[0].Probability, got[1].Probability, got[2].Probabilities[0].Probability} {
			if w := want([]int{4, 2, 3}[i]); math.Abs(p-w) > 1e-3 {
				t.Errorf("question %d: %v, want %v", i, p, w)
			}
		}
		if got[0].Chosen != "a" || got[2].Chosen != "low" || *out.Call.Usage.InputTokens < 90 || how != "" && out.Call.Probabilities != how {
			t.Errorf("got %+v %+v", got, out.Call)
		}
	})
}

// spec: failure-classes, errors-in-a-200, unreadable-replies
func TestEachFaultOfAHostHasItsClass(t *testing.T) {
	t.Parallel()
	for _, h := range chathost.Hosts() {
		for _, fault := range chathost.Faults() {
			t.Run(h.Name+" "+string(fault), func(t *testing.T) {
				t.Parallel()
				s, server := hosted(t, h, "    host: "+h.Name+"\n")
				again := fault == chathost.TooManyCalls || fault == chathost.OutOfOrder
				times := 2
				if again {
					times = 1 // then it is cured
				}
				server.Fail(fault, times)
				out, err := s.Ask(t.Context(), question())
				if err != nil {
					t.Fatal(err)
				}
				calls, code := 1, prism.ErrorCode(fault)
				if fault == chathost.BrokenFrame {
					calls = 2
				}
				if fault == chathost.NoAnswer {
					code = prism.CodeNoUsableAnswer
				}
				switch {
				case again && (out.Failed() || server.Asked() != 2):
					t.Errorf("%d calls: %+v", server.Asked(), out)
				case !again && (out.Call.ErrorCode != code || server.Asked() != calls):
					t.Errorf("%d calls: %s, %+v", server.Asked(), out.Call.ErrorCode, out)
				}
			})
		}
	}
}

// spec: failure-classes, label-mass-low, absent-labels, no-log-probabilities
func TestAHostThatIsAskedInAnotherWayThanItWantsSaysWhy(t *testing.T) {
	t.Parallel()
	refused := func(param string) string { return "The model service refused the parameter " + param + "." }
	errors := map[string]string{
		"openai": "", "litellm": "", "openai-reasoning": refused("max_tokens"), "azure": "The model service refused the key.",
		"openrouter": refused("max_tokens"), "gemini": refused("logprobs"), "groq": refused("logprobs"),
		"mistral": refused("logprobs"), "together": refused("logprobs"), "fireworks": refused("top_logprobs"),
		"deepseek": "The model service returned no log-probabilities, which the provider openai-chat needs.", "xai": refused("top_logprobs"),
		"vllm":   "The model did not say one of the labels of question urgent.",
		"sglang": "The model did not say one of the labels of question urgent.",
		"ollama": "The model did not say one of the labels of question urgent.", "llamacpp": "The model did not say one of the labels of question urgent.",
	}
	for _, h := range chathost.Hosts() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s, _ := hosted(t, h, "")
			if out, err := s.Ask(t.Context(), question()); err != nil || out.Error != errors[h.Name] {
				t.Errorf("got %q, want %q", out.Error, errors[h.Name])
			}
		})
	}
}

// spec: max-options
func TestAQuestionWithMoreOptionsThanAModelTakesIsNotSent(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"logprobs", "stated", "sampled"} {
		s, server := hosted(t, chathost.Hosts()[0], fmt.Sprintf("    host: openai\n    probabilities: %s\n    max_options: 3\n", how))
		out, err := s.Ask(t.Context(), threeTypes())
		if err != nil || out.Error != "The model gave no usable answer to question team." || how != "logprobs" && server.Asked() > 0 {
			t.Errorf("%s: %d calls, %+v", how, server.Asked(), out)
		}
	}
}

// spec: extra-members, model-profiles
func TestMembersOfAProfileReachTheHost(t *testing.T) {
	t.Parallel()
	h := chathost.Hosts()[0]
	s, server := hosted(t, h, "    host: openai\n    path: /elsewhere\n")
	if out, err := s.Ask(t.Context(), question()); err != nil || !strings.Contains(out.Error, "does not know the model") || server.Asked() != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}

// spec: option-groups, stated-options, sampled-answers
func TestEachHostAnswersAQuestionWithTheMostOptions(t *testing.T) {
	t.Parallel()
	a := question()
	q := prism.Question{Key: "intent", Type: prism.Choice, Text: "Which?"}
	for i := range prism.MaxOptions {
		q.Options = append(q.Options, prism.Option{Key: fmt.Sprint("k", i), Label: fmt.Sprint("The ", i)})
	}
	a.Definition.Questions = []prism.Question{q}
	askEachHost(t, a, func(t *testing.T, _ string, out contract.Outcome, answers prism.Answers) {
		sum := 0.0
		for _, p := range answers[0].Probabilities {
			sum += p.Probability
		}
		if answers[0].Chosen != "k0" || math.Abs(sum-1) > 1e-15 || len(answers[0].Probabilities) != prism.MaxOptions {
			t.Errorf("chose %s of %d options, whose probabilities sum to %v", answers[0].Chosen, len(answers[0].Probabilities), sum)
		}
		if groups := out.Call.Probabilities == "logprobs"; (len(out.Call.Rounds) == 1) != groups {
			t.Errorf("rounds %+v", out.Call.Rounds)
		}
	})
}
