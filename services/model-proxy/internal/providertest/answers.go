package providertest

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// Run runs the suite.
func Run(t *testing.T, w Wire) {
	t.Run("answers", func(t *testing.T) { t.Parallel(); answers(t, w) })
	t.Run("unusable", func(t *testing.T) { t.Parallel(); unusable(t, w) })
	t.Run("faults", func(t *testing.T) { t.Parallel(); faults(t, w) })
	t.Run("time", func(t *testing.T) { t.Parallel(); timing(t, w) })
	t.Run("options", func(t *testing.T) {
		t.Parallel()
		manyOptions(t, w)
		faultInAGroup(t, w)
		noneEverywhere(t, w)
	})
	t.Run("tags", func(t *testing.T) { t.Parallel(); tags(t, w) })
}

// RunFaults runs the part of the suite that reads no probabilities.
func RunFaults(t *testing.T, w Wire) { faults(t, w) }

// spec: probabilities-of-an-answer, chosen-key
func answers(t *testing.T, w Wire) {
	t.Run("a documented response answers every question", func(t *testing.T) {
		t.Parallel()
		in(t, w, always(w, Says()), func(t *testing.T, e *env) { good(t, parse(t, e.ask(t, Ask()))) })
	})
	t.Run("options in another order come out in definition order", func(t *testing.T) {
		t.Parallel()
		says := Says()
		for _, s := range says {
			for i, j := 0, len(s.Options)-1; i < j; i, j = i+1, j-1 {
				s.Options[i], s.Options[j] = s.Options[j], s.Options[i]
			}
		}
		in(t, w, always(w, says), func(t *testing.T, e *env) { good(t, parse(t, e.ask(t, Ask()))) })
	})
	t.Run("an option nobody defined is ignored", func(t *testing.T) {
		t.Parallel()
		says := Says()
		says[0].Options = append(says[0].Options, Pair{"parking", "0.01"})
		in(t, w, always(w, says), func(t *testing.T, e *env) { good(t, parse(t, e.ask(t, Ask()))) })
	})
	t.Run("a tie goes to the first in definition order", func(t *testing.T) {
		t.Parallel()
		says := []Say{{Question: Team(), Options: []Pair{
			{"insufficient_information", "0.1"},
			{"security", "0.4"},
			{"shipping", "0.4"},
			{"billing", "0.1"},
		}}}
		in(t, w, always(w, says), func(t *testing.T, e *env) {
			if a := parse(t, e.ask(t, only(Team())))[0]; a.Chosen != "shipping" {
				t.Errorf("chose %s", a.Chosen)
			}
		})
	})
	t.Run("certainty is certain", func(t *testing.T) {
		t.Parallel()
		says := []Say{{Question: Team(), Options: []Pair{
			{"billing", "0"},
			{"shipping", "1"},
			{"security", "0"},
			{"insufficient_information", "0"},
		}}}
		in(t, w, always(w, says), func(t *testing.T, e *env) {
			a := parse(t, e.ask(t, only(Team())))[0]
			if a.Chosen != "shipping" || a.Confidence != 1 || a.Probabilities[1].Probability != 1 {
				t.Errorf("got %+v", a)
			}
		})
	})
	if !w.LogProbs {
		t.Run("a sum that is off by 4% is rounding", func(t *testing.T) {
			t.Parallel()
			for _, first := range []string{"0.74", "0.66"} {
				says := Says()
				says[0].Options[0].P = first
				in(t, w, always(w, says), func(t *testing.T, e *env) {
					a := parse(t, e.ask(t, Ask()))[0]
					if a.Chosen != "billing" {
						t.Errorf("chose %s", a.Chosen)
					}
					sums(t, a)
				})
			}
		})
	}
	t.Run("every request carries key, agent, state and instructions", func(t *testing.T) {
		t.Parallel()
		in(t, w, always(w, Says()), func(t *testing.T, e *env) {
			good(t, parse(t, e.ask(t, Ask())))
			want := 1
			if w.PerQuestion {
				want = len(Says())
			}
			if e.count() != want {
				t.Errorf("%d requests, want %d", e.count(), want)
			}
			for _, r := range e.requests {
				checkRequest(t, w, r)
			}
		})
	})
	t.Run("a connection is used again", func(t *testing.T) {
		t.Parallel()
		in(t, w, always(w, Says()), func(t *testing.T, e *env) {
			for range 3 {
				e.ask(t, only(Urgent()))
			}
			if e.dials != 1 {
				t.Errorf("%d connections", e.dials)
			}
		})
	})
}

