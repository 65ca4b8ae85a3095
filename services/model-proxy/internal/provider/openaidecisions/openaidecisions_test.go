package openaidecisions

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
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

// spec: provider-openai-decisions
func TestTheRequestIsTheOneThatIsKept(t *testing.T) {
	t.Parallel()
	providertest.SameAsKept(t, wire())
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
