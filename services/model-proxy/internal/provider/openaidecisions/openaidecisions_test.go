package openaidecisions

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wire() providertest.Wire {
	return providertest.Wire{
		Format: Format(),
		Path:   "/decisions",
		Header: http.Header{"Authorization": {"Bearer " + providertest.Secret}},
		Render: render,
		Refusals: []string{
			`{"answers":[{"type":"refusal","name":"team"}],"model":"m-1","usage":{}}`,
			`{"answers":[{"type":"refusal","name":null}],"model":"m-1"}`,
		},
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, wire())
}

func render(says []providertest.Say) string {
	var answers []string
	for _, s := range says {
		name := strconv.Quote(s.Question.Key)
		var ps []string
		for _, p := range s.Options {
			if s.Question.Type == prism.Scale {
				ps = append(ps, fmt.Sprintf(`{"label":"any","value":%s,"probability":%s}`, index(s, p.Key), p.P))
			} else {
				ps = append(ps, fmt.Sprintf(`{"value":%q,"probability":%s}`, p.Key, p.P))
			}
		}
		list := strings.Join(ps, ",")
		switch {
		case s.Refused:
			answers = append(answers, fmt.Sprintf(`{"type":"refusal","name":%s}`, name))
		case s.Question.Type == prism.Choice:
			answers = append(answers, fmt.Sprintf(
				`{"type":"choice","name":%s,"choice":"billing","probabilities":[%s],"confidence":0.6}`, name, list))
		case s.Question.Type == prism.Scale:
			answers = append(answers, fmt.Sprintf(
				`{"type":"score","name":%s,"score":1.5,"probabilities":[%s],"confidence":0.6}`, name, list))
		case s.Question.Type == prism.YesNo:
			answers = append(answers, fmt.Sprintf(`{"type":"predicate","name":%s,"probability":%s}`, name, s.Yes))
		}
	}
	return fmt.Sprintf(`{"answers":[%s],"model":"m-1","usage":{"input_tokens":164,
		"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":2,
		"output_tokens_details":{"reasoning_tokens":0},"total_tokens":166}}`, strings.Join(answers, ","))
}

func index(s providertest.Say, key string) string {
	for i, l := range s.Question.Levels {
		if l.Key == key {
			return strconv.Itoa(i)
		}
	}
	return "99"
}

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

func TestAnswersWithoutNamesAreTakenInQuestionOrder(t *testing.T) {
	t.Parallel()
	raw := strings.NewReplacer(`"name":"team"`, `"name":null`, `"name":"urgent"`, `"name":null`, `"name":"tone",`, ``).
		Replace(render(providertest.Says()))
	r := Format().Decode([]byte(raw), providertest.Ask().Definition.Questions)
	for i, a := range r.Answers {
		if a == nil {
			t.Errorf("answer %d is missing", i)
		}
	}
}

func TestABooleanIsNotTheOptionOfTheSameName(t *testing.T) {
	t.Parallel()
	q := prism.Question{Key: "q", Type: prism.Choice, Options: []prism.Option{{Key: "true"}, {Key: "false"}}}
	decoded := func(yes, no string) *prism.Answer {
		return Format().Decode(fmt.Appendf(nil, `{"answers":[{"type":"choice","name":"q","probabilities":[
			{"value":%s,"probability":0.9},{"value":%s,"probability":0.1}]}]}`, yes, no), []prism.Question{q}).Answers[0]
	}
	if decoded(`"true"`, `"false"`) == nil {
		t.Error("strings are ours")
	}
	if decoded(`true`, `false`) != nil || decoded(`"true"`, `false`) != nil {
		t.Error("booleans are not")
	}
}

func TestWhatIsSaidTwiceIsNotSaid(t *testing.T) {
	t.Parallel()
	q := []prism.Question{{Key: "q", Type: prism.Choice, Options: []prism.Option{{Key: "a"}, {Key: "b"}}}}
	for _, raw := range []string{
		`{"answers":[{"type":"choice","name":"q","probabilities":[{"value":"a","probability":0.5},
			{"value":"b","probability":0.5},{"value":"a","probability":0.5}]}]}`,
		`{"answers":[{"type":"choice","name":"q","probabilities":[{"value":"a","probability":1},{"value":"b","probability":0}]},
			{"type":"choice","name":"q","probabilities":[{"value":"a","probability":0},{"value":"b","probability":1}]}]}`,
	} {
		if a := Format().Decode([]byte(raw), q).Answers[0]; a != nil {
			t.Errorf("got %+v", a)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(render(providertest.Says())))
	f.Add([]byte(`{"answers":[{"type":"refusal","name":"team"},null,{"type":"score","probabilities":[{"value":-1}]}]}`))
	f.Add([]byte(`{"answers":[{"type":"choice","probabilities":[{"value":true,"probability":1}]}],"usage":7}`))
	providertest.Fuzz(f, Format().Decode)
}
