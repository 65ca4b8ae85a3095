package sampled

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wire(samples, maxN int) providertest.Wire {
	p := provider.DefaultProfile()
	p.Probabilities, p.Samples, p.MaxN = api.Sampled, samples, maxN
	return providertest.Wire{Format: Format(p)}
}

// said is a choice of a model that said a text.
func said(text, finish string) string {
	return fmt.Sprintf(`{"message":{"content":%s},"finish_reason":%q}`, strictjson.AppendString(nil, text), finish)
}

// sample is a choice with these answers to the questions of providertest.Ask.
func sample(team, urgent, tone string) string {
	return said(fmt.Sprintf(`{"team":%q,"urgent":%q,"tone":%q}`, team, urgent, tone), "stop")
}

func completion(choices ...string) string {
	return `{"choices":[` + strings.Join(choices, ",") + `],"usage":{"prompt_tokens":100,"completion_tokens":7}}`
}

// spec: upstream-retries, error-texts
func TestFaultsOfTheHost(t *testing.T) {
	t.Parallel()
	w := wire(5, 5)
	w.Render = func([]providertest.Say) string {
		one := sample("billing", "yes", "calm")
		return completion(one, one, one, one, one)
	}
	providertest.RunFaults(t, w)
}

// spec: sampled-answers
func TestTheSharesOfAnswersAreTheProbabilities(t *testing.T) {
	t.Parallel()
	samples := []string{
		sample("billing", "yes", "calm"), sample("billing", "no", "calm"), sample("shipping", "Yes ", "cross"),
		sample("billing", "yes", "raging"), sample("security", "yes", "calm"),
	}
	for name, c := range map[string]struct {
		maxN  int
		calls []int // the samples of each
	}{
		"in one call":      {128, []int{5}},
		"in calls of two":  {2, []int{2, 2, 1}},
		"in calls of one":  {1, []int{1, 1, 1, 1, 1}},
		"in a call of all": {5, []int{5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bodies []string
			rest := samples
			for _, n := range c.calls {
				bodies, rest = append(bodies, completion(rest[:n]...)), rest[n:]
			}
			providertest.Script(t, wire(5, c.maxN), providertest.Ask(), func(n int) (int, string) { return http.StatusOK, bodies[n-1] },
				func(t *testing.T, v ask.Report, sent []string) {
					got, err := answerjson.Parse(v.Answers)
					if err != nil || len(sent) != len(c.calls) || v.Call.Tries != int32(len(c.calls)) || *v.Call.Usage.InputTokens != int64(100*len(c.calls)) {
						t.Fatalf("%d requests: %+v", len(sent), v)
					}
					near(t, got[0].Probabilities[0].Probability, (3+1.0/4)/6)
					near(t, got[0].Probabilities[1].Probability, (1+1.0/4)/6)
					near(t, got[0].Probabilities[3].Probability, (0+1.0/4)/6)
					near(t, got[1].Probability, (4+1.0/2)/6)
					near(t, got[2].Probabilities[0].Probability, (3+1.0/3)/6)
					if got[0].Chosen != "billing" || got[2].Chosen != "calm" {
						t.Errorf("chose %s and %s", got[0].Chosen, got[2].Chosen)
					}
				})
		})
	}
}

