package anthropic

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wire() providertest.Wire {
	return providertest.Wire{
		Format: Format(),
		Path:   "/messages",
		Header: http.Header{"X-Api-Key": {providertest.Secret}, "Anthropic-Version": {"2023-06-01"}},
		Render: render,
		Refusals: []string{
			messageOf("I would rather not.", "refusal"),
			messageOf(output(providertest.Says()[:1]), "refusal"),
			messageOf(output(providertest.Says()[:1]), "max_tokens"),
			messageOf("I would rather not.", "end_turn"),
			messageOf("", "end_turn"),
		},
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, wire())
}

func render(says []providertest.Say) string { return messageOf(output(says), "end_turn") }

// output is what the model writes: the schema's object.
func output(says []providertest.Say) string {
	var answers []string
	for _, s := range says {
		switch {
		case s.Refused: // a question that the model would not answer has no number
			answers = append(answers, strconv.Quote(s.Question.Key)+`:null`)
		case s.Question.Type == prism.YesNo:
			answers = append(answers, strconv.Quote(s.Question.Key)+":"+s.Yes)
		default:
			var ps []string
			for _, p := range s.Options {
				ps = append(ps, strconv.Quote(p.Key)+":"+p.P)
			}
			answers = append(answers, strconv.Quote(s.Question.Key)+":{"+strings.Join(ps, ",")+"}")
		}
	}
	return "{" + strings.Join(answers, ",") + "}"
}

func messageOf(text, stop string) string {
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[
		{"type":"thinking","thinking":"{}","signature":"s"},{"type":"text","text":%s,"citations":null}],
		"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":40,"output_tokens":60,
		"cache_creation_input_tokens":2,"cache_read_input_tokens":100}}`, strictjson.AppendString(nil, text), stop)
}

func sdkParams() sdk.MessageNewParams {
	number := map[string]any{"type": "number"}
	object := func(keys ...string) map[string]any {
		properties := map[string]any{}
		for _, k := range keys {
			properties[k] = number
		}
		return map[string]any{"type": "object", "properties": properties, "required": keys, "additionalProperties": false}
	}
	schema := object("team", "urgent", "tone")
	schema["properties"].(map[string]any)["team"] = object("billing", "shipping", "security", "insufficient_information")
	schema["properties"].(map[string]any)["tone"] = object("calm", "cross", "raging")
	return sdk.MessageNewParams{
		Model:     "m-1",
		MaxTokens: 1024,
		System:    []sdk.TextBlockParam{{Text: system + "\n\nJudge as the support team would."}},
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Input:\n" +
			`{"context":"a context nobody may see","subject":"Order 77","body":"My card <4111> was charged twice & I am furious"}` +
			"\n\nQuestions, by their key:\n\nteam: Which team takes this ticket?\n- billing: Billing: charges and refunds\n" +
			"- shipping: Shipping\n- security: Security: stolen accounts\n- insufficient_information: Insufficient information\n" +
			"\nurgent: Must somebody reply within the hour?\nThe probability of yes.\n" +
			"\ntone: How upset is the writer?\nThe levels, lowest first:\n- calm: Calm\n- cross: Cross\n- raging: Raging\n"))},
		OutputConfig: sdk.OutputConfigParam{Format: sdk.JSONOutputFormatParam{Schema: schema}},
	}
}

// spec: provider-anthropic
func TestRequestAndResponseAreTheOfficialSDKs(t *testing.T) {
	t.Parallel()
	server, last := providertest.Record(t, render(providertest.Says()))

	ours := providertest.Send(t, wire(), server+"/v1")
	our := last()
	client := sdk.NewClient(option.WithBaseURL(server), option.WithAPIKey(providertest.Secret), option.WithMaxRetries(0))
	theirs, err := client.Messages.New(t.Context(), sdkParams())
	if err != nil {
		t.Fatal(err)
	}
	providertest.SameRequest(t, our, last(), "X-Api-Key", "Anthropic-Version", "Content-Type")

	var numbers struct {
		Team   map[string]float64 `json:"team"`
		Urgent float64            `json:"urgent"`
		Tone   map[string]float64 `json:"tone"`
	}
	for _, block := range theirs.Content {
		if text, ok := block.AsAny().(sdk.TextBlock); ok {
			if err := strictjson.Unmarshal([]byte(text.Text), &numbers); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range append(ours.Answers[0].Probabilities, ours.Answers[2].Probabilities...) {
		if want, ok := numbers.Team[p.Key]; ok && want != p.Probability {
			t.Errorf("%s is %v, the SDK reads %v", p.Key, p.Probability, want)
		}
		if want, ok := numbers.Tone[p.Key]; ok && want != p.Probability {
			t.Errorf("%s is %v, the SDK reads %v", p.Key, p.Probability, want)
		}
	}
	if len(numbers.Team) != 4 || len(numbers.Tone) != 3 || numbers.Urgent != ours.Answers[1].Probability {
		t.Errorf("the SDK reads %+v", numbers)
	}
	if theirs.StopReason != sdk.StopReasonEndTurn {
		t.Errorf("the SDK reads stop reason %s", theirs.StopReason)
	}
	u := theirs.Usage
	if ours.Tokens.Input.N != u.InputTokens+u.CacheCreationInputTokens+u.CacheReadInputTokens || ours.Tokens.Output.N != u.OutputTokens {
		t.Errorf("tokens %+v, the SDK reads %+v", ours.Tokens, u)
	}
}

func TestTheTokenLimitGrowsWithTheAnswerAndHasACap(t *testing.T) {
	t.Parallel()
	small := maxTokens(providertest.Ask().Definition.Questions)
	var large prism.Definition
	for range 64 {
		q := prism.Question{Key: strings.Repeat("k", 64), Type: prism.Choice}
		for range 26 {
			q.Options = append(q.Options, prism.Option{Key: strings.Repeat("o", 64)})
		}
		large.Questions = append(large.Questions, q)
	}
	if got := maxTokens(large.Questions); small != 1024 || got != 16384 {
		t.Errorf("got %d and %d", small, got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(render(providertest.Says())))
	f.Add([]byte(messageOf(`{"team":{"billing":-1},"urgent":"x","tone":[]}`, "end_turn")))
	f.Add([]byte(messageOf(`{"urgent":1e999}`, "end_turn")))
	providertest.Fuzz(f, Format().Decode)
}
