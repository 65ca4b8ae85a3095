package browser

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// operation is one of the document that the server serves.
type operation struct {
	id, method, path, summary string

	parameters []parameter
	body       bool
	example    string   // the first of its body, without white space
	errors     []string // the messages of its errors
}

type parameter struct {
	Name     string
	In       string
	Required bool
}

// raw is the document with what its references lead to.
type raw map[string]any

func operations(t *testing.T, server *prism) []operation {
	t.Helper()
	source := server.call(t, "GET", "/openapi.json", "", 200)
	var d raw
	var typed struct {
		Paths map[string]map[string]struct {
			OperationID, Summary string
			Parameters           []any
			RequestBody          *struct {
				Content map[string]struct{ Examples json.RawMessage }
			}
			Responses map[string]any
		}
		Components struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
	for _, to := range []any{&d, &typed} {
		if err := json.Unmarshal(source, to); err != nil {
			t.Fatal(err)
		}
	}
	var all []operation
	for path, methods := range typed.Paths {
		for method, op := range methods {
			o := operation{id: op.OperationID, method: strings.ToUpper(method), path: path, summary: op.Summary, body: op.RequestBody != nil}
			for _, p := range op.Parameters {
				m := d.follow(p)
				required, _ := m["required"].(bool)
				o.parameters = append(o.parameters, parameter{m["name"].(string), m["in"].(string), required})
			}
			if o.body && op.RequestBody.Content["application/json"].Examples != nil {
				dec := json.NewDecoder(bytes.NewReader(op.RequestBody.Content["application/json"].Examples))
				_, _ = dec.Token()
				_, _ = dec.Token() // the name of the first
				var first struct {
					Ref   string `json:"$ref"`
					Value json.RawMessage
				}
				if err := dec.Decode(&first); err != nil {
					t.Fatal(err)
				}
				if first.Ref != "" {
					first.Value = typed.Components.Examples[strings.TrimPrefix(first.Ref, "#/components/examples/")].Value
				}
				o.example = compact(t, first.Value)
			}
			for _, r := range op.Responses {
				o.errors = append(o.errors, d.errors(r)...)
			}
			if len(o.errors) < 3 {
				t.Fatalf("%s has %d errors", o.id, len(o.errors))
			}
			all = append(all, o)
		}
	}
	if len(all) < 10 {
		t.Fatalf("the document has %d operations", len(all))
	}
	return all
}

// errors are the messages of a response's examples, if the response is an error.
func (d raw) errors(response any) (messages []string) {
	content, _ := d.follow(response)["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	schema, _ := media["schema"].(map[string]any)
	if ref, _ := schema["$ref"].(string); !strings.HasSuffix(ref, "/Error") && !strings.HasSuffix(ref, "/Unavailable") {
		return nil
	}
	for _, e := range media["examples"].(map[string]any) {
		value := d.follow(e)["value"].(map[string]any)
		if inner, ok := value["error"].(map[string]any); ok {
			value = inner
		}
		messages = append(messages, value["message"].(string))
	}
	return messages
}

// follow is the object that a value refers to, or the value.
func (d raw) follow(value any) map[string]any {
	object := value.(map[string]any)
	ref, ok := object["$ref"].(string)
	if !ok {
		return object
	}
	object = d
	for _, name := range strings.Split(ref, "/")[1:] {
		object = object[name].(map[string]any)
	}
	return object
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}

// quote writes a string as Prism and JavaScript do: nothing escaped that need not be.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}
