package request_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

const (
	adHocDecision = `{"model":"model/fast","input":"x","questions":[
		{"type":"choice","name":"a b","instructions":"What?","choices":[{"value":true,"description":"d"},{"value":"true"}]},
		{"type":"predicate","instructions":[{"type":"input_text","text":"a"},{"type":"input_json","data":{"b": 1}}]},
		{"type":"score","name":"s","instructions":"How?","levels":[{"label":"Low","description":"d"},{"label":"Up"}]}]}`
	adHocSystemOne = `{"model":"model/fast","state":{"b":"x","a":{"n": 1}},"questions":{
		"z":{"type":"choice","instructions":{"task": 1},"criteria":{"Z":null,"2":"two","3":["x"]}},
		"a":{"type":"noul","criteria":{"true":"spam","false":{"k": 1}}},
		"m":{"type":"score","instructions":"How?","criteria":["Low",{"up": 1}]}}}`
)

// spec: adhoc-call, adhoc-questions, adhoc-fields, adhoc-names
func TestAnAdHocCallIsADefinition(t *testing.T) {
	t.Parallel()
	levels := func(labels ...string) (all []prism.Level) {
		for i, label := range labels {
			all = append(all, prism.Level{Key: fmt.Sprintf("o%d", i+1), Label: label, Value: new(float64(i + 1))})
		}
		return all
	}
	decision, err := parsedBody(api.CreateDecision, adHocDecision)
	wantProblems(t, err, "")
	systemOne, err := parsedBody(api.CreateSystemOne, adHocSystemOne)
	wantProblems(t, err, "")
	for _, c := range []struct {
		got        api.ForeignCall
		fields     api.FieldValues
		definition prism.Definition
		names      []api.NamesOfQuestion
	}{
		{
			decision.Call,
			api.FieldValues{{Key: "input", Value: "x"}},
			prism.Definition{Model: "fast", Fields: []prism.Field{{Key: "input"}}, Questions: []prism.Question{
				{Key: "q1", Type: prism.Choice, Text: "What?", Options: []prism.Option{{Key: "o1", Label: "true", Description: "d"}, {Key: "o2", Label: "true"}}},
				{Key: "q2", Type: prism.YesNo, Text: "a\n\n{\"b\": 1}"},
				{Key: "q3", Type: prism.Scale, Text: "How?", Levels: levels("Low: d", "Up")},
			}},
			[]api.NamesOfQuestion{{Name: new("a b"), Values: []string{`true`, `"true"`}}, {}, {Name: new("s"), Values: []string{`"Low"`, `"Up"`}}},
		},
		{
			systemOne.Call,
			api.FieldValues{{Key: "b", Value: "x"}, {Key: "a", Value: `{"n": 1}`}},
			prism.Definition{Model: "fast", Fields: []prism.Field{{Key: "b"}, {Key: "a"}}, Questions: []prism.Question{
				{Key: "q1", Type: prism.Choice, Text: `{"task": 1}`, Options: []prism.Option{
					{Key: "o1", Label: "Z"}, {Key: "o2", Label: "2", Description: "two"}, {Key: "o3", Label: "3", Description: `["x"]`},
				}},
				{Key: "q2", Type: prism.YesNo, Text: "a\n\nYes: spam\n\nNo: {\"k\": 1}"},
				{Key: "q3", Type: prism.Scale, Text: "How?", Levels: levels("Low", `{"up": 1}`)},
			}},
			[]api.NamesOfQuestion{
				{Name: new("z"), Values: []string{`"Z"`, `"2"`, `"3"`}}, {Name: new("a")}, {Name: new("m"), Values: []string{`"Low"`, `{"up": 1}`}},
			},
		},
	} {
		if want := (&api.AdHoc{Definition: c.definition, Names: c.names}); !reflect.DeepEqual(c.got.AdHoc, want) {
			t.Errorf("got  %+v\nwant %+v", c.got.AdHoc, want)
		}
		if !slices.Equal(c.got.Fields, c.fields) || c.got.Text != nil || c.got.Questions != nil || c.got.Prism != (prism.Ref{}) {
			t.Errorf("got %+v", c.got)
		}
		isDefinition(t, c.definition)
	}
}

