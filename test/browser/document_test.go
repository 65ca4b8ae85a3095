package browser

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// operation is one of the document that the server serves.
type operation struct {
	id, method, path string
	parameters       []string
	body             bool
	example          string // the first of its body, without white space
}

func operations(t *testing.T, server *prism) []operation {
	t.Helper()
	type named struct {
		Name string
		Ref  string `json:"$ref"`
	}
	var d struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []named
			RequestBody *struct {
				Content map[string]struct{ Examples json.RawMessage }
			}
		}
		Components struct {
			Parameters map[string]named
			Examples   map[string]struct{ Value json.RawMessage }
		}
	}
	if err := json.Unmarshal(server.call(t, "GET", "/openapi.json", "", 200), &d); err != nil {
		t.Fatal(err)
	}
	var all []operation
	for path, methods := range d.Paths {
		for method, op := range methods {
			o := operation{id: op.OperationID, method: strings.ToUpper(method), path: path, body: op.RequestBody != nil}
			for _, p := range op.Parameters {
				if p.Ref != "" {
					p = d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
				}
				o.parameters = append(o.parameters, p.Name)
			}
			if o.body {
				dec := json.NewDecoder(strings.NewReader(string(op.RequestBody.Content["application/json"].Examples)))
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
					first.Value = d.Components.Examples[strings.TrimPrefix(first.Ref, "#/components/examples/")].Value
				}
				o.example = compact(t, first.Value)
			}
			all = append(all, o)
		}
	}
	if len(all) < 10 {
		t.Fatalf("the document has %d operations", len(all))
	}
	return all
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
