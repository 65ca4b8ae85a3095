package apidoc

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/prism-results/prism/pkg/api"
)

// raw is the document without a type, so that nothing in it goes unseen.
func raw(t *testing.T) map[string]any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Document()))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

// walk visits every value with its JSON pointer.
func walk(at string, v any, visit func(at string, v any)) {
	visit(at, v)
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), v[name], visit)
		}
	case []any:
		for _, x := range v {
			walk(at+"/-", x, visit)
		}
	}
}

// operations visits every operation with its references followed.
func operations(t *testing.T, visit func(t *testing.T, method, path string, op operation)) {
	t.Helper()
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range d.Paths {
		for _, op := range path.Value {
			t.Run(op.Value.OperationID, func(t *testing.T) { visit(t, op.Name, path.Name, op.Value) })
		}
	}
}

// spec: openapi-document
func TestTheDocumentIsOpenAPI31(t *testing.T) {
	t.Parallel()
	if got := raw(t)["openapi"]; got != "3.1.0" {
		t.Errorf("openapi is %v", got)
	}
}

func TestEveryReferenceLeadsToAComponentAndEveryComponentIsReferredTo(t *testing.T) {
	t.Parallel()
	doc := raw(t)
	unused := map[string]bool{}
	for kind, of := range doc["components"].(map[string]any) {
		for name := range of.(map[string]any) {
			unused["#/components/"+kind+"/"+name] = true
		}
	}
	known := maps.Clone(unused)
	walk("#", doc, func(at string, v any) {
		m, _ := v.(map[string]any)
		ref, ok := m["$ref"].(string)
		if !ok {
			return
		}
		if !known[ref] {
			t.Errorf("%s: %s leads nowhere", at, ref)
		}
		delete(unused, ref)
	})
	delete(unused, "#/components/securitySchemes/bearer") // referred to by its name
	for ref := range unused {
		t.Errorf("%s is not used", ref)
	}
}

// spec: api-version-prefix
func TestTheOperationsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	type route struct{ method, path, id string }
	var got []route
	operations(t, func(_ *testing.T, method, path string, op operation) {
		got = append(got, route{strings.ToUpper(method), path, op.OperationID})
	})
	for _, r := range got {
		if op, declared := api.Find(r.id); !declared || op.Declared().Method != r.method || op.Declared().Path != r.path {
			t.Errorf("%v is not declared so", r)
		}
		if !strings.HasPrefix(r.path, "/v1/") {
			t.Errorf("%s has another version", r.path)
		}
	}
	if len(got) != len(api.Operations()) {
		t.Errorf("%d operations, %d are declared", len(got), len(api.Operations()))
	}
}

func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	operations(t, func(t *testing.T, _, path string, op operation) {
		if op.OperationID == "" || seen[op.OperationID] {
			t.Errorf("operationId %q is missing or taken", op.OperationID)
		}
		seen[op.OperationID] = true
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
			t.Error("summary, description or tag is missing")
		}
		if !slices.ContainsFunc(d.Tags, func(g tag) bool { return slices.Contains(op.Tags, g.Name) && g.Description != "" }) {
			t.Errorf("tag %v is not described", op.Tags)
		}
		for _, name := range regexp.MustCompile(`{([^}]*)}`).FindAllStringSubmatch(path, -1) {
			if !slices.ContainsFunc(op.Parameters, func(p parameter) bool {
				return p.In == "path" && p.Required && p.Name == name[1] && p.Example != nil
			}) {
				t.Errorf("%s has no parameter with an example", name[0])
			}
		}
		for _, p := range op.Parameters {
			if p.Description == "" {
				t.Errorf("parameter %s is not described", p.Name)
			}
		}
	})
}

func TestEveryBodyHasAnExampleThatSaysWhatItShows(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, where string, content members[mediaType]) {
		t.Helper()
		if len(content) == 0 {
			t.Errorf("%s has no body", where)
		}
		for _, m := range content {
			if len(m.Value.Examples) == 0 {
				t.Errorf("%s %s has no example", where, m.Name)
			}
			for _, e := range m.Value.Examples {
				if e.Value.Summary == "" || len(e.Value.Value) == 0 {
					t.Errorf("%s: example %s has no summary or no value", where, e.Name)
				}
			}
		}
	}
	operations(t, func(t *testing.T, _, _ string, op operation) {
		if op.RequestBody != nil {
			check(t, "the request", op.RequestBody.Content)
		}
		for _, r := range op.Responses {
			if r.Value.Description == "" {
				t.Errorf("%s is not described", r.Name)
			}
			if r.Name != "204" {
				check(t, r.Name, r.Value.Content)
			}
		}
	})
}