// isDefinition checks that a prism could be created with a definition.
func isDefinition(t *testing.T, d prism.Definition) {
	t.Helper()
	body, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parsedBody(api.CreatePrism, strings.Replace(string(body), "{", `{"slug":"a",`, 1))
	wantProblems(t, err, "")
}

// spec: adhoc-fields
func TestTheStateOfAnAdHocCallIsOneFieldUnlessItsNamesAreKeys(t *testing.T) {
	t.Parallel()
	many := `{"a":1` + strings.Repeat(`,"a":1`, 60) + `}` // the last of the same names counts
	wide := `{"a0":1`
	for i := range 50 {
		wide += fmt.Sprintf(`,"b%d":1`, i)
	}
	wide += "}"
	for state, want := range map[string]api.FieldValues{
		`"text"`:               {{Key: "state", Value: "text"}},
		`[1, 2]`:               {{Key: "state", Value: "[1, 2]"}},
		`{}`:                   {{Key: "state", Value: "{}"}},
		`{"The message": "x"}`: {{Key: "state", Value: `{"The message": "x"}`}},
		`{"status": "x"}`:      {{Key: "state", Value: `{"status": "x"}`}},
		`{"q1": "x"}`:          {{Key: "state", Value: `{"q1": "x"}`}}, // a column of the Lens
		many:                   {{Key: "a", Value: "1"}},
		wide:                   {{Key: "state", Value: wide}},
	} {
		got, err := parsedBody(api.CreateSystemOne, `{"model":"model/fast","questions":{"a":{"type":"noul"}},"state":`+state+`}`)
		wantProblems(t, err, "")
		if !slices.Equal(got.Call.Fields, want) || len(got.Call.AdHoc.Definition.Fields) != 1 {
			t.Errorf("%s: %+v", state, got.Call.Fields)
		}
	}
}

