package request_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

const (
	keyShape  = "must match ^[a-z][a-z0-9_]{0,63}$"
	slugShape = "must match ^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$"
)

// edit is a valid prism after some edits: a path, the value to set there (nil removes the member), a path, …
func edit(edits ...any) string {
	var doc any
	if err := json.Unmarshal([]byte(`{
		"slug":"triage","name":"Triage","instructions":"Be fair.","model":"fast",
		"fields":[{"key":"subject","label":"Subject"},{"key":"body"}],
		"questions":[
			{"key":"kind","type":"choice","text":"Kind?","insufficient_information":true,
			 "options":[{"key":"bug","label":"Bug","description":"Broken."},{"key":"wish","label":"Wish"}]},
			{"key":"urgent","type":"yes_no","text":"Urgent?"},
			{"key":"mood","type":"scale","text":"Mood?","levels":[{"key":"low","label":"Low"},{"key":"high","label":"High","value":7.5}]}
		],
		"lens":{"columns":[{"name":"Kind","question":"kind","show":"answer"},
			{"name":"urgent","question":"urgent","show":"answer","yes_at":0.8,"no_at":0.1}]}
	}`), &doc); err != nil {
		panic(err)
	}
	for i := 0; i < len(edits); i += 2 {
		set(doc, strings.Split(edits[i].(string), "."), edits[i+1])
	}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func set(in any, path []string, v any) {
	switch in := in.(type) {
	case map[string]any:
		switch {
		case len(path) > 1:
			set(in[path[0]], path[1:], v)
		case v == nil:
			delete(in, path[0])
		default:
			in[path[0]] = v
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil {
			panic(err)
		}
		if len(path) > 1 {
			set(in[i], path[1:], v)
		} else {
			in[i] = v
		}
	}
}

type obj = map[string]any

func list(n int, fn func(i int) any) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = fn(i)
	}
	return all
}

func keyed(n int) []any {
	return list(n, func(i int) any { return obj{"key": fmt.Sprintf("k%d", i), "label": "L", "text": "T", "type": "yes_no"} })
}

// inGroups are options of so many groups in turn.
func inGroups(n, groups int) []any {
	return list(n, func(i int) any {
		return obj{"key": fmt.Sprintf("k%d", i), "label": "L", "group": fmt.Sprint("Group ", i%groups)}
	})
}

// choices are questions with so many options.
func choices(options ...int) []any {
	return list(len(options), func(i int) any {
		return obj{"key": fmt.Sprintf("c%d", i), "type": "choice", "text": "T", "options": keyed(options[i])}
	})
}

