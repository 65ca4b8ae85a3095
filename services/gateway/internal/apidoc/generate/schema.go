package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

const schemaPrefix = "#/components/schemas/"

// schemas makes the schemas of types. One that is written by hand stays as it is.
type schemas struct {
	comments comments
	byHand   object
	beside   object // what is said beside the members of schemas that are made, by their names
	made     object
}

func reference(name string) object { return object{{"$ref", schemaPrefix + name}} }

// schemaNames are the names of schemas that are not those of their types.
var schemaNames = map[string]string{
	"APIKey": "ApiKey", "CreatedAPIKey": "CreatedApiKey", "APIKeyPage": "ApiKeyList", "LabelledResultPage": "LabelPage",
	"LabelQueuePage": "LabelQueue", "NewResult": "CreateResult", "Claim": "MemberClaim", "AuditEntryPage": "AuditPage",
	"ProbabilitySource": "Probabilities",
}

// nameOf is the name of a type's schema. A page has that of its items in front.
func nameOf(t reflect.Type) string {
	name := t.Name()
	if strings.HasPrefix(name, "Page[") {
		data, _ := t.FieldByName("Data")
		name = data.Type.Elem().Name() + "Page"
	}
	return cmp.Or(schemaNames[name], name)
}

// ofNamedType is a reference to the schema of a struct type, which it makes if it is not there.
func (s *schemas) ofNamedType(t reflect.Type) object {
	description := s.comments[t.Name()]
	if strings.HasPrefix(t.Name(), "Page[") {
		data, _ := t.FieldByName("Data")
		description = "A page of " + plural(data.Type.Elem().Name()) + "."
	}
	return s.refer(nameOf(t), func() object {
		if slices.ContainsFunc(api.Properties(t), func(m api.Property) bool { return m.Of != nil }) {
			return s.variants(t, description)
		}
		return s.structure(t, description, false)
	})
}

