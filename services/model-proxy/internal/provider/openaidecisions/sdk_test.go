//go:build sdk

package openaidecisions

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

// client is the official SDK, the oracle of the wire format.
func client(baseURL string) openai.Client {
	return openai.NewClient(option.WithBaseURL(baseURL), option.WithAPIKey(providertest.Secret), option.WithMaxRetries(0),
		option.WithUnsafeAllowHTTP())
}

func sdkParams() openai.DecisionNewParams {
	instructions := func(q prism.Question) string { return "Judge as the support team would.\n\n" + q.Text }
	team := &openai.DecisionNewParamsQuestionChoice{
		Name: openai.String("team"),
		Instructions: openai.DecisionNewParamsQuestionChoiceInstructionsUnion{
			OfString: openai.String(instructions(providertest.Team())),
		},
	}
	for _, c := range [][2]string{
		{"billing", "Billing: charges and refunds"},
		{"shipping", "Shipping"},
		{"security", "Security: stolen accounts"},
		{"insufficient_information", "Insufficient information"},
	} {
		team.Choices = append(team.Choices, openai.DecisionNewParamsQuestionChoiceChoice{
			Value:       openai.DecisionNewParamsQuestionChoiceChoiceValueUnion{OfString: openai.String(c[0])},
			Description: openai.String(c[1]),
		})
	}
	tone := &openai.DecisionNewParamsQuestionScore{
		Name: openai.String("tone"),
		Instructions: openai.DecisionNewParamsQuestionScoreInstructionsUnion{
			OfString: openai.String(instructions(providertest.Tone())),
		},
	}
	for _, l := range []string{"Calm", "Cross", "Raging"} {
		tone.Levels = append(tone.Levels, openai.DecisionNewParamsQuestionScoreLevel{Label: l})
	}
	return openai.DecisionNewParams{
		Model: "m-1",
		Input: openai.DecisionNewParamsInputUnion{OfString: openai.String(
			`{"context":"a context nobody may see","subject":"Order 77","body":"My card <4111> was charged twice & I am furious"}`)},
		Questions: []openai.DecisionNewParamsQuestionUnion{
			{OfChoice: team},
			{OfPredicate: &openai.DecisionNewParamsQuestionPredicate{
				Name: openai.String("urgent"),
				Instructions: openai.DecisionNewParamsQuestionPredicateInstructionsUnion{
					OfString: openai.String(instructions(providertest.Urgent())),
				},
			}},
			{OfScore: tone},
		},
	}
}

// spec: provider-openai-decisions
func TestRequestAndResponseAreTheOfficialSDKs(t *testing.T) {
	t.Parallel()
	baseURL, last := providertest.Record(t, render(providertest.Says()))

	ours := providertest.Send(t, wire(), baseURL)
	our := last()
	sdk := client(baseURL)
	theirs, err := sdk.Decisions.New(t.Context(), sdkParams())
	if err != nil {
		t.Fatal(err)
	}
	providertest.SameRequest(t, our, last(), "Authorization", "Content-Type")

	for i, p := range theirs.Answers[0].AsChoice().Probabilities {
		if got := ours.Answers[0].Probabilities[i]; got.Key != p.Value.OfString || got.Probability != p.Probability {
			t.Errorf("option %+v, the SDK reads %s %v", got, p.Value.OfString, p.Probability)
		}
	}
	if got := theirs.Answers[1].AsPredicate().Probability; got != ours.Answers[1].Probability {
		t.Errorf("predicate %v, the SDK reads %v", ours.Answers[1].Probability, got)
	}
	for i, p := range theirs.Answers[2].AsScore().Probabilities {
		if got := ours.Answers[2].Probabilities[p.Value].Probability; got != p.Probability || int64(i) != p.Value {
			t.Errorf("level %d is %v, the SDK reads %v", p.Value, got, p.Probability)
		}
	}
	if ours.Tokens.Input.N != theirs.Usage.InputTokens || ours.Tokens.Output.N != theirs.Usage.OutputTokens {
		t.Errorf("tokens %+v, the SDK reads %+v", ours.Tokens, theirs.Usage)
	}
}

func TestTheSDKReadsARefusalWhereWeDo(t *testing.T) {
	t.Parallel()
	says := providertest.Says()
	says[0].Refused = true
	baseURL, last := providertest.Record(t, render(says))
	ours := providertest.Send(t, wire(), baseURL)
	last()
	sdk := client(baseURL)
	theirs, err := sdk.Decisions.New(t.Context(), sdkParams())
	if err != nil {
		t.Fatal(err)
	}
	if _, refused := theirs.Answers[0].AsAny().(openai.DecisionAnswerRefusal); !refused || ours.Answers[0] != nil {
		t.Errorf("the SDK reads %+v, we read %+v", theirs.Answers[0], ours.Answers[0])
	}
	if ours.Answers[1] == nil || ours.Answers[2] == nil {
		t.Error("the other questions were answered")
	}
}