func checkRequest(t *testing.T, w Wire, r request) {
	t.Helper()
	if r.path != "/v1"+w.Path {
		t.Errorf("path %s", r.path)
	}
	if r.header.Get("User-Agent") != "prism-model-proxy" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", r.header)
	}
	for name := range w.Header {
		if r.header.Get(name) != w.Header.Get(name) {
			t.Errorf("header %s is %q", name, r.header.Get(name))
		}
	}
	for _, part := range []string{
		"My card <4111> was charged twice & I am furious", "Order 77", "subject",
		"Judge as the support team would.", Context, `"model":"m-1"`,
	} {
		if !strings.Contains(r.body, part) {
			t.Errorf("request without %q: %s", part, r.body)
		}
	}
	if strings.Contains(r.body, Secret) {
		t.Error("the key is in the body")
	}
}

// good checks the answers of Says. Probabilities that were sent as log-probabilities come back with other last digits.
func good(t *testing.T, as prism.Answers) {
	t.Helper()
	if len(as) != 3 || as[0].Question != "team" || as[1].Question != "urgent" || as[2].Question != "tone" {
		t.Fatalf("got %+v", as)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	if as[0].Chosen != "billing" || as[2].Chosen != "raging" {
		t.Errorf("chose %s and %s", as[0].Chosen, as[2].Chosen)
	}
	near("confidence", as[0].Confidence, (0.7-0.25)/0.75)
	near("urgent", as[1].Probability, 0.8)
	for i, want := range []prism.KeyProbability{
		{Key: "billing", Probability: 0.7},
		{Key: "shipping", Probability: 0.1},
		{Key: "security", Probability: 0.15},
		{Key: "insufficient_information", Probability: 0.05},
	} {
		if as[0].Probabilities[i].Key != want.Key {
			t.Errorf("option %d is %s", i, as[0].Probabilities[i].Key)
		}
		near(want.Key, as[0].Probabilities[i].Probability, want.Probability)
	}
	for i, want := range []prism.KeyProbability{
		{Key: "calm", Probability: 0.125},
		{Key: "cross", Probability: 0.25},
		{Key: "raging", Probability: 0.625},
	} {
		if as[2].Probabilities[i].Key != want.Key {
			t.Errorf("level %d is %s", i, as[2].Probabilities[i].Key)
		}
		near(want.Key, as[2].Probabilities[i].Probability, want.Probability)
	}
	sums(t, as[0])
	sums(t, as[2])
}

func sums(t *testing.T, a prism.Answer) {
	t.Helper()
	var sum float64
	for _, p := range a.Probabilities {
		sum += p.Probability
	}
	if math.Abs(sum-1) > 1e-15 {
		t.Errorf("%s sums to %v", a.Question, sum)
	}
}

// unusable checks replies with status 200 that are not a usable answer.
//
// spec: probability-checks, one-unusable-answer-fails-the-result, error-texts, no-log-probabilities, unreadable-replies, errors-in-a-200
func unusable(t *testing.T, w Wire) {
	reply := func(name, body string, check func(t *testing.T, e *env)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, _ string) { _, _ = io.WriteString(rw, body) }, check)
		})
	}
	for name, body := range map[string]string{
		"null": "null", "an array": "[]", "a number": "7", "a string": `"` + BodySecret + `"`, "an empty object": "{}",
		"white space before an object": " \n\t{}",
		"known members of no shape":    `{"answers":1,"choices":1,"content":1,"usage":"` + BodySecret + `","error":false}`,
		"known members that are null":  `{"answers":null,"choices":null,"content":null,"usage":null,"error":null}`,
		"empty lists":                  `{"answers":[],"choices":[],"content":[],"error":{}}`,
		"lists of null":                `{"answers":[null],"choices":[null],"content":[null],"error":""}`,
	} {
		reply(name+" is no usable answer", body, func(t *testing.T, e *env) { noAnswer(t, e.ask(t, Ask()), "team") })
	}
	for cause, bodies := range map[string][]string{
		"empty":        {"", " \n"},
		"html":         {"<!doctype html><title>" + BodySecret + "</title>"},
		"event_stream": {"data: {}\n\n", ": keep-alive\n\ndata: {}\n\n", "event: message\ndata: {}\n\n"},
		"not_json":     {`{"answers":`, "{}{}", "\xff\xfe\x00", BodySecret, strings.Repeat("[", 100_000)},
		"too_large":    {`{"pad":"` + strings.Repeat("x", 5<<20) + `"}`},
	} {
		for i, body := range bodies {
			reply(cause+" "+strconv.Itoa(i)+" is unreadable and tried again once", body, func(t *testing.T, e *env) {
				v := e.ask(t, only(Team()))
				if v.Error != "The model service did not answer in JSON." || v.Class != failure.Unreadable || v.Cause != cause ||
					v.Status != http.StatusOK || e.count() != 2 {
					t.Errorf("got %s %s %d %q after %d requests", v.Class, v.Cause, v.Status, v.Error, e.count())
				}
			})
		}
	}
	for _, c := range []struct {
		body  string
		class failure.Class
		text  string
		asked int
	}{
		{`{"error":{"message":"` + BodySecret + `","code":429}}`, failure.Limited, refusedText(429), attempts},
		{`{"error":{"message":"` + BodySecret + `","code":"503"}}`, failure.Unavailable, refusedText(503), attempts},
		{`{"error":"` + BodySecret + `"}`, failure.Unavailable, refusedText(502), attempts},
		{`{"error":{"message":"` + BodySecret + `","type":"insufficient_quota"}}`, failure.Exhausted, "The model service has no balance left.", 1},
		{`{"answers":{},"choices":[],"content":[],"error":{"message":"` + BodySecret + `","code":401}}`, failure.RefusedKey, "The model service refused the key.", 1},
	} {
		reply("an error with the status 200 is that error: "+c.body, c.body, func(t *testing.T, e *env) {
			if v := e.ask(t, only(Team())); v.Class != c.class || v.Error != c.text || v.Cause != "error" || e.count() != c.asked {
				t.Errorf("got %s %q (%s) after %d requests", v.Class, v.Error, v.Cause, e.count())
			}
		})
	}
	for i, body := range w.Refusals {
		reply("a refusal of everything is no usable answer", body, func(t *testing.T, e *env) {
			if noAnswer(t, e.ask(t, only(Team())), "team"); e.count() != 1 {
				t.Errorf("refusal %d was asked for %d times", i, e.count())
			}
		})
	}
	for i, body := range w.Filtered {
		reply("a text that was filtered is not asked for again", body, func(t *testing.T, e *env) {
			v := e.ask(t, only(Team()))
			if v.Error != "The model service filtered the text." || v.Class != failure.Content || e.count() != 1 {
				t.Errorf("reply %d: got %s %q after %d requests", i, v.Class, v.Error, e.count())
			}
		})
	}
	for i, body := range w.NoLogProbs {
		reply("a reply without log-probabilities is told apart", body, func(t *testing.T, e *env) {
			const want = "The model service returned no log-probabilities, which the provider openai-chat needs."
			v := e.ask(t, only(Team()))
			if v.Error != want || v.Class != failure.NoAnswer || v.Call.ErrorCode != prism.CodeNoLogProbabilities || e.count() != 1 {
				t.Errorf("reply %d: got %s %q after %d requests", i, v.Class, v.Error, e.count())
			}
		})
	}
	change := func(name, question string, fn func(says []Say) []Say) {
		t.Run(name+" is no usable answer", func(t *testing.T) {
			t.Parallel()
			in(t, w, always(w, fn(Says())), func(t *testing.T, e *env) { noAnswer(t, e.ask(t, Ask()), question) })
		})
	}
	for i, q := range []prism.Question{Team(), Urgent(), Tone()} {
		change("a question refused: "+q.Key, q.Key, func(s []Say) []Say { s[i].Refused = true; return s })
		change("a question left out: "+q.Key, q.Key, func(s []Say) []Say { return append(s[:i:i], s[i+1:]...) })
	}
	change("the first of two bad answers names it", "urgent", func(s []Say) []Say {
		s[1].Refused, s[2].Refused = true, true
		return s
	})
	bad := []string{`"0.7"`, "true", "{}"}
	if !w.LogProbs { // null of a label is 0
		bad = append(bad, "null", "[0.7]", "-0.1", "0.76", "0.64")
		change("a missing option", "team", func(s []Say) []Say { s[0].Options = s[0].Options[1:]; return s })
		change("a missing option of no weight", "team", func(s []Say) []Say { s[0].Options = s[0].Options[:3]; s[0].Options[0].P = "0.75"; return s })
		for _, p := range []string{"-0.00001", "1.00001", "50", "1e999"} {
			change("yes with probability "+p, "urgent", func(s []Say) []Say { s[1].Yes = p; return s })
		}
	}
	for _, p := range bad {
		change("probability "+p, "team", func(s []Say) []Say { s[0].Options[0].P = p; return s })
		change("level with probability "+p, "tone", func(s []Say) []Say {
			if s[2].Options[2].P = p; p == "0.64" || p == "0.76" {
				s[2].Options[2].P = "0.69"
			}
			return s
		})
	}
	for _, p := range bad[:3] {
		change("yes with "+p, "urgent", func(s []Say) []Say { s[1].Yes = p; return s })
	}
}

func noAnswer(t *testing.T, v ask.Report, question string) {
	t.Helper()
	if want := "The model gave no usable answer to question " + question + "."; v.Error != want || v.Class != failure.NoAnswer || v.Code != prism.CodeNoUsableAnswer {
		t.Errorf("got %s %q, want %q", v.Code, v.Error, want)
	}
}