func TestEverySchemaIsDescribedDownToItsMembers(t *testing.T) {
	t.Parallel()
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Components.Schemas {
		if s.Value.Description == "" {
			t.Errorf("%s is not described", s.Name)
		}
		for _, p := range s.Value.Properties {
			if d.deref(p.Value).Description == "" && p.Value.Description == "" {
				t.Errorf("%s.%s is not described", s.Name, p.Name)
			}
		}
	}
}

func TestEveryOperationHasTheStatusesThatItCanAnswer(t *testing.T) {
	t.Parallel()
	operations(t, func(t *testing.T, method, _ string, op operation) {
		var got []string
		for _, r := range op.Responses {
			got = append(got, r.Name)
		}
		if !slices.IsSorted(got) {
			t.Errorf("%v is not in order", got)
		}
		want := []string{"401", "403", "500", "503"}
		if len(op.Parameters) > 0 || method != "get" {
			want = append(want, "400")
		}
		if method != "get" {
			want = append(want, "413", "415") // also where the body is ignored
		}
		if op.OperationID == "createResult" || op.OperationID == "retryResult" {
			want = append(want, "200", "409", "502")
		}
		if op.OperationID == "tryDefinition" {
			want = append(want, "200", "502")
		}
		if slices.ContainsFunc(op.Parameters, func(p parameter) bool { return p.In == "path" }) {
			want = append(want, "404")
		}
		for _, status := range want {
			if !slices.Contains(got, status) {
				t.Errorf("%s is missing of %v", status, got)
			}
		}
	})
}

// spec: media-types
func TestTheFiveFormatsHaveTheirMediaTypes(t *testing.T) {
	t.Parallel()
	want := []string{"application/json", "text/csv", "text/tab-separated-values", "application/jsonl"}
	operations(t, func(t *testing.T, _, _ string, op operation) {
		if !slices.ContainsFunc(op.Parameters, func(p parameter) bool { return schemaName(p.Schema.Ref) == "Format" }) {
			return
		}
		for _, r := range op.Responses {
			if r.Name != "200" && r.Name != "502" {
				continue
			}
			var got []string
			for _, m := range r.Value.Content {
				got = append(got, m.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %v", r.Name, got)
			}
		}
	})
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	formats, _ := d.Components.Schemas.find("Format")
	for i, f := range api.Formats() {
		if formats.Enum[i] != string(f) {
			t.Errorf("format %d is %s", i, formats.Enum[i])
		}
	}
}

// TestEveryExampleKeepsToItsSchema compiles each schema beside an example in its place in the document.
func TestEveryExampleKeepsToItsSchema(t *testing.T) {
	t.Parallel()
	doc := raw(t)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	examples := doc["components"].(map[string]any)["examples"].(map[string]any)
	checked := 0
	walk("", doc, func(at string, v any) {
		media, _ := v.(map[string]any)
		named, ok := media["examples"].(map[string]any)
		if !ok || media["schema"] == nil {
			return
		}
		schema, err := c.Compile("openapi.json#" + at + "/schema")
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range named {
			if _, ok := e.(map[string]any)["$ref"]; !ok {
				t.Errorf("%s: example %s stands by itself", at, name)
				continue
			}
			if err := schema.Validate(examples[name].(map[string]any)["value"]); err != nil {
				t.Errorf("%s: example %s: %v", at, name, err)
			}
			checked++
		}
	})
	if checked < 150 {
		t.Errorf("only %d examples were found", checked)
	}
}

func TestParameterExamplesKeepToTheirSchemas(t *testing.T) {
	t.Parallel()
	doc := raw(t)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	for name, p := range doc["components"].(map[string]any)["parameters"].(map[string]any) {
		example, ok := p.(map[string]any)["example"]
		if !ok {
			continue
		}
		schema, err := c.Compile("openapi.json#/components/parameters/" + name + "/schema")
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(example); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
