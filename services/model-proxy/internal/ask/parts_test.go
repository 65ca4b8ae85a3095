package ask

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// tagging is a model whose one call answers all questions that it is asked, each part with p, and says which they were. A whole one is asked
// no parts.
func tagging(name string, whole bool, p float64, asked *[]string, fails *upstream.Fault, fallback ...string) *models.Model {
	calls := func(a contract.Ask) []provider.Call {
		c := provider.Call{Questions: a.Definition.Questions}
		c.Do = func(context.Context) (r provider.Reply, f *upstream.Fault) {
			for _, q := range a.Definition.Questions {
				*asked = append(*asked, name+":"+q.Key)
				answer := prism.Answer{Question: q.Key, Type: q.Type, Probability: p}
				if q.Type.Classes() == prism.Multiple {
					answer = q.Whole([]prism.Answer{{Probability: p}, {Probability: p}})
				}
				r.Answers = append(r.Answers, &answer)
			}
			return r, fails
		}
		return []provider.Call{c}
	}
	return models.New(models.Spec{Name: name, Fallback: fallback}, provider.Provider{Name: name, Calls: calls, Whole: whole}, nil)
}

// spec: asked-parts, escalation, fallback
func TestEachModelIsAskedInItsOwnWay(t *testing.T) {
	t.Parallel()
	var asked []string
	s := New(models.NewCurrent(
		tagging("a", false, 0.5, &asked, nil), tagging("b", false, 0, &asked, &upstream.Fault{Class: failure.Exhausted}, "c"), tagging("c", true, 0.75, &asked, nil),
	), Config{})
	a := another()
	a.Definition.Escalate = &prism.Escalate{To: "c", Below: 0.6}
	a.Definition.Questions = []prism.Question{
		{Key: "y", Type: prism.YesNo}, {Key: "t", Type: prism.Tags, Options: []prism.Option{{Key: "v"}, {Key: "w"}}},
	}
	v, err := s.Ask(t.Context(), a)
	if err != nil || v.Failed() {
		t.Fatalf("%v: %s", err, v.Error)
	}
	if want := []string{"a:y", "a:t-v", "a:t-w", "c:y", "c:t"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	const second = `{"y":{"type":"yes_no","probability":0.75},"t":{"type":"tags","values":["v","w"],"probabilities":{"v":0.75,"w":0.75}}}`
	if string(v.Answers) != second {
		t.Errorf("answered %s, want %s", v.Answers, second)
	}
	first, err := answerjson.Parse(v.Call.Escalation.Answers)
	if err != nil || !slices.Equal(v.Call.Escalation.Questions, []string{"y", "t"}) || len(first) != 2 || first[1].Probabilities[1].Probability != 0.5 {
		t.Errorf("the record has %+v, %v", v.Call.Escalation, err)
	}
	asked = nil
	a.Definition.Model, a.Definition.Escalate, a.Context = "b", nil, another().Context
	if v, err = s.Ask(t.Context(), a); err != nil || string(v.Answers) != second || !v.Call.FellBack || asked[0] != "b:y" || asked[len(asked)-1] != "c:t" {
		t.Errorf("a fallback answered %s, %v, by %v", v.Answers, err, asked)
	}
	if len(a.Definition.Questions) != 2 || len(a.Definition.Questions[1].Options) != 2 {
		t.Errorf("the ask became %+v", a.Definition)
	}
}

// spec: asked-parts, examples-in-a-call
func TestAnExampleSaysWhatIsRightForEachPart(t *testing.T) {
	t.Parallel()
	q := prism.Question{Key: "t", Type: prism.Tags, Options: []prism.Option{{Key: "v"}, {Key: "w"}}}
	a := another()
	a.Definition.Questions = []prism.Question{q}
	a.Definition.Examples = []prism.Example{
		{Answers: prism.ExampleAnswers{prism.NewExampleAnswer(q, `["w"]`)}}, {Answers: prism.ExampleAnswers{prism.NewExampleAnswer(q, `[]`)}}, {},
	}
	asked, _ := inParts(a, tagging("a", false, 0.5, new([]string), nil))
	var right [][]string
	for _, e := range asked.Definition.Examples {
		var replies []string
		for _, part := range asked.Definition.Questions {
			value, _ := e.Label(part)
			replies = append(replies, part.ReplyOf(value))
		}
		right = append(right, replies)
	}
	if want := [][]string{{"no", "yes"}, {"no", "no"}, {"", ""}}; !reflect.DeepEqual(right, want) {
		t.Errorf("got %q, want %q", right, want)
	}
	if len(a.Definition.Examples[0].Answers) != 1 {
		t.Errorf("the ask became %+v", a.Definition.Examples)
	}
}
