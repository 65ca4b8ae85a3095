package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/prism-results/prism/client/prismtest"
	"github.com/prism-results/prism/pkg/definition"
)

const schemaPath = "docs/schemas/prism.schema.json"

const documentPath = "services/gateway/internal/apidoc/openapi.json"

func editorSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return compiled(t, schemaPath)
}

func compiled(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON is a definition as an editor's language server and the API see it.
func asJSON(t *testing.T, text string) (any, []byte) {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v, b
}

// TestTheSchemaSaysWhatTheServerSays holds the schema for editors, and that of the OpenAPI document, against the server's own
// validation, with definitions that are good and such that are wrong in one way each.
func TestTheSchemaSaysWhatTheServerSays(t *testing.T) {
	t.Parallel()
	const base = `
slug: SLUG
name: Name
instructions: Read it.
model: default
fields: [{key: f, label: F}]
questions:
  - {key: c, type: choice, text: Which?, options: [{key: a, label: A, description: d}, {key: b, label: B}], insufficient_information: true}
  - {key: y, type: yes_no, text: Really?}
  - {key: s, type: scale, text: How?, levels: [{key: l, label: L}, {key: h, label: H, value: 5}]}
  - {key: t, type: tags, text: About?, options: [{key: p, label: P}]}
lens:
  columns: [{name: Column 1, question: c, show: answer}]
`
	const column = "{name: Column 1, question: c, show: answer}"
	list := func(n int, item string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(item, "#", fmt.Sprint(i)) + ", ")
		}
		return "[" + b.String() + "]"
	}
	const options, levels = "[{key: a, label: A, description: d}, {key: b, label: B}]", "[{key: l, label: L}, {key: h, label: H, value: 5}]"
	type verdict int
	const (
		good   verdict = iota
		wrong          // all say so
		beyond         // only the server knows
		strict         // only the editors' schema and prismctl mind: the API ignores what it does not know
	)
	cases := []struct {
		name, old, new string
		want           verdict
	}{
		{"the whole of it", "", "", good},
		{"no name", "name: Name\n", "", good},
		{"a name that is null", "name: Name", "name: null", good},
		{"a name of 200", "name: Name", "name: " + strings.Repeat("é", 200), good},
		{"a name of 201", "name: Name", "name: " + strings.Repeat("é", 201), wrong},
		{"a name that is a number", "name: Name", "name: 1", wrong},
		{"instructions of 100001", "Read it.", strings.Repeat("x", 100_001), wrong},
		{"no model", "model: default\n", "", good},
		{"a model in upper case", "model: default", "model: Default", wrong},
		{"a model that is not configured", "model: default", "model: other", beyond},
		{"no slug", "slug: SLUG\n", "", wrong},
		{"a slug with an underscore", "SLUG", "a_b", wrong},
		{"a slug that ends in a hyphen", "SLUG", "a-", wrong},
		{"a slug of 64", "SLUG", strings.Repeat("a", 64), good},
		{"a slug of 65", "SLUG", strings.Repeat("a", 65), wrong},
		{"a slug that is a UUID", "SLUG", "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10", wrong},
		{"a slug that is a number", "SLUG", "12", wrong},
		{"no fields", "fields: [{key: f, label: F}]\n", "", wrong},
		{"an empty list of fields", "[{key: f, label: F}]", "[]", wrong},
		{"50 fields", "[{key: f, label: F}]", list(50, "{key: f#}"), good},
		{"51 fields", "[{key: f, label: F}]", list(51, "{key: f#}"), wrong},
		{"a field that a row has already", "key: f,", "key: status,", wrong},
		{"a field in capitals", "key: f,", "key: F,", wrong},
		{"two fields with one key", "[{key: f, label: F}]", "[{key: f}, {key: f}]", beyond},
		{"a label of 1001", "label: F}", "label: " + strings.Repeat("x", 1001) + "}", wrong},
		{"a label that is null", "label: F}", "label: null}", good},
		{"a misspelled member", "instructions: ", "intructions: ", strict},
		{"a misspelled member of a field", "label: F}", "lable: F}", strict},
		{"a member of another type's question", "text: Really?", "text: Really?, options: []", strict},
		{"a question of no type", "type: yes_no, ", "", wrong},
		{"a question of an unknown type", "type: yes_no", "type: maybe", wrong},
		{"a question without a text", "text: Really?", "text: ''", wrong},
		{"a question with a text of 10001", "Really?", strings.Repeat("x", 10_001), wrong},
		{"two questions with one key", "key: y,", "key: c,", beyond},
		{"one option", options, "[{key: a, label: A}]", wrong},
		{"254 options and insufficient_information", options, list(254, "{key: o#, label: O}"), good},
		{"255 options and insufficient_information", options, list(255, "{key: o#, label: O}"), wrong},
		{"255 options", options + ", insufficient_information: true", list(255, "{key: o#, label: O}"), good},
		{"256 options", options + ", insufficient_information: true", list(256, "{key: o#, label: O}") + ", insufficient_information: false", wrong},
		{"an option of a group", "{key: b, label: B}", "{key: b, label: B, group: 'Cards & cash'}", good},
		{"an option of no group", "{key: b, label: B}", "{key: b, label: B, group: null}", good},
		{"an option of a group of 65", "{key: b, label: B}", "{key: b, label: B, group: " + strings.Repeat("x", 65) + "}", wrong},
		{"an option of an empty group", "{key: b, label: B}", "{key: b, label: B, group: ''}", good},
		{"32 groups", options, list(32, "{key: o#, label: O, group: g#}"), good},
		{"33 groups", options, list(33, "{key: o#, label: O, group: g#}"), beyond},
		{"an option without a label", "{key: b, label: B}", "{key: b}", wrong},
		{"an option that insufficient_information adds", "{key: b, label: B}", "{key: insufficient_information, label: B}", beyond},
		{"insufficient_information as a text", "insufficient_information: true", "insufficient_information: 'true'", wrong},
		{"one level", levels, "[{key: l, label: L}]", wrong},
		{"10 levels", levels, list(10, "{key: l#, label: L}"), good},
		{"11 levels", levels, list(11, "{key: l#, label: L}"), wrong},
		{"levels that fall", "value: 5", "value: 0.5", beyond},
		{"a level's value as a text", "value: 5", "value: '5'", wrong},
		{"a tags without an option", "[{key: p, label: P}]", "[]", wrong},
		{"100 options of a tags", "[{key: p, label: P}]", list(100, "{key: o#, label: O}"), good},
		{"101 options of a tags", "[{key: p, label: P}]", list(101, "{key: o#, label: O}"), wrong},
		{"a tags with a member of another type's question", "[{key: p, label: P}]", "[{key: p, label: P}], insufficient_information: true", strict},
		{"the count of a tags from a probability on", "question: c, show: answer", "question: t, show: count, yes_at: 0.3", good},
		{"the count of a tags up to a probability", "question: c, show: answer", "question: t, show: count, no_at: 0.3", wrong},
		{"the answer of a tags from a probability on", "question: c, show: answer", "question: t, show: answer, yes_at: 0.3", good},
		{"the answer of a tags up to a probability", "question: c, show: answer", "question: t, show: answer, no_at: 0.3", beyond},
		{"the probability of an option of a tags", "question: c, show: answer", "question: t, show: probability, option: p", good},
		{"the probability of no option of a tags", "question: c, show: answer", "question: t, show: probability", beyond},
		{"the average of a tags", "question: c, show: answer", "question: t, show: average", beyond},
		{"the count of a choice", "show: answer", "show: count", beyond},
		{"no Lens", "lens:\n  columns: [" + column + "]\n", "", good},
		{"a Lens that is null", "lens:\n  columns: [" + column + "]\n", "lens: null\n", good},
		{"a Lens without columns", column, "", wrong},
		{"200 columns", "[" + column + "]", list(200, "{name: c#, question: c, show: answer}"), good},
		{"201 columns", "[" + column + "]", list(201, "{name: c#, question: c, show: answer}"), wrong},
		{"a column named with a colon", "name: Column 1", "name: 'a:b'", wrong},
		{"a column that a row has already", "name: Column 1", "name: ref", wrong},
		{"a column named like a field", "name: Column 1", "name: f", beyond},
		{"a column of no question", "question: c", "question: none", beyond},
		{"a column that shows nothing", "show: answer", "show: all", wrong},
		{"the average of a choice", "show: answer", "show: average", beyond},
		{"the probability of an option", "show: answer", "show: probability, option: b", good},
		{"the probability of an unknown option", "show: answer", "show: probability, option: z", beyond},
		{"the answer of an option", "show: answer", "show: answer, option: b", wrong},
		{"calibrated columns", "question: c, show: answer", "question: y, show: probability, calibrated: true", good},
		{"calibrated by a text", "question: c, show: answer", "question: y, show: probability, calibrated: \"yes\"", wrong},
		{"limits of yes and no", "question: c, show: answer", "question: y, show: answer, yes_at: 1, no_at: 0", good},
		{"a limit above 1", "question: c, show: answer", "question: y, show: answer, yes_at: 1.1", wrong},
		{"a limit of a choice", "show: answer", "show: answer, yes_at: 0.5", beyond},
		{"a limit of a probability", "question: c, show: answer", "question: y, show: probability, yes_at: 0.5", wrong},
	}
	schema, document, u := editorSchema(t), compiled(t, documentPath+"#/components/schemas/NewPrism"), newUser(t)
	for i, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(base, test.old) {
				t.Fatal("nothing is changed")
			}
			text := strings.Replace(base, test.old, test.new, 1)
			text = strings.Replace(text, "SLUG", fmt.Sprint("case-", i), 1)
			v, sent := asJSON(t, text)
			schemaErr := schema.Validate(v)
			serverErr := refusal(t, u, sent)
			files, decodeErr := definition.Decode("f", []byte(text))
			offline := decodeErr
			for _, f := range files {
				offline = definition.NewChecker().Check(f)
			}
			if got := offline != nil; (test.want == wrong) && !got || test.want == good && got {
				t.Errorf("validate says %v", offline)
			}
			if offline != nil && test.want != strict && serverErr == "" {
				t.Errorf("validate says %v, and the server nothing", offline)
			}
			if got := schemaErr == nil; got != (test.want == good || test.want == beyond) {
				t.Errorf("the schema says %v", schemaErr)
			}
			documentErr := document.Validate(v)
			if got := documentErr == nil; got != (test.want != wrong) {
				t.Errorf("the OpenAPI document says %v", documentErr)
			}
			if got := serverErr == ""; got != (test.want == good || test.want == strict) {
				t.Errorf("the server says %s", serverErr)
			}
			if test.want == strict && decodeErr == nil && !strings.Contains(test.name, "another type") {
				t.Error("prismctl takes it")
			}
			if decodeErr != nil && schemaErr == nil {
				t.Errorf("prismctl says %v, and the schema nothing", decodeErr)
			}
		})
	}
}