// variants is the schema of a struct whose members depend on the member type: one of several, which are named after its values.
func (s *schemas) variants(t reflect.Type, description string) object {
	field, _ := t.FieldByName("Type")
	var list []any
	mapping := object{}
	for _, value := range reflect.Zero(field.Type).Interface().(interface{ Values() []string }).Values() {
		name := ""
		for word := range strings.SplitSeq(value, "_") {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
		one := s.refer(name+t.Name(), func() object { return s.variant(t, value) })
		list, mapping = append(list, one), append(mapping, member{value, one.get("$ref")})
	}
	return object{
		{"description", description}, {"oneOf", list}, {"discriminator", object{{"propertyName", "type"}, {"mapping", mapping}}},
	}
}

// variant is the schema of a struct whose member type has a value.
func (s *schemas) variant(t reflect.Type, value string) object {
	schema := s.structureOf(t, "", false, func(m api.Property) (api.Property, bool) { return m.With(value), m.IsOf(value) })
	properties := schema.object("properties")
	is := object{{"type", "string"}, {"const", value}, {"description", properties.object("type").get("description")}}
	return schema.with("properties", properties.with("type", is))
}

// plural is what the items of a page are called.
func plural(item string) string {
	return map[string]string{ //nolint:gosec // names of types, not keys
		"APIKey": "keys, newest first", "Calibration": "calibrations, newest first", "Prism": "prisms, newest first", "Version": "versions, newest first",
		"File": "files, newest first", "Run": "runs, newest first", "LabelledResult": "labelled results",
		"Result": "results, newest first", "RawResult": "results in format `raw`, newest first",
		"Member": "members and rules, newest first", "AuditEntry": "the audit, newest first",
	}[item]
}

// refer is a reference to a schema, which build makes if it is not there.
func (s *schemas) refer(name string, build func() object) object {
	if s.byHand.index(name) < 0 && s.made.index(name) < 0 {
		s.made = append(s.made, member{name, nil}) // its place, and the end of a recursion
		schema := build()
		for _, m := range s.beside.object(name) {
			schema = schema.with(m.name, m.value)
		}
		s.made = s.made.with(name, schema)
	}
	return reference(name)
}

// structure is the schema of a struct's JSON. What may be absent from a request may be null too (spec: null-members).
func (s *schemas) structure(t reflect.Type, description string, request bool) object {
	return s.structureOf(t, description, request, func(m api.Property) (api.Property, bool) { return m, true })
}

// structureOf is structure of some of the members, as pick returns them.
func (s *schemas) structureOf(
	t reflect.Type, description string, request bool, pick func(api.Property) (api.Property, bool),
) object {
	var required, instead, unless []string
	properties := object{}
	for _, m := range api.Properties(t) {
		m, picked := pick(m)
		if m.Place != api.InBody || !picked {
			continue
		}
		switch {
		case m.Required && m.Without != nil:
			instead, unless = append(instead, m.Name), m.Without
		case m.Required:
			required = append(required, m.Name)
		}
		nullable := m.Nullable || m.Field.Type.Kind() == reflect.Pointer && m.Required || request && !m.Required && !m.NotNull
		properties = append(properties, member{m.Name, s.ofMember(m, s.describe(t, m), nullable)})
	}
	schema := object{{"type", "object"}, {"description", description}}
	if required != nil {
		schema = schema.with("required", required)
	}
	schema = schema.with("properties", properties)
	if instead != nil {
		var others []any
		for _, name := range unless {
			others = append(others, object{{"required", []string{name}}})
		}
		schema = schema.with("if", object{{"not", object{{"anyOf", others}}}}).with("then", object{{"required", instead}})
	}
	if one, ok := reflect.Zero(t).Interface().(interface{ OneOf() []string }); ok {
		var all []any
		for _, name := range one.OneOf() {
			all = append(all, object{{"required", []string{name}}})
		}
		schema = schema.with("oneOf", all)
	}
	return schema
}

// describe is the comment of a member's field.
func (s *schemas) describe(t reflect.Type, m api.Property) string {
	for _, i := range m.Index[:len(m.Index)-1] {
		t = t.Field(i).Type
	}
	name, _, _ := strings.Cut(t.Name(), "[") // of a generic type
	return s.comments[name+"."+m.Field.Name]
}

// ofMember is the schema of a member of an object.
func (s *schemas) ofMember(m api.Property, description string, nullable bool) object {
	t := m.Field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	schema := s.value(t, m.Limits)
	if name := m.Field.Tag.Get("schema"); name != "" {
		schema = reference(name)
	}
	if schema.index("$ref") >= 0 {
		if nullable {
			schema = object{{"anyOf", []any{schema, object{{"type", "null"}}}}}
		}
	} else if nullable {
		schema = schema.with("type", []any{schema.get("type"), "null"})
		if values, ok := schema.get("enum").([]string); ok {
			all := []any{}
			for _, v := range values {
				all = append(all, v)
			}
			schema = schema.with("enum", append(all, nil))
		}
	}
	if m.Field.Tag.Get("reserved") != "" {
		schema = schema.with("not", object{{"enum", prism.ReservedNames()}})
	}
	if m.Field.Tag.Get("unique") != "" {
		schema = schema.with("uniqueItems", true)
	}
	if m.Default != "" {
		schema = schema.with("default", json.RawMessage(m.Default))
	}
	if t == reflect.TypeFor[api.Time]() {
		description += " ISO 8601 in UTC with milliseconds."
	}
	if description != "" {
		schema = schema.with("description", description)
	}
	return schema
}

// response is the schema of the JSON of a response.
func (s *schemas) response(t reflect.Type) object {
	either, ok := reflect.Zero(t).Interface().(interface{ Types() []reflect.Type })
	if !ok {
		return s.value(t, api.Limits{})
	}
	var all []any
	for _, one := range either.Types() {
		all = append(all, s.value(one, api.Limits{}))
	}
	return object{{"anyOf", all}}
}

// value is the schema of a value.
func (s *schemas) value(t reflect.Type, l api.Limits) object {
	switch {
	case t == reflect.TypeFor[api.Time](), t == reflect.TypeFor[time.Time]():
		return object{{"type", "string"}, {"format", "date-time"}}
	case s.isByHand(t, l):
		return reference(nameOf(t))
	case isID(t):
		return object{{"type", "string"}, {"format", "uuid"}}
	case t == reflect.TypeFor[json.Number]():
		return object{{"type", "number"}}
	case t == reflect.TypeFor[api.SHA256]():
		return object{{"type", "string"}, {"minLength", 64}, {"maxLength", 64}}
	case t == reflect.TypeFor[api.Pins]():
		each := s.value(reflect.TypeFor[string](), api.Limits{Form: l.Form})
		schema := withBounds(object{{"type", "object"}}, "minProperties", "maxProperties", l)
		return schema.with("additionalProperties", each.with("type", []any{each.get("type"), "null"}))
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Pointer:
		each := s.value(t.Elem().Elem(), l)
		return objectOf(each.with("type", []any{each.get("type"), "null"}))
	case t.Kind() == reflect.Map:
		return objectOf(s.value(t.Elem(), l))
	case t == reflect.TypeFor[api.FieldValues]():
		return objectOf(s.value(reflect.TypeFor[string](), l))
	case t == reflect.TypeFor[prism.ExampleFields]():
		return objectOf(s.value(reflect.TypeFor[string](), l))
	case t == reflect.TypeFor[prism.ExampleAnswers]():
		return objectOf(object{{"type", []string{"string", "boolean", "array"}}, {"items", object{{"type", "string"}}}})
	case t == reflect.TypeFor[api.ColumnsOfFields]():
		return objectOf(s.value(reflect.TypeFor[string](), l))
	case t == reflect.TypeFor[api.ColumnsOfLabels]():
		return object{{"type", "object"}, {"maxProperties", 64}, {"additionalProperties", s.value(reflect.TypeFor[string](), l)}}
	case t == reflect.TypeFor[api.Answers]():
		return objectOf(s.value(t.Elem(), l))
	case t == reflect.TypeFor[api.Row]():
		return objectOf(object{{"type", []string{"string", "number", "null"}}})
	case t.Kind() == reflect.Interface: // of a label
		return object{{"type", []string{"string", "boolean"}}}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Array:
		items := object{{"type", "array"}, {"items", s.value(t.Elem().Elem(), l)}, {"minItems", t.Elem().Len()}, {"maxItems", t.Elem().Len()}}
		return object{{"type", "array"}, {"items", items}}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Slice:
		return object{{"type", "array"}, {"items", object{{"type", "array"}, {"items", s.value(t.Elem().Elem(), l)}}}}
	case t.Kind() == reflect.Slice:
		schema := object{{"type", "array"}}
		schema = withBounds(schema, "minItems", "maxItems", l)
		return schema.with("items", s.value(t.Elem(), api.Limits{Max: l.Each, Enum: l.Enum}))
	case t.Kind() == reflect.Struct:
		return s.ofNamedType(t)
	case t.Kind() == reflect.String:
		return textSchema(l)
	case t.Kind() == reflect.Bool:
		return object{{"type", "boolean"}}
	case t.Kind() == reflect.Float64:
		return withBounds(object{{"type", "number"}}, "minimum", "maximum", l)
	}
	return withBounds(object{{"type", "integer"}}, "minimum", "maximum", l)
}

// objectOf is the schema of an object whose members are of one kind.
func objectOf(each object) object { return object{{"type", "object"}, {"additionalProperties", each}} }

// isID reports whether a type is an identifier: a struct around a UUID.
func isID(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Type == reflect.TypeFor[prism.UUID]()
}

// isByHand reports whether a value has the schema of its type that is written by hand.
func (s *schemas) isByHand(t reflect.Type, l api.Limits) bool {
	return s.byHand.index(nameOf(t)) >= 0 && (l.Enum == nil || slices.Equal(l.Enum, s.values(nameOf(t))))
}

// values are those of the schema of a text that is written by hand.
func (s *schemas) values(name string) (all []string) {
	list, _ := s.byHand.object(name).get("enum").([]any)
	for _, v := range list {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

func textSchema(l api.Limits) object {
	switch {
	case l.Enum != nil:
		return object{{"type", "string"}, {"enum", l.Enum}}
	case l.Form == "uuid", l.Form == "date":
		return object{{"type", "string"}, {"format", l.Form}}
	case l.Form != "":
		return object{{"type", "string"}, {"pattern", api.Forms[l.Form].String()}}
	}
	return withBounds(object{{"type", "string"}}, "minLength", "maxLength", l)
}

func withBounds(schema object, least, most string, l api.Limits) object {
	for _, b := range []struct {
		name  string
		value *float64
	}{{least, l.Min}, {"exclusiveMinimum", l.Above}, {most, l.Max}} {
		if b.value != nil {
			schema = schema.with(b.name, number(*b.value))
		}
	}
	return schema
}

// number is written as people write it: no exponent.
type number float64

func (n number) MarshalJSON() ([]byte, error) { //nolint:unparam // json.Marshaler

	return strconv.AppendFloat(nil, float64(n), 'f', -1, 64), nil
}

// parameter is the schema of a parameter's text.
func (s *schemas) parameter(t reflect.Type, l api.Limits) object {
	switch {
	case s.isByHand(t, l) && (l.Default == "" || s.byHand.object(nameOf(t)).get("default") != nil):
		return reference(nameOf(t))
	case t == reflect.TypeFor[prism.Day]():
		return object{{"type", "string"}, {"format", "date"}}
	case t == reflect.TypeFor[prism.Ref]():
		return textSchema(l)
	case t.Kind() == reflect.Bool:
		return object{{"type", "string"}, {"enum", []string{"true", "false"}}, {"default", "false"}}
	}
	schema := s.value(t, l)
	if schema.index("$ref") >= 0 {
		schema = textSchema(l)
	}
	if l.Default == "" {
		return schema
	}
	return schema.with("default", exampleOf(t, l.Default))
}
