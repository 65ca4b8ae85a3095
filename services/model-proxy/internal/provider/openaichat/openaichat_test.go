package openaichat

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wire() providertest.Wire {
	return providertest.Wire{
		Format:      Format(provider.DefaultProfile()),
		Path:        "/chat/completions",
		Header:      http.Header{"Authorization": {"Bearer " + providertest.Secret}},
		Render:      render,
		PerQuestion: true,
		LogProbs:    true,
		Refusals: []string{
			completion(`{"role":"assistant","content":null,"refusal":"`+providertest.BodySecret+`"}`, "stop", `["A",-0.1]`),
			completion(`{"role":"assistant","content":"I"}`, "length", `["I",-0.1],[" am",-3]`),
		},
		Filtered: []string{
			completion(`{"role":"assistant","content":""}`, "content_filter", `["A",-0.1]`),
			completion(`{"role":"assistant"}`, "content_filter: SAFETY", ``),
		},
		NoLogProbs: []string{
			`{"choices":[{"message":{"content":"A"},"logprobs":null}]}`,
			`{"choices":[{"message":{"content":"A"}}]}`,
			`{"choices":[{"message":{"content":""},"finish_reason":"length","logprobs":{"content":[]}}]}`,
			`{"choices":[{"message":{"content":"A","refusal":null},"logprobs":{"content":null,"refusal":null}}]}`,
		},
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, wire())
}

// spec: provider-openai-chat
func TestTheRequestIsTheOneThatIsKept(t *testing.T) {
	t.Parallel()
	providertest.SameAsKept(t, wire())
}

// render says an answer's probabilities as a model would: as token log-probabilities, in the order given.
func render(says []providertest.Say) string {
	s := says[0]
	if s.Refused {
		return completion(`{"role":"assistant","content":null,"refusal":"no"}`, "stop", "")
	}
	var tokens []string
	add := func(label, p string) { tokens = append(tokens, fmt.Sprintf("[%q,%s]", label, logOf(p))) }
	if s.Question.Type == prism.YesNo {
		add("Yes", s.Yes)
		if yes, err := strconv.ParseFloat(s.Yes, 64); err == nil {
			add("No", strconv.FormatFloat(1-yes, 'g', -1, 64))
		}
	}
	for _, p := range s.Options {
		add(labelOf(s, p.Key), p.P)
	}
	return completion(`{"role":"assistant","content":"A","refusal":null}`, "length", strings.Join(tokens, ","))
}

// logOf is the log of a number, and anything else as it is.
func logOf(p string) string {
	f, err := strconv.ParseFloat(p, 64)
	switch {
	case err != nil:
		return p
	case f == 0:
		return "-9999.0"
	default:
		return strconv.FormatFloat(math.Log(f), 'g', -1, 64)
	}
}

func labelOf(s providertest.Say, key string) string {
	for i, k := range s.Question.AnswerKeys() {
		if k == key {
			return string(rune('A' + i))
		}
	}
	return "Z"
}

