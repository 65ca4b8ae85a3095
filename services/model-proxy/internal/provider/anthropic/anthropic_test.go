package anthropic

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

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
			messageOf(output(providertest.Says()[:1]), "max_tokens"),
			messageOf("I would rather not.", "end_turn"),
			messageOf("", "end_turn"),
		},
		Filtered: []string{
			messageOf("I would rather not.", "refusal"),
			messageOf(output(providertest.Says()[:1]), "refusal"),
		},
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, wire())
}

// spec: provider-anthropic
func TestTheRequestIsTheOneThatIsKept(t *testing.T) {
	t.Parallel()
	providertest.SameAsKept(t, wire())
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