// refusal sends a definition as it is; "" when the server takes it.
func refusal(t *testing.T, u *user, body []byte) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/prisms", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+u.env["PRISM_API_KEY"])
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	switch res.StatusCode {
	case http.StatusCreated:
		return ""
	case http.StatusBadRequest:
		return string(said)
	}
	t.Fatalf("status %d: %s", res.StatusCode, said)
	return ""
}

// TestExamplesNameTheSchemaAndKeepToIt tests the examples, which users copy.
func TestExamplesNameTheSchemaAndKeepToIt(t *testing.T) {
	t.Parallel()
	schema := editorSchema(t)
	files, err := filepath.Glob(filepath.Join(example(t, ""), "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		path, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		if _, err := os.Stat(filepath.Join(filepath.Dir(name), path)); !ok || err != nil {
			t.Errorf("%s names no schema: %s, %v", name, first, err)
		}
		v, _ := asJSON(t, string(text))
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheSchemaHasEveryMemberOfTheAPI holds the schema against the OpenAPI document, so that neither drifts.
func TestTheSchemaHasEveryMemberOfTheAPI(t *testing.T) {
	t.Parallel()
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	type object struct{ Properties map[string]json.RawMessage }
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	var api struct {
		Components struct{ Schemas map[string]object }
	}
	for path, into := range map[string]any{schemaPath: &schema, documentPath: &api} {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatal(err)
		}
	}
	names := func(o object) (list []string) {
		for name := range o.Properties {
			list = append(list, name)
		}
		slices.Sort(list)
		return list
	}
	for mine, theirs := range map[string]string{
		"": "NewPrism", "field": "Field", "choice": "ChoiceQuestion", "yes_no": "YesNoQuestion", "scale": "ScaleQuestion",
		"tags":   "TagsQuestion",
		"option": "Option", "level": "Level", "lens": "Lens", "column": "Column",
	} {
		o := schema.Defs[mine]
		if mine == "" {
			o = schema.object
		}
		want := slices.DeleteFunc(names(api.Components.Schemas[theirs]), func(name string) bool {
			return name == "dry_run" // says how a call is made, not what a prism is
		})
		if got := names(o); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s has %v, %s %v", mine, got, theirs, want)
		}
	}
}

var exitRow = regexp.MustCompile(`(?m)^\| (\d+) \|`)

// TestTheDocumentHasEveryCommandFlagAndExitCode holds docs/prismctl.md to the commands.
func TestTheDocumentHasEveryCommandFlagAndExitCode(t *testing.T) {
	t.Parallel()
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "docs/prismctl.md"))
	if err != nil {
		t.Fatal(err)
	}
	document := string(b)
	for _, missing := range undocumented(document) {
		t.Errorf("docs/prismctl.md has no %s", missing)
	}
	var rows []string
	for _, row := range exitRow.FindAllStringSubmatch(document, -1) {
		rows = append(rows, row[1])
	}
	want := []string{}
	for _, code := range []int{
		exitOK, exitError, exitUsage, exitInvalid, exitUnauthorized, exitNotFound, exitConflict, exitFailed,
		exitUnavailable, exitServer, exitChanges, exitInterrupted,
	} {
		want = append(want, fmt.Sprint(code))
	}
	if !slices.Equal(rows, want) {
		t.Errorf("it has the exit codes %v, want %v", rows, want)
	}
}