// spec: validation-of-definitions, definition-text-limits, names-in-a-row
func TestNewPrismListsEveryProblem(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct{ name, body, want string }{
		{"the whole example passes", edit(), ""},
		{"an empty object", `{}`, "slug: Required; fields: Required; questions: Required"},
		{"an array", `[]`, "body: Expected object, received array"},
		{
			"required members that are null", `{"slug":null,"fields":null,"questions":null}`,
			"slug: Expected string, received null; fields: Expected array, received null; questions: Expected array, received null",
		},
		// spec: null-members
		{"optional members may be null", edit("name", raw("null"), "instructions", raw("null"), "model", raw("null"), "lens", raw("null")), ""},

		{"a slug of one character", edit("slug", "7"), ""},
		// spec: slug-form
		{"a slug of 64 characters", edit("slug", repeat("a", 64)), ""},
		// spec: slug-form
		{"a slug of 65 characters", edit("slug", repeat("a", 65)), "slug: " + slugShape},
		{"an empty slug", edit("slug", ""), "slug: " + slugShape},
		{"a slug that begins with a hyphen", edit("slug", "-a"), "slug: " + slugShape},
		{"a slug that ends with a hyphen", edit("slug", "a-"), "slug: " + slugShape},
		{"a slug in upper case", edit("slug", "Triage"), "slug: " + slugShape},
		{"a slug with a line break", edit("slug", "a\n"), "slug: " + slugShape},
		// spec: slug-form
		{"a reserved slug", edit("slug", "adhoc-1"), "slug: must not begin with adhoc-"},
		{"a slug that is a UUID", edit("slug", anID), "slug: must not be a UUID"},
		{"a slug that is a UUID in upper case", edit("slug", strings.ToUpper(anID)), "slug: " + slugShape},
		{"a slug with NUL", edit("slug", "a\x00"), "slug: " + unclean + "; slug: " + slugShape},
		{"a slug that is a number", edit("slug", 5), "slug: Expected string, received number"},

		{"a name of a wrong type", edit("name", 5), "name: Expected string, received number"},
		{"a name that is too long", edit("name", repeat("é", 201)), "name: String must contain at most 200 character(s)"},
		{"instructions of a wrong type", edit("instructions", []int{}), "instructions: Expected string, received array"},
		{"instructions with a surrogate", edit("instructions", raw(`"\ud800"`)), "instructions: " + unclean},
		{
			"instructions that are too long", edit("instructions", repeat("x", 100_001)),
			"instructions: String must contain at most 100000 character(s)",
		},

		// spec: model-of-a-version
		{"no model", edit("model", nil), ""},
		{"a model of one character", edit("model", "7"), ""},
		{"a model of 64 characters", edit("model", repeat("a", 64)), ""},
		{"a model with the form of a UUID", edit("model", anID), ""},
		{"a model of 65 characters", edit("model", repeat("a", 65)), "model: " + slugShape},
		{"an empty model", edit("model", ""), "model: " + slugShape},
		{"a model that begins with a hyphen", edit("model", "-a"), "model: " + slugShape},
		{"a model in upper case", edit("model", "Fast"), "model: " + slugShape},
		{"a model with NUL", edit("model", "a\x00"), "model: " + unclean + "; model: " + slugShape},
		{"a model of a wrong type", edit("model", obj{}), "model: Expected string, received object"},
		{
			"problems of a model come after those of instructions and before those of fields",
			edit("model", "", "instructions", 5, "fields", []any{}),
			"instructions: Expected string, received number; model: " + slugShape + "; fields: Array must contain at least 1 element(s)",
		},

		// spec: version-fields
		{"no fields", edit("fields", []any{}), "fields: Array must contain at least 1 element(s)"},
		{"50 fields", edit("fields", keyed(50)), ""},
		// spec: version-fields
		{"51 fields", edit("fields", keyed(51)), "fields: Array must contain at most 50 element(s)"},
		{"fields that are an object", edit("fields", obj{}), "fields: Expected array, received object"},
		{"a field that is a string", edit("fields", []any{"a"}), "fields.0: Expected object, received string"},
		{"a field without a key", edit("fields", []any{obj{}}), "fields.0.key: Required"},
		{"a field key of 64 characters", edit("fields.0.key", repeat("k", 64)), ""},
		{"a field key of 65 characters", edit("fields.0.key", repeat("k", 65)), "fields.0.key: " + keyShape},
		{"a field key in upper case", edit("fields.0.key", "Subject"), "fields.0.key: " + keyShape},
		{"a field key that begins with a digit", edit("fields.0.key", "1st"), "fields.0.key: " + keyShape},
		{"a field key that begins with an underscore", edit("fields.0.key", "_a"), "fields.0.key: " + keyShape},
		{"a field key with a hyphen", edit("fields.0.key", "a-b"), "fields.0.key: " + keyShape},
		{"an empty field key", edit("fields.0.key", ""), "fields.0.key: " + keyShape},
		{"a field key with NUL", edit("fields.0.key", "a\x00"), "fields.0.key: " + unclean + "; fields.0.key: " + keyShape},
		// spec: definition-keys
		{"the later one of two field keys", edit("fields.0.key", "body"), "fields.1.key: must be unique in a row"},
		{"a reserved field key", edit("fields.1.key", "result_id"), "fields.1.key: must be unique in a row"},
		{"a label of a wrong type", edit("fields.1.label", false), "fields.1.label: Expected string, received boolean"},
		{"a null label is not sent", edit("fields.1.label", raw("null")), ""},
		{
			"a label that is too long", edit("fields.1.label", repeat("x", 1001)),
			"fields.1.label: String must contain at most 1000 character(s)",
		},

		// spec: version-questions
		{"no questions", edit("questions", []any{}), "questions: Array must contain at least 1 element(s)"},
		{"64 questions", edit("questions", keyed(64), "lens", nil), ""},
		// spec: version-questions
		{"65 questions", edit("questions", keyed(65)), "questions: Array must contain at most 64 element(s)"},
		{"a question that is null", edit("questions", []any{nil}), "questions.0: Expected object, received null"},
		{
			"a question without members", edit("questions", []any{obj{}}),
			"questions.0.key: Required; questions.0.type: Required; questions.0.text: Required",
		},
		{
			"an unknown question type", edit("questions.0.type", "Choice"),
			"questions.0.type: Expected 'choice' | 'yes_no' | 'scale' | 'tags'",
		},
		{"a question type that is a number", edit("questions.0.type", 5), "questions.0.type: Expected string, received number"},
		{"an empty text", edit("questions.0.text", ""), "questions.0.text: String must contain at least 1 character(s)"},
		{
			"a text that is too long", edit("questions.0.text", repeat("x", 10_001)),
			"questions.0.text: String must contain at most 10000 character(s)",
		},
		{"the later one of two question keys", edit("questions.1.key", "kind"), "questions.1.key: must be unique"},
		{"a question key of a wrong shape", edit("questions.1.key", "a b"), "questions.1.key: " + keyShape},
		{"members of other types are ignored", edit("questions.1.options", []any{1, "x"}), ""},

		{"a choice without options", edit("questions.0.options", nil), "questions.0.options: Required"},
		// spec: question-choice
		{
			"one option", edit("questions.0.options", keyed(1), "questions.0.insufficient_information", false),
			"questions.0.options: Array must contain at least 2 element(s)",
		},
		{"255 options", edit("questions.0.options", keyed(255), "questions.0.insufficient_information", nil), ""},
		// spec: question-choice
		{
			"256 options", edit("questions.0.options", keyed(256), "questions.0.insufficient_information", nil),
			"questions.0.options: Array must contain at most 255 element(s)",
		},
		// spec: group-of-an-option
		{"one option of a tags, whose insufficient_information is ignored", edit("questions.0.type", "tags", "questions.0.options", keyed(1)), ""},
		{"100 options of a tags", edit("questions.0.type", "tags", "questions.0.options", keyed(100)), ""},
		{
			"101 options of a tags", edit("questions.0.type", "tags", "questions.0.options", keyed(101)),
			"questions.0.options: Array must contain at most 100 element(s)",
		},
		{
			"no option of a tags", edit("questions.0.type", "tags", "questions.0.options", keyed(0)),
			"questions.0.options: Array must contain at least 1 element(s)",
		},
		{
			"an average of a tags", edit("questions.0.type", "tags", "lens.columns.0.show", "average"),
			"lens.columns.0.show: Expected 'answer' | 'probability' | 'count'",
		},
		{"32 groups", edit("questions.0.options", inGroups(64, 32)), ""},
		{
			"a 33rd group is named once", edit("questions.0.options", inGroups(70, 35)),
			"questions.0.options.32.group: the options of a question must have at most 32 groups",
		},
		{"a group that is null", edit("questions.0.options.0.group", raw("null")), ""},
		{
			"a group of a wrong type", edit("questions.0.options.0.group", 5),
			"questions.0.options.0.group: Expected string, received number",
		},
		{
			"a group that is too long", edit("questions.0.options.0.group", repeat("g", 65)),
			"questions.0.options.0.group: String must contain at most 64 character(s)",
		},
		// spec: version-questions
		{"2,000 options and levels in all", edit("questions", choices(250, 250, 250, 250, 250, 250, 250, 250), "lens", nil), ""},
		{
			"2,001 options and levels in all", edit("questions", choices(250, 250, 250, 250, 250, 250, 250, 249, 2), "lens", nil),
			"questions: must have at most 2000 options and levels together",
		},
		{"an option called insufficient_information without the flag", edit("questions.0.insufficient_information", nil,
			"questions.0.options.1.key", "insufficient_information"), ""},
		{
			"one option beside insufficient_information is one", edit("questions.0.options", keyed(1)),
			"questions.0.options: Array must contain at least 2 element(s)",
		},
		{"no option", edit("questions.0.options", keyed(0)), "questions.0.options: Array must contain at least 2 element(s)"},
		{"254 options and insufficient_information are 255", edit("questions.0.options", keyed(254)), ""},
		{
			"255 options and insufficient_information are 256", edit("questions.0.options", keyed(255)),
			"questions.0.options: Array must contain at most 254 element(s)",
		},
		{
			"an option called insufficient_information beside the flag",
			edit("questions.0.options", []any{obj{"key": "insufficient_information", "label": "L"}, obj{"key": "spare", "label": "S"}}),
			"questions.0.options.0.key: must be unique",
		},
		{
			"a flag of a wrong type", edit("questions.0.insufficient_information", "true"),
			"questions.0.insufficient_information: Expected boolean, received string",
		},
		{"a null flag is not sent", edit("questions.0.insufficient_information", raw("null")), ""},
		{
			"an option without members", edit("questions.0.options", []any{obj{}, obj{"key": "spare", "label": "S"}}),
			"questions.0.options.0.key: Required; questions.0.options.0.label: Required",
		},
		// spec: definition-keys
		{
			"the later one of two option keys", edit("questions.0.options", []any{
				obj{"key": "a", "label": "A"}, obj{"key": "b", "label": "B"}, obj{"key": "a", "label": "C"},
			}),
			"questions.0.options.2.key: must be unique",
		},
		{
			"an empty option label", edit("questions.0.options", []any{obj{"key": "a", "label": ""}, obj{"key": "spare", "label": "S"}}),
			"questions.0.options.0.label: String must contain at least 1 character(s)",
		},
		{
			"a description of a wrong type", edit("questions.0.options", []any{obj{"key": "a", "label": "A", "description": 1}, obj{"key": "spare", "label": "S"}}),
			"questions.0.options.0.description: Expected string, received number",
		},
		{
			"an option that is an array", edit("questions.0.options", []any{[]any{}, obj{"key": "spare", "label": "S"}}),
			"questions.0.options.0: Expected object, received array",
		},

		{"a scale without levels", edit("questions.2.levels", nil), "questions.2.levels: Required"},
		// spec: question-scale
		{"one level", edit("questions.2.levels", keyed(1)), "questions.2.levels: Array must contain at least 2 element(s)"},
		{"ten levels", edit("questions.2.levels", keyed(10)), ""},
		// spec: question-scale
		{"eleven levels", edit("questions.2.levels", keyed(11)), "questions.2.levels: Array must contain at most 10 element(s)"},
		// spec: definition-keys
		{
			"the later one of two level keys", edit("questions.2.levels", []any{keyed(1)[0], keyed(1)[0]}),
			"questions.2.levels.1.key: must be unique",
		},
		{
			"a level value of a wrong type", edit("questions.2.levels", []any{keyed(1)[0], obj{"key": "a", "label": "A", "value": "2"}}),
			"questions.2.levels.1.value: Expected number, received string",
		},
		{
			"an infinite level value", edit("questions.2.levels", []any{keyed(1)[0], obj{"key": "a", "label": "A", "value": raw("1e400")}}),
			"questions.2.levels.1.value: Number must be finite",
		},
		{
			"a level that falls", edit("questions.2.levels", []any{
				obj{"key": "a", "label": "A", "value": 3}, obj{"key": "b", "label": "B", "value": 2.5},
			}),
			"questions.2.levels.1.value: must be greater than the level before",
		},
		// spec: question-scale
		{
			"a level that stays", edit("questions.2.levels", []any{
				obj{"key": "a", "label": "A", "value": 2}, obj{"key": "b", "label": "B"},
			}),
			"questions.2.levels.1.value: must be greater than the level before",
		},
		{"levels below zero that rise", edit("questions.2.levels", []any{
			obj{"key": "a", "label": "A", "value": -2}, obj{"key": "b", "label": "B", "value": -1.5},
		}), ""},
		{
			"a level that is a number", edit("questions.2.levels", []any{keyed(1)[0], 2}),
			"questions.2.levels.1: Expected object, received number",
		},
		{
			"an empty level label", edit("questions.2.levels", []any{keyed(1)[0], obj{"key": "a", "label": ""}}),
			"questions.2.levels.1.label: String must contain at least 1 character(s)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parsedBody(api.CreatePrism, c.body)
			wantProblems(t, err, c.want)
		})
	}
}

