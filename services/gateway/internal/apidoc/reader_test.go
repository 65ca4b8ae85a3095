package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// openAPI is what the tests need of an OpenAPI document. Members keep the document's order.
type openAPI struct {
	Info struct {
		Title   string
		Summary string
	}
	Security   []security
	Tags       []tag
	Paths      members[members[operation]]
	Components components
}

// security names schemes that a call keeps to, all of them.
type security map[string][]string

type tag struct{ Name, Description string }

type components struct {
	SecuritySchemes members[struct{ Type, Scheme string }]

	Parameters members[parameter]
	Schemas    members[schema]
	Responses  members[response]
	Examples   members[example]
}

type operation struct {
	OperationID string
	Tags        []string
	Summary     string
	Description string
	Security    *[]security // the document's when there is none
	Parameters  []parameter
	RequestBody *struct{ Content members[mediaType] }
	Responses   members[response]
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string
	In          string
	Required    bool
	Description string
	Schema      schema
	Example     any
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     members[mediaType]
}

type mediaType struct {
	Schema   schema
	Examples members[example]
}

type example struct {
	Ref         string `json:"$ref"`
	Summary     string
	Description string
	Value       json.RawMessage
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 types
	Format               string
	Description          string
	Pattern              string
	Enum                 []string
	Const                any
	Default              any
	Minimum              *json.Number
	Maximum              *json.Number
	MinLength            *int
	MaxLength            *int
	MinItems             *int
	MaxItems             *int
	Required             []string
	Properties           members[schema]
	AdditionalProperties *schema
	Items                *schema
	OneOf                []schema
	AnyOf                []schema
}

// members are a JSON object in the order in which it was written.
type members[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

func (m *members[T]) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("expected an object, found %v (%w)", open, err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value T
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*m = append(*m, member[T]{name.(string), value}) // a member's name is always a string
	}
	return nil
}

func (m members[T]) find(name string) (T, bool) {
	for _, x := range m {
		if x.Name == name {
			return x.Value, true
		}
	}
	var none T
	return none, false
}

// types is one JSON type or several.
type types []string

func (t *types) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		var one string
		err := json.Unmarshal(b, &one)
		*t = types{one}
		return err
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// parse reads a document and puts what parameters, responses and examples refer to in their place. References to
// schemas stay, because deref follows them.
func parse(b []byte) (*openAPI, error) {
	var d openAPI
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, err
	}
	for i := range d.Components.Responses {
		if err := d.Components.resolveExamples(d.Components.Responses[i].Value.Content); err != nil {
			return nil, err
		}
	}
	for _, path := range d.Paths {
		for i := range path.Value {
			if err := d.Components.resolve(&path.Value[i].Value); err != nil {
				return nil, fmt.Errorf("%s %s: %w", path.Value[i].Name, path.Name, err)
			}
		}
	}
	return &d, nil
}

func (c components) resolve(op *operation) error {
	for i, p := range op.Parameters {
		if err := follow(&op.Parameters[i], p.Ref, "parameters", c.Parameters); err != nil {
			return err
		}
	}
	if op.RequestBody != nil {
		if err := c.resolveExamples(op.RequestBody.Content); err != nil {
			return err
		}
	}
	for i, r := range op.Responses {
		if err := follow(&op.Responses[i].Value, r.Value.Ref, "responses", c.Responses); err != nil {
			return err
		}
		if err := c.resolveExamples(op.Responses[i].Value.Content); err != nil {
			return err
		}
	}
	return nil
}

func (c components) resolveExamples(content members[mediaType]) error {
	for _, m := range content {
		for i, e := range m.Value.Examples {
			if err := follow(&m.Value.Examples[i].Value, e.Value.Ref, "examples", c.Examples); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow replaces *at by what ref names; an empty ref leaves it.
func follow[T any](at *T, ref, kind string, from members[T]) error {
	if ref == "" {
		return nil
	}
	found, ok := from.find(strings.TrimPrefix(ref, "#/components/"+kind+"/"))
	if !ok {
		return fmt.Errorf("%s leads nowhere", ref)
	}
	*at = found
	return nil
}

func (d *openAPI) deref(s schema) schema {
	if found, ok := d.Components.Schemas.find(schemaName(s.Ref)); ok {
		return found
	}
	return s
}

func schemaName(ref string) string { return strings.TrimPrefix(ref, "#/components/schemas/") }

// errorRow is an error that an operation responds with.
type errorRow struct{ Status, Code, Message string }

// errorRows are the examples of an operation's errors.
func errorRows(op operation) (rows []errorRow, err error) {
	for _, r := range op.Responses {
		if r.Name == "204" {
			continue
		}
		media := r.Value.Content[0].Value
		if name := schemaName(media.Schema.Ref); name != "Error" && name != "Unavailable" {
			continue
		}
		for _, e := range media.Examples {
			row, err := readError(r.Name, e.Value.Value)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// readError reads an error's body. The body of a 503 has no code.
func readError(status string, body []byte) (errorRow, error) {
	var outer struct {
		Error   json.RawMessage
		Message string
	}
	if err := json.Unmarshal(body, &outer); err != nil {
		return errorRow{}, err
	}
	if outer.Message != "" {
		return errorRow{Status: status, Message: outer.Message}, nil
	}
	row := errorRow{Status: status}
	err := json.Unmarshal(outer.Error, &row)
	return row, err
}

func TestAReferenceThatLeadsNowhereIsAnError(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"parameter":           `{"paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/None"}]}}}}`,
		"response":            `{"paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/responses/None"}}}}}}`,
		"example":             `{"paths":{"/a":{"get":{"responses":{"200":{"content":{"a/b":{"examples":{"x":{"$ref":"None"}}}}}}}}}}`,
		"example of a body":   `{"paths":{"/a":{"get":{"requestBody":{"content":{"a/b":{"examples":{"x":{"$ref":"None"}}}}}}}}}`,
		"example in response": `{"components":{"responses":{"R":{"content":{"a/b":{"examples":{"x":{"$ref":"None"}}}}}}}}`,
	} {
		if _, err := parse([]byte(doc)); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMembersMustBeAnObject(t *testing.T) {
	t.Parallel()
	var m members[json.RawMessage]
	for _, doc := range []string{`[]`, `1`, `"a"`} {
		if err := json.Unmarshal([]byte(doc), &m); err == nil {
			t.Errorf("%s was taken", doc)
		}
	}
}
