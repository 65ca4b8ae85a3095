//go:build sdk

package openaichat

import (
	"math"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

func sdkParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "m-1",
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage(system + "\n\nJudge as the support team would."),
			openai.UserMessage("Input:\n" + `{"context":"a context nobody may see","subject":"Order 77",` +
				`"body":"My card <4111> was charged twice & I am furious"}` + "\n\nQuestion: Which team takes this ticket?\n" +
				"A. Billing: charges and refunds\nB. Shipping\nC. Security: stolen accounts\nD. Insufficient information\n" +
				"Reply with one of: A, B, C, D"),
		},
		MaxTokens:   openai.Int(1),
		Temperature: openai.Float(0),
		Logprobs:    openai.Bool(true),
		TopLogprobs: openai.Int(20),
	}
}

// spec: provider-openai-chat
func TestRequestAndResponseAreTheOfficialSDKs(t *testing.T) {
	t.Parallel()
	baseURL, last := providertest.Record(t, render(providertest.Says()))

	ours := providertest.Send(t, wire(), baseURL)
	our := last()
	sdk := openai.NewClient(option.WithBaseURL(baseURL), option.WithAPIKey(providertest.Secret), option.WithMaxRetries(0),
		option.WithUnsafeAllowHTTP())
	theirs, err := sdk.Chat.Completions.New(t.Context(), sdkParams())
	if err != nil {
		t.Fatal(err)
	}
	providertest.SameRequest(t, our, last(), "Authorization", "Content-Type")

	for i, top := range theirs.Choices[0].Logprobs.Content[0].TopLogprobs {
		if got := ours.Answers[0].Probabilities[i].Probability; math.Abs(got-math.Exp(top.Logprob)) > 1e-9 {
			t.Errorf("label %s is %v, the SDK reads %v", top.Token, got, math.Exp(top.Logprob))
		}
	}
	if ours.Tokens.Input.N != theirs.Usage.PromptTokens || ours.Tokens.Output.N != theirs.Usage.CompletionTokens {
		t.Errorf("tokens %+v, the SDK reads %+v", ours.Tokens, theirs.Usage)
	}
}
