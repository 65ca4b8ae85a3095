//go:build sdk

package anthropic

import (
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/stated"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

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
		System:    []sdk.TextBlockParam{{Text: stated.System + "\n\nJudge as the support team would."}},
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