func TestNewPrismReadsEveryMember(t *testing.T) {
	t.Parallel()
	got, err := parsedBody(api.CreatePrism, edit())
	if err != nil {
		t.Fatal(err)
	}
	yes, no := 0.8, 0.1
	want := api.NewPrism{Slug: "triage", Name: "Triage", NewVersion: api.NewVersion{
		Definition: prism.Definition{
			Instructions: "Be fair.",
			Model:        "fast",
			Fields:       []prism.Field{{Key: "subject", Label: "Subject"}, {Key: "body"}},
			Questions: []prism.Question{
				{Key: "kind", Type: prism.Choice, Text: "Kind?", InsufficientInformation: true, Options: []prism.Option{
					{Key: "bug", Label: "Bug", Description: "Broken."}, {Key: "wish", Label: "Wish"},
				}},
				{Key: "urgent", Type: prism.YesNo, Text: "Urgent?"},
				{Key: "mood", Type: prism.Scale, Text: "Mood?", Levels: []prism.Level{
					{Key: "low", Label: "Low", Value: new(1.0)}, {Key: "high", Label: "High", Value: new(7.5)},
				}},
			},
		},
		Lens: &prism.Lens{Columns: []prism.Column{
			{Name: "Kind", Question: "kind", Show: prism.ShowAnswer},
			{Name: "urgent", Question: "urgent", Show: prism.ShowAnswer, YesAt: &yes, NoAt: &no},
		}},
	}}
	if !reflect.DeepEqual(got.NewPrism, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestNewVersionReadsTheSameWithoutSlugAndName(t *testing.T) {
	t.Parallel()
	whole, err := parsedBody(api.CreatePrism, edit())
	if err != nil {
		t.Fatal(err)
	}
	got, err := parsedBody(api.CreateVersion, edit("slug", 5, "name", obj{}), "prism", "triage")
	if err != nil || got.Prism.Slug != "triage" || !reflect.DeepEqual(got.NewVersion, whole.NewVersion) {
		t.Errorf("got %+v %v", got, err)
	}
	_, err = parsedBody(api.CreateVersion, `{"fields":[]}`, "prism", "a\x00")
	wantProblems(t, err, "prism: "+unclean+"; fields: Array must contain at least 1 element(s); questions: Required")
	derived, err := parsedBody(api.CreateVersion, edit("lens", nil), "prism", "triage")
	if err != nil || derived.Lens != nil {
		t.Errorf("lens %v, error %v", derived.Lens, err)
	}
}
