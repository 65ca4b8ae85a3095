package stated

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func profile() provider.Profile {
	p := provider.DefaultProfile()
	p.Probabilities = api.Stated
	return p
}

func wire() providertest.Wire {
	return providertest.Wire{
		Format: Format(profile()),
		Path:   "/chat/completions",
		Header: http.Header{"Authorization": {"Bearer " + providertest.Secret}},
		Render: func(says []providertest.Say) string { return content(providertest.Stated(says), "stop") },
		Refusals: []string{
			content(providertest.Stated(providertest.Says()[:1]), "length"),
			content("I would rather not.", "stop"),
			content("", "stop"),
			completion(`{"content":"{}","refusal":"no"}`, "stop"),
		},
		Filtered: []string{content(providertest.Stated(providertest.Says()), "content_filter")},
	}
}

// content is a reply with a content, which is a text.
func content(text, finish string) string {
	return completion(`{"role":"assistant","content":`+quoted(text)+`}`, finish)
}

func quoted(text string) string { return string(strictjson.AppendString(nil, text)) }

func completion(message, finish string) string {
	return fmt.Sprintf(`{"id":"c","choices":[{"index":0,"message":%s,"finish_reason":%q}],
		"usage":{"prompt_tokens":100,"completion_tokens":60}}`, message, finish)
}

// spec: stated-probabilities
func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, wire())
}

// spec: stated-probabilities
func TestTheRequestIsTheOneThatIsKept(t *testing.T) {
	t.Parallel()
	providertest.SameAsKept(t, wire())
}

// spec: stated-probabilities
func TestAHostWithoutSchemasReadsTheSchemaInThePrompt(t *testing.T) {
	t.Parallel()
	p := profile()
	p.ResponseFormat = provider.JSONObject
	w := wire()
	w.Format = Format(p)
	sent := providertest.Bodies(t, w)[0]
	if !strings.Contains(sent, `"response_format":{"type":"json_object"}`) || !strings.Contains(sent, `follows this JSON schema:\n{\"type\":\"object\"`) {
		t.Errorf("sent %s", sent)
	}
}