// spec: adhoc-questions, adhoc-limits, adhoc-call
func TestProblemsOfAdHocCalls(t *testing.T) {
	t.Parallel()
	decision := func(questions string) string {
		_, err := parsedBody(api.CreateDecision, `{"model":"model/fast","input":"x","questions":`+questions+`}`)
		return problems(t, err)
	}
	systemOne := func(questions string) string {
		_, err := parsedBody(api.CreateSystemOne, `{"model":"model/fast","state":"x","questions":`+questions+`}`)
		return problems(t, err)
	}
	const noul = `{"type":"predicate","instructions":"x"}`
	long := strings.Repeat("x", 9_000)
	for _, c := range []struct{ got, want string }{
		{decision(`null`), "questions: Expected array, received null"},
		{decision(`[]`), "questions: Array must contain at least 1 element(s)"},
		{decision(`[` + noul + strings.Repeat(","+noul, 64) + `]`), "questions: Array must contain at most 64 element(s)"},
		{decision(`[1]`), "questions.0: Expected object, received number"},
		{decision(`[{}]`), "questions.0.type: Required; questions.0.instructions: Required"},
		{decision(`[{"type":"noul","instructions":""}]`), "questions.0.type: Expected 'predicate' | 'choice' | 'score'; questions.0.instructions: String must contain at least 1 character(s)"},
		{decision(`[{"type":"predicate","name":"","instructions":[{"type":"input_image"}]}]`), "questions.0.name: String must contain at least 1 character(s); questions.0.instructions.0.type: Expected 'input_text' | 'input_json' | 'output_text' | 'refusal'"},
		{decision(`[{"type":"choice","instructions":"x","choices":[{"value":"a"}]}]`), "questions.0.choices: Array must contain at least 2 element(s)"},
		{decision(`[{"type":"choice","instructions":"x","choices":[{"value":1},{"value":"a"},{"value":"a"},{"value":true},{"value":true}]}]`), "questions.0.choices.0.value: Expected string, received number; questions.0.choices.2.value: must be unique; questions.0.choices.4.value: must be unique"},
		{decision(`[{"type":"score","instructions":"x","levels":[{"label":"a"},{"label":1,"description":2}]}]`), "questions.0.levels.1.label: Expected string, received number; questions.0.levels.1.description: Expected string, received number"},
		{decision(`[{"type":"score","instructions":"x","levels":[{"label":"a"},{"label":"b","description":"` + strings.Repeat("x", 999) + `"}]}]`), "questions.0.levels.1.description: String must contain at most 1000 character(s)"},
		{decision(`[{"type":"predicate","instructions":"` + strings.Repeat("x", 10_001) + `"}]`), "questions.0.instructions: String must contain at most 10000 character(s)"},
		{decision(`[{"type":"predicate","instructions":"` + long + `"}` + strings.Repeat(`,{"type":"predicate","instructions":"`+long+`"}`, 7) + `]`), "questions: must have at most 65536 bytes as the definition of a prism"},
		{systemOne(`[]`), "questions: Expected object, received array"},
		{systemOne(`{}`), "questions: Object must contain at least 1 member(s)"},
		{systemOne(`{"a":1}`), "questions.a: Expected object, received number"},
		{systemOne(`{"a":{"type":"predicate"}}`), "questions.a.type: Expected 'noul' | 'choice' | 'score'"},
		{systemOne(`{"a":{"type":"choice"}}`), "questions.a.criteria: Required"},
		{systemOne(`{"a":{"type":"choice","criteria":{"a":null}}}`), "questions.a.criteria: Object must contain at least 2 member(s)"},
		{systemOne(`{"a":{"type":"score","criteria":["a"]}}`), "questions.a.criteria: Array must contain at least 2 element(s)"},
		{systemOne(`{"a":{"type":"score","criteria":["a",null]}}`), "questions.a.criteria.1: String must contain at least 1 character(s)"},
		{systemOne(`{"a":{"type":"noul","criteria":"x"}}`), "questions.a.criteria: Expected object, received string"},
		{systemOne(`{"":{"type":"noul","instructions":"x"}}`), "questions.: String must contain at least 1 character(s)"},
		{systemOne(`{"\ud800":{"type":"noul","instructions":"x"},"a":{"type":"noul"}}`), "questions: must not contain NUL or unpaired surrogate characters"},
		{systemOne(`{"a":{"type":"noul","instructions":"\u0000"}}`), "questions.a.instructions: must not contain NUL or unpaired surrogate characters"},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
	for _, model := range []string{"model/", "model/Fast", "model/a@2"} {
		_, err := parsedBody(api.CreateDecision, strings.Replace(adHocDecision, "model/fast", model, 1))
		wantProblems(t, err, "model: must match ^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$")
	}
}

// FuzzParseAdHoc looks for panics, and for definitions that no prism could be created with.
func FuzzParseAdHoc(f *testing.F) {
	f.Add([]byte(adHocDecision))
	f.Add([]byte(adHocSystemOne))
	f.Add([]byte(`{"model":"model/a","state":{"a":"\ud800"},"questions":{"\u0000":{"type":"choice","criteria":{"a":1,"a":2,"\"":[]}}}}`))
	f.Add([]byte(`{"model":"model/a","input":[{"role":"user","content":[]}],"questions":[{"type":"choice","choices":[{"value":false},{"value":null}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, parse := range []func() (api.ForeignCall, error){
			func() (api.ForeignCall, error) {
				got, err := parsed(api.CreateDecision, request.Source{Body: jsonBody(string(body))})
				return got.Call, err
			},
			func() (api.ForeignCall, error) {
				got, err := parsed(api.CreateSystemOne, request.Source{Body: jsonBody(string(body))})
				return got.Call, err
			},
		} {
			got, err := parse()
			if problems(t, err) != "" || got.AdHoc == nil {
				continue
			}
			isDefinition(t, got.AdHoc.Definition)
			if d := got.AdHoc.Definition; len(got.AdHoc.Names) != len(d.Questions) || len(got.Fields) != len(d.Fields) {
				t.Fatalf("%d names of %d questions, %d values of %d fields", len(got.AdHoc.Names), len(d.Questions), len(got.Fields), len(d.Fields))
			}
		}
	})
}