func near(t *testing.T, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// spec: sampled-answers
func TestSamplesAreDrawnAtTemperature1AsAnEnum(t *testing.T) {
	t.Parallel()
	sent := providertest.Bodies(t, wire(5, 3))
	if len(sent) != 2 {
		t.Fatalf("%d calls", len(sent))
	}
	for i, want := range []string{`"n":3`, `"n":2`} {
		for _, part := range []string{want, `"temperature":1,`, `"urgent":{"type":"string","enum":["yes","no"]}`, `"strict":true`} {
			if !strings.Contains(sent[i], part) {
				t.Errorf("call %d without %s: %s", i, part, sent[i])
			}
		}
	}
	if sent := providertest.Bodies(t, wire(1, 3)); len(sent) != 1 || strings.Contains(sent[0], `"n":`) {
		t.Errorf("sent %v", sent)
	}
}

// spec: sampled-answers
func TestSamplesThatAreNoAnswersCountForNothing(t *testing.T) {
	t.Parallel()
	const refused, error429 = `{"message":{"refusal":"no"},"finish_reason":"stop"}`, `{"finish_reason":"error","error":{"code":429}}`
	yes, cut, filtered := said(`{"urgent":"yes"}`, "stop"), said(`{"urgent":"yes"}`, "length"), said("", "content_filter")
	for name, c := range map[string]struct {
		choices []string
		want    float64 // 0: no usable answer
		class   failure.Class
	}{
		"half of them":          {[]string{yes, refused, yes, cut}, (2 + 0.5) / 3, failure.OK},
		"fewer than were asked": {[]string{yes, yes}, (2 + 0.5) / 3, failure.OK},
		"a filtered one":        {[]string{yes, filtered, yes, yes}, (3 + 0.5) / 4, failure.OK},
		"more than half":        {[]string{yes, refused, cut, said(`{"urgent":"maybe"}`, "stop")}, 0, failure.NoAnswer},
		"no choice":             {nil, 0, failure.NoAnswer},
		"words":                 {[]string{said("yes", "stop"), said("[]", "stop"), said(`{"urgent":1}`, "stop")}, 0, failure.NoAnswer},
		"all are filtered":      {[]string{filtered, refused}, 0, failure.Content},
		"all are errors":        {[]string{error429}, 0, failure.Limited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.Answer(t, wire(4, 4), providertest.Urgent(), completion(c.choices...), func(t *testing.T, v ask.Report, _ int) {
				if v.Class != c.class {
					t.Fatalf("got %+v", v)
				}
				if v.OK() {
					got, err := answerjson.Parse(v.Answers)
					if err != nil {
						t.Fatal(err)
					}
					near(t, got[0].Probability, c.want)
				} else if v.Class == failure.NoAnswer && v.Code != prism.CodeNoUsableAnswer {
					t.Errorf("got %s", v.Code)
				}
			})
		})
	}
}

// spec: sampled-answers, upstream-retries
func TestOnlyTheCallThatFailedIsRepeated(t *testing.T) {
	t.Parallel()
	providertest.Script(t, wire(3, 1), providertest.Ask(), func(n int) (int, string) {
		if n == 2 {
			return http.StatusServiceUnavailable, ""
		}
		return http.StatusOK, completion(sample("billing", "yes", "calm"))
	}, func(t *testing.T, v ask.Report, sent []string) {
		if !v.OK() || len(sent) != 4 || v.Call.Tries != 4 {
			t.Errorf("%d requests: %+v", len(sent), v)
		}
	})
}

// spec: max-options
func TestAQuestionWithTooManyOptionsIsNotAsked(t *testing.T) {
	t.Parallel()
	w := wire(3, 1)
	w.Format.MaxOptions = 3
	providertest.Script(t, w, providertest.Ask(), func(int) (int, string) { return http.StatusOK, completion(sample("billing", "yes", "calm")) },
		func(t *testing.T, v ask.Report, sent []string) {
			if v.Error != "The model gave no usable answer to question team." || len(sent) != 0 {
				t.Errorf("%d requests: %+v", len(sent), v)
			}
		})
}

// spec: asked-parts, sampled-answers
func TestEachTagIsSampled(t *testing.T) {
	t.Parallel()
	a := providertest.Ask()
	a.Definition.Questions = []prism.Question{providertest.Themes(2)}
	reply := func(first, second string) string {
		return said(`{"themes-t0":"`+first+`","themes-t1":"`+second+`"}`, "stop")
	}
	respond := func(int) (int, string) {
		return http.StatusOK, completion(reply("yes", "no"), reply("Yes", "no"), reply("no", "no"), reply("yes", "?"))
	}
	providertest.Script(t, wire(4, 4), a, respond, func(t *testing.T, v ask.Report, sent []string) {
		got, err := answerjson.Parse(v.Answers)
		if err != nil || len(sent) != 1 || len(got) != 1 {
			t.Fatalf("%d requests: %+v", len(sent), v)
		}
		near(t, got[0].Probabilities[0].Probability, (3+1.0/2)/5)
		near(t, got[0].Probabilities[1].Probability, (0+1.0/2)/4)
	})
	respond = func(int) (int, string) {
		return http.StatusOK, completion(reply("yes", "?"), reply("yes", ""), reply("no", "no"), reply("yes", "?"))
	}
	providertest.Script(t, wire(4, 4), a, respond, func(t *testing.T, v ask.Report, _ []string) {
		if want := "The model gave no usable answer to question themes."; v.Error != want {
			t.Errorf("got %q, want %q", v.Error, want)
		}
	})
}