// completion is a chat completion whose one token had these alternatives: ["token",logprob] each.
func completion(message, finish, tokens string) string {
	var top []string
	for part := range strings.SplitSeq(tokens, "],[") {
		name, p, ok := strings.Cut(strings.Trim(part, "[]"), `",`)
		if ok {
			top = append(top, fmt.Sprintf(`{"token":%s","bytes":[65],"logprob":%s}`, name, p))
		}
	}
	if len(top) == 0 {
		top = []string{`{"token":"x","bytes":null,"logprob":-1}`}
	}
	first := strings.TrimSuffix(top[0], "}")
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"m-1","choices":[{"index":0,
		"message":%s,"finish_reason":%q,"logprobs":{"content":[%s,"top_logprobs":[%s]}],"refusal":null}}],
		"usage":{"prompt_tokens":90,"completion_tokens":1,"total_tokens":91}}`, message, finish, first, strings.Join(top, ","))
}

// spec: chat-prompt-prefix
func TestWhatQuestionsShareComesFirstInEveryPrompt(t *testing.T) {
	t.Parallel()
	var before string
	for _, body := range providertest.Bodies(t, wire()) {
		prefix, _, found := strings.Cut(body, "Question:")
		if !found || before != "" && prefix != before {
			t.Errorf("prefix %q, before %q", prefix, before)
		}
		before = prefix
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range providertest.Says() {
		f.Add([]byte(render([]providertest.Say{s})))
	}
	for _, c := range replies {
		f.Add([]byte(c.raw))
	}
	providertest.Fuzz(f, func(raw []byte, questions []prism.Question) provider.Reply {
		var all provider.Reply
		for i := range questions {
			r := Format(provider.DefaultProfile()).Decode(raw, questions[i:i+1])
			all.Answers = append(all.Answers, r.Answers...)
			all.Tokens = r.Tokens
		}
		return all
	})
}

// spec: label-orders, provider-openai-chat
func TestCyclicOrdersGiveEachOptionEachLabelAndPlace(t *testing.T) {
	t.Parallel()
	option := func(key string) prism.Option { return prism.Option{Key: key, Label: strings.ToUpper(key) + "-text"} }
	many := prism.Question{Key: "q", Type: prism.Choice, Text: "?"}
	for i := range 26 {
		many.Options = append(many.Options, option(string(rune('a'+i))))
	}
	level := func(key string) prism.Level { return prism.Level{Key: key, Label: strings.ToUpper(key) + "-text"} }
	for name, c := range map[string]struct {
		q    prism.Question
		want []string // the prompts from the question on, without line breaks; nil: not compared
		n    int
	}{
		"a choice": {
			prism.Question{Key: "q", Type: prism.Choice, Text: "?", Options: []prism.Option{option("x"), option("y")}, InsufficientInformation: true},
			[]string{
				"A. X-text|B. Y-text|C. Insufficient information|Reply with one of: A, B, C",
				"A. Y-text|B. Insufficient information|C. X-text|Reply with one of: A, B, C",
				"A. Insufficient information|B. X-text|C. Y-text|Reply with one of: A, B, C",
			},
			3,
		},
		"a scale": {
			prism.Question{Key: "q", Type: prism.Scale, Text: "?", Levels: []prism.Level{level("x"), level("y"), level("z")}},
			[]string{
				"The levels, lowest first:|A. X-text|B. Y-text|C. Z-text|Reply with one of: A, B, C",
				"The levels, lowest first:|B. X-text|C. Y-text|A. Z-text|Reply with one of: A, B, C",
				"The levels, lowest first:|C. X-text|A. Y-text|B. Z-text|Reply with one of: A, B, C",
			},
			3,
		},
		"a yes_no":  {prism.Question{Key: "q", Type: prism.YesNo, Text: "?"}, []string{"Reply with one of: Yes, No", "Reply with one of: No, Yes"}, 2},
		"at most 8": {many, nil, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			formats := Cyclic(provider.DefaultProfile()).Orders([]prism.Question{c.q})
			if len(formats) != c.n {
				t.Fatalf("%d orders", len(formats))
			}
			seen := map[string]bool{}
			for i, f := range formats {
				var sent struct {
					Messages []struct {
						Content string `json:"content"`
					} `json:"messages"`
				}
				if !provider.Decode(provider.Encode(f.Body("m-1", "", nil, []prism.Question{c.q})), &sent) {
					t.Fatal("the body is no JSON")
				}
				_, shown, _ := strings.Cut(sent.Messages[1].Content, "Question: ?\n")
				shown = strings.ReplaceAll(shown, "\n", "|")
				if c.want != nil && shown != c.want[i] {
					t.Errorf("order %d shows %s, want %s", i, shown, c.want[i])
				}
				if seen[shown] {
					t.Errorf("order %d was asked before", i)
				}
				seen[shown] = true
				// A model that knows the answer says its label in every order.
				keys := c.q.AnswerKeys()
				if c.q.Type == prism.YesNo {
					a := f.Decode([]byte(completion("{}", "stop", `["No",0]`)), []prism.Question{c.q}).Answers[0]
					if a == nil || a.Probability != 0 {
						t.Errorf("order %d: no is read as %+v", i, a)
					}
				}
				for j, key := range keys {
					before, _, _ := strings.Cut(shown, ". "+c.q.Members()[j].Label)
					label := before[len(before)-1:]
					reply := f.Decode([]byte(completion("{}", "stop", `["`+label+`",0]`)), []prism.Question{c.q})
					if a := reply.Answers[0]; a == nil || a.Chosen != key || a.Probabilities[j].Key != key || a.Probabilities[j].Probability != 1 {
						t.Errorf("order %d: the label %s of %s is read as %+v", i, label, key, a)
					}
				}
			}
		})
	}
}

// The orders of a question are calls behind each other, of which the first is that without orders; what they share comes first.
// spec: label-orders, chat-prompt-prefix
func TestTheFirstOrderIsThatOfTheDefinition(t *testing.T) {
	t.Parallel()
	plain, cyclic := wire(), wire()
	cyclic.Format = Cyclic(provider.DefaultProfile())
	bodies, asked := providertest.Bodies(t, cyclic), providertest.Ask()
	at := 0
	for i, body := range providertest.Bodies(t, plain) {
		if bodies[at] != body {
			t.Errorf("question %d is asked first with %s, want %s", i, bodies[at], body)
		}
		prefix, _, _ := strings.Cut(body, "Question:")
		for range contract.Orders(asked.Definition.Questions[i]) {
			if !strings.HasPrefix(bodies[at], prefix) {
				t.Errorf("call %d begins with something else: %s", at, bodies[at])
			}
			at++
		}
	}
	if at != len(bodies) {
		t.Errorf("%d calls, want %d", len(bodies), at)
	}
	client, err := upstream.New(upstream.Config{BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	order, before := 0, ""
	for i, c := range Cyclic(provider.DefaultProfile()).Open(client, "m-1").Calls(asked) {
		if order++; c.Questions[0].Key != before {
			order, before = 0, c.Questions[0].Key
		}
		if c.Order != order || len(c.Questions) != 1 {
			t.Errorf("call %d is order %d of %d questions, want %d", i, c.Order, len(c.Questions), order)
		}
	}
}

// spec: asked-parts, absent-labels, label-mass-low
func TestTheRecordOfATagsIsThatOfItsParts(t *testing.T) {
	t.Parallel()
	a := providertest.Ask()
	a.Definition.Questions = []prism.Question{providertest.Themes(3)}
	says := func(tokens ...string) func(int) (int, string) {
		return func(n int) (int, string) {
			return http.StatusOK, completion(`{"role":"assistant","content":"A","refusal":null}`, "length", tokens[n%len(tokens)])
		}
	}
	providertest.Script(t, wire(), a, says(`["Yes",`+logOf("0.75")+`]`), func(t *testing.T, v ask.Report, sent []string) {
		if len(sent) != 3 || v.Failed() || len(v.Call.LabelMass) != 1 || math.Abs(v.Call.LabelMass[0].Mass-0.75) > 1e-9 ||
			v.Call.LabelMass[0].Question != "themes" || len(v.Call.Absent) != 1 || fmt.Sprint(v.Call.Absent[0].Keys) != "[t0 t1 t2]" {
			t.Errorf("%d calls: %+v", len(sent), v.Call)
		}
	})
	providertest.Script(t, wire(), a, says(`["Yes",`+logOf("0.01")+`],["No",`+logOf("0.02")+`]`), func(t *testing.T, v ask.Report, _ []string) {
		if want := "The model did not say one of the labels of question themes."; v.Error != want || v.Call.ErrorCode != prism.CodeLabelMassLow {
			t.Errorf("got %s %q, want %q", v.Call.ErrorCode, v.Error, want)
		}
	})
}
