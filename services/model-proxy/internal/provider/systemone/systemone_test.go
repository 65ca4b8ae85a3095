package systemone

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spec: provider-systemone
func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, wire())
}

func wire() providertest.Wire {
	return providertest.Wire{
		Format: Format(),
		Path:   "/systemone",
		Header: http.Header{"Authorization": {"Bearer " + providertest.Secret}},
		Render: render,
		// A host that can answer nothing leaves every answer out.
		Refusals: []string{`{"model":"m-1","answers":{},"usage":{"input_tokens":3,"output_tokens":0}}`},
	}
}

// render has the members that vLLM documents, among them those that we ignore.
func render(says []providertest.Say) string {
	var answers, diagnostics []string
	for _, s := range says {
		if s.Refused {
			continue
		}
		key := strconv.Quote(s.Question.Key)
		diagnostics = append(diagnostics, key+`:{"label_mass":0.93,"argmax_is_label":true}`)
		switch s.Question.Type { //nolint:exhaustive // tags are asked in parts
		case prism.Choice:
			answers = append(answers, fmt.Sprintf(`%s:{"type":"choice","choice":"x","probabilities":{%s},"confidence":0.9}`,
				key, pairs(s, func(k string) string { return k })))
		case prism.Scale:
			answers = append(answers, fmt.Sprintf(
				`%s:{"type":"score","score":0.6,"legend":{"0":"Calm"},"probabilities":{%s},"confidence":0.6}`, key, pairs(s, index(s))))
		case prism.YesNo:
			answers = append(answers, fmt.Sprintf(
				`%s:{"type":"noul","noul":%s,"probabilities":{"yes":0.02,"no":0.98},"confidence":0.9}`, key, s.Yes))
		}
	}
	return fmt.Sprintf(`{"id":"decision-1","object":"structured_decision","created":1790000000,"model":"m-1","answers":{%s},
		"usage":{"input_tokens":142,"output_tokens":3},"diagnostics":{%s}}`,
		strings.Join(answers, ","), strings.Join(diagnostics, ","))
}

func pairs(s providertest.Say, name func(string) string) string {
	var out []string
	for _, p := range s.Options {
		out = append(out, strconv.Quote(name(p.Key))+":"+p.P)
	}
	return strings.Join(out, ",")
}

func index(s providertest.Say) func(string) string {
	return func(key string) string {
		for i, l := range s.Question.Levels {
			if l.Key == key {
				return strconv.Itoa(i)
			}
		}
		return key
	}
}

// spec: provider-systemone
func TestRequestIsTheDocumentedOneWithMembersInDefinitionOrder(t *testing.T) {
	t.Parallel()
	want := `{"model":"m-1","state":{"context":"a context nobody may see","subject":"Order 77",` +
		`"body":"My card <4111> was charged twice & I am furious"},"questions":{` +
		`"team":{"type":"choice","instructions":"Judge as the support team would.\n\nWhich team takes this ticket?",` +
		`"criteria":{"billing":"Billing: charges and refunds","shipping":"Shipping","security":"Security: stolen accounts",` +
		`"insufficient_information":"Insufficient information"}},` +
		`"urgent":{"type":"noul","instructions":"Judge as the support team would.\n\nMust somebody reply within the hour?"},` +
		`"tone":{"type":"score","instructions":"Judge as the support team would.\n\nHow upset is the writer?",` +
		`"criteria":["Calm","Cross","Raging"]}}}`
	if got := providertest.Bodies(t, wire())[0]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// spec: provider-systemone
func TestUsageAndDiagnosticsAreRead(t *testing.T) {
	t.Parallel()
	r := Format().Decode([]byte(render(providertest.Says())), providertest.Ask().Definition.Questions)
	if r.Tokens != (provider.Tokens{Input: provider.Count{N: 142, Known: true}, Output: provider.Count{N: 3, Known: true}}) ||
		len(r.LabelMass) != 3 || r.LabelMass[0].Mass != 0.93 {
		t.Errorf("got %+v", r)
	}
}

func TestUsageAndDiagnosticsThatCanNotBeReadSpoilNoAnswer(t *testing.T) {
	t.Parallel()
	q := []prism.Question{{Key: "urgent", Type: prism.YesNo}}
	r := Format().Decode([]byte(`{"answers":{"urgent":{"noul":0.5}},"usage":"many","diagnostics":[]}`), q)
	if r.Answers[0] == nil || r.Answers[0].Probability != 0.5 || len(r.LabelMass) != 0 {
		t.Errorf("got %+v", r)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(render(providertest.Says())))
	f.Add([]byte(`{"answers":{"team":{"type":"choice","probabilities":{"billing":1e400}},"tone":null}}`))
	f.Add([]byte(`{"answers":{"urgent":{"noul":2}},"usage":[],"diagnostics":{"urgent":{"label_mass":"x"}}}`))
	providertest.Fuzz(f, Format().Decode)
}

// Hosts round to two decimals.
//
// spec: probability-checks
func TestProbabilitiesOfTwentyOptionsMayBeRounded(t *testing.T) {
	t.Parallel()
	q := prism.Question{Key: "q", Type: prism.Choice, Text: "?"}
	for i := range 20 {
		q.Options = append(q.Options, prism.Option{Key: fmt.Sprintf("o%02d", i+1), Label: "x"})
	}
	body, err := os.ReadFile("testdata/01-systemone-20-options.json")
	if err != nil {
		t.Fatal(err)
	}
	providertest.Answer(t, wire(), q, string(body), func(t *testing.T, v ask.Report, _ int) {
		answers, err := answerjson.Parse(v.Answers)
		if err != nil || answers[0].Chosen != "o01" || answers[0].Probabilities[0].Probability != 1 {
			t.Errorf("got %+v, %v", v, err)
		}
	})
}