// spec: stated-replies
func TestAnObjectIsFoundWhereverAHostPutsIt(t *testing.T) {
	t.Parallel()
	const object = `{"urgent": 0.8}`
	for name, message := range map[string]string{
		"the content":                     `{"content":` + quoted(object) + `}`,
		"white space":                     `{"content":` + quoted("\n  "+object+"\n") + `}`,
		"a code fence":                    `{"content":` + quoted("```json\n"+object+"\n```") + `}`,
		"a code fence without a language": `{"content":` + quoted("```\n"+object+"\n```\n") + `}`,
		"thoughts before it":              `{"content":` + quoted("<think>\n{\"urgent\": 0.1}\n</think>\n\n"+object) + `}`,
		"thoughts in other members":       `{"reasoning_content":"{}","reasoning":"{}","reasoning_details":[{"text":"{}"}],"content":` + quoted(object) + `}`,
		"parts":                           `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"{}"}]},{"type":"text","text":` + quoted(object) + `}]}`,
		"a tool call":                     `{"content":null,"tool_calls":[{"type":"function","function":{"name":"answers","arguments":` + quoted(object) + `}}]}`,
		"a tool call of an object":        `{"content":"","tool_calls":[{"function":{"arguments":` + object + `}}]}`,
		"a tool call beside words":        `{"content":"Here you are:","tool_calls":[{"function":{"arguments":` + quoted(object) + `}}]}`,
		"an object beside a tool call":    `{"content":` + quoted(object) + `,"tool_calls":[{"function":{"arguments":"{}"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := Format(profile()).Decode([]byte(completion(message, "stop")), []prism.Question{providertest.Urgent()})
			if a := reply.Answers[0]; a == nil || a.Probability != 0.8 || reply.Tokens.Output.N != 60 {
				t.Errorf("got %+v", reply)
			}
		})
	}
}

// spec: probability-checks
func TestTwentyRoundedProbabilitiesAreNormalised(t *testing.T) {
	t.Parallel()
	q := prism.Question{Key: "q", Type: prism.Choice}
	stated := `"o0":0.92`
	for i := range 20 {
		q.Options = append(q.Options, prism.Option{Key: fmt.Sprint("o", i)})
		if i > 0 {
			stated += fmt.Sprintf(`,"o%d":0`, i)
		}
	}
	providertest.Answer(t, wire(), q, content(`{"q":{`+stated+`}}`, "stop"), func(t *testing.T, v ask.Report, _ int) {
		if !v.OK() || !strings.Contains(string(v.Answers), `"o0":1,`) {
			t.Errorf("got %+v %s", v, v.Answers)
		}
	})
}

// spec: unreadable-replies, lenient-replies
func TestANumberThatIsNoneMakesAnObjectUnreadable(t *testing.T) {
	t.Parallel()
	for object, unreadable := range map[string]bool{
		`{"urgent":NaN}`: true, `{"urgent":Infinity}`: true, `{"urgent":-Infinity}`: false, `{"urgent":null}`: false,
		`{"other":NaN,"urgent":0.5}`: false, `{"urgent":0.1,"urgent":0.5}`: false,
	} {
		reply := Format(profile()).Decode([]byte(content(object, "stop")), []prism.Question{providertest.Urgent()})
		if answered := strings.Contains(object, "0.5"); (reply.Fault != nil) != unreadable || (reply.Answers[0] != nil) != answered {
			t.Errorf("%s: got %+v, %+v", object, reply.Answers[0], reply.Fault)
		}
	}
}

func TestTheTokenLimitGrowsWithTheAnswerAndHasACap(t *testing.T) {
	t.Parallel()
	small := MaxTokens(providertest.Ask().Definition.Questions)
	var large prism.Definition
	for range 64 {
		q := prism.Question{Key: strings.Repeat("k", 64), Type: prism.Choice}
		for range 26 {
			q.Options = append(q.Options, prism.Option{Key: strings.Repeat("o", 64)})
		}
		large.Questions = append(large.Questions, q)
	}
	if got := MaxTokens(large.Questions); small != 1024 || got != 16384 {
		t.Errorf("got %d and %d", small, got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(content(providertest.Stated(providertest.Says()), "stop")))
	f.Add([]byte(completion(`{"content":[{"type":"text","text":"{}"}],"tool_calls":[{"function":{"arguments":{"urgent":1}}}]}`, "tool_calls")))
	f.Add([]byte(content("<think>```", "stop")))
	providertest.Fuzz(f, Format(profile()).Decode)
}

// spec: stated-options
func TestTheKeysOfManyOptionsAreEnumsAsFarAsHostsTakeThem(t *testing.T) {
	t.Parallel()
	of := func(questions, options, length int) (all []prism.Question) {
		for i := range questions {
			q := prism.Question{Key: fmt.Sprint("q", i), Type: prism.Choice, Text: "?"}
			for o := range options {
				key := fmt.Sprint("o", o)
				q.Options = append(q.Options, prism.Option{Key: key + strings.Repeat("x", length-len(key)), Label: "O"})
			}
			all = append(all, q)
		}
		return all
	}
	for _, c := range []struct {
		questions, options, length int
		list, enum                 bool
	}{
		{64, 10, 8, false, false},
		{1, 11, 8, true, true},
		{4, 250, 8, true, true},
		{5, 250, 8, true, false},
		{1, 250, 60, true, true},
		{1, 251, 60, true, false},
	} {
		schema := string(provider.Encode(Schema(of(c.questions, c.options, c.length))))
		if strings.Contains(schema, `"array"`) != c.list || strings.Contains(schema, `"enum"`) != c.enum {
			t.Errorf("%+v: %.300s", c, schema)
		}
		if list := strings.Contains(Prompt(of(c.questions, c.options, c.length)), "10 most probable"); list != c.list {
			t.Errorf("%+v: the prompt asks for a list: %v", c, list)
		}
	}
}
