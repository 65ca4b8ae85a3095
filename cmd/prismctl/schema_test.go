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
	"github.com/prism-results/prism/docs/schemas/schematest"
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
	schema, document, u := editorSchema(t), compiled(t, documentPath+"#/components/schemas/NewPrism"), newUser(t)
	for i, test := range schematest.Cases() {
		t.Run(test.Name, func(t *testing.T) {
			text := test.Text(fmt.Sprint("case-", i))
			v, sent := asJSON(t, text)
			schemaErr := schema.Validate(v)
			serverErr := refusal(t, u, sent)
			files, decodeErr := definition.Decode("f", []byte(text))
			offline := decodeErr
			for _, f := range files {
				offline = definition.NewChecker().Check(f)
			}
			if got := offline != nil; (test.Want == schematest.Wrong) && !got || test.Want == schematest.Good && got {
				t.Errorf("validate says %v", offline)
			}
			if offline != nil && test.Want != schematest.Strict && serverErr == "" {
				t.Errorf("validate says %v, and the server nothing", offline)
			}
			if got := schemaErr == nil; got != (test.Want == schematest.Good || test.Want == schematest.Beyond) {
				t.Errorf("the schema says %v", schemaErr)
			}
			documentErr := document.Validate(v)
			if got := documentErr == nil; got != (test.Want != schematest.Wrong) {
				t.Errorf("the OpenAPI document says %v", documentErr)
			}
			if got := serverErr == ""; got != (test.Want == schematest.Good || test.Want == schematest.Strict) {
				t.Errorf("the server says %s", serverErr)
			}
			if test.Want == schematest.Strict && decodeErr == nil && !strings.Contains(test.Name, "another type") {
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
