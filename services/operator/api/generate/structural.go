package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// source is a JSON schema, or a document with schemas.
type source struct{ root map[string]any }

// copied are the keywords that a structural schema has too, with the same meaning.
var copied = []string{
	"description", "minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum", "required",
	"not",
}

// structural is a JSON schema as the API server takes it (structural schemas). Null is the same as not given: the API server prunes it.
// What has no structural form is left out or replaced by a CEL rule: if, then, else and constants of objects. Objects of several forms take anything.
func (s source) structural(from map[string]any) map[string]any {
	if ref, ok := from["$ref"].(string); ok {
		found := s.structural(at(s.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
		if d := from["description"]; d != nil {
			found["description"] = d
		}
		return found
	}
	to := map[string]any{}
	for _, k := range copied {
		if v := from[k]; v != nil {
			to[k] = v
		}
	}
	if all, ok := from["anyOf"].([]any); ok && from["properties"] == nil {
		all = slices.DeleteFunc(slices.Clone(all), func(one any) bool { return one.(map[string]any)["type"] == "null" })
		if len(all) > 1 {
			return anything(to)
		}
		found := s.structural(all[0].(map[string]any))
		maps.Copy(found, to)
		return found
	}
	kinds, _ := from["type"].([]any)
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k any) bool { return k == "null" })
	switch one, ok := from["type"].(string); {
	case ok:
		to["type"] = one
	case len(kinds) == 1:
		to["type"] = kinds[0]
	case len(kinds) > 1:
		return anything(to)
	}
	if v := from["const"]; v != nil {
		to["enum"] = []any{v}
	}
	if v := from["enum"]; v != nil {
		to["enum"] = v
	}
	if to["type"] == nil {
		to["type"] = "string" // of enumerations
	}
	if most := longest(from["pattern"]); most > 0 && to["maxLength"] == nil {
		to["maxLength"] = most // what the API server estimates of rules depends on it
	}
	if low := from["exclusiveMinimum"]; low != nil {
		to["minimum"], to["exclusiveMinimum"] = low, true
	}
	if high := from["exclusiveMaximum"]; high != nil {
		to["maximum"], to["exclusiveMaximum"] = high, true
	}
	if f := from["format"]; f == "date-time" || f == "uuid" {
		to["format"] = f
	}
	if from["oneOf"] != nil {
		return anything(to)
	}
	if items, ok := from["items"].(map[string]any); ok {
		to["items"] = s.structural(items)
		if key := listKey(at(to, "items")); key != "" {
			keyed(to, key)
		} else if from["uniqueItems"] == true {
			to["x-kubernetes-list-type"] = "set"
		}
	}
	if more, ok := from["additionalProperties"].(map[string]any); ok {
		to["additionalProperties"] = s.structural(more)
	}
	if members, ok := from["properties"].(map[string]any); ok {
		properties := map[string]any{}
		for name, member := range members {
			properties[name] = s.structural(member.(map[string]any))
		}
		to["properties"] = properties
	}
	if all, ok := from["allOf"].([]any); ok {
		if reflect.DeepEqual(from["required"], []any{"type"}) {
			return s.union(to, all)
		}
		rules(to, all)
	}
	return to
}

// longest is how long the texts of a pattern are at most, if it is one of a key, a slug or the name of a column; else 0.
func longest(pattern any) int {
	p, _ := pattern.(string)
	for _, end := range []string{"{0,63}$", "{1,64}$", "{0,62}[a-z0-9])?$"} {
		if strings.HasSuffix(p, end) {
			return 64
		}
	}
	return 0
}

// anything is a value of several forms, which a structural schema can't have. Prism checks it.
func anything(like map[string]any) map[string]any {
	return map[string]any{"description": like["description"], "x-kubernetes-preserve-unknown-fields": true}
}

// listKey is the member by which the items of a list are told apart, which no two of them have the same.
func listKey(items map[string]any) string {
	required, _ := items["required"].([]any)
	for _, key := range []string{"key", "name"} {
		if slices.Contains(required, any(key)) {
			return key
		}
	}
	return ""
}

func keyed(list map[string]any, key string) {
	list["x-kubernetes-list-type"], list["x-kubernetes-list-map-keys"] = "map", []any{key}
}

// rules has CEL say what allOf says of members that others exclude: if a member has one of some values, another one is not given.
func rules(to map[string]any, all []any) {
	var list []any
	for _, one := range all {
		when, then := at(one.(map[string]any), "if", "properties"), at(one.(map[string]any), "then", "properties")
		for _, member := range slices.Sorted(maps.Keys(when)) {
			values := quoted(at(when, member)["enum"].([]any))
			for _, excluded := range slices.Sorted(maps.Keys(then)) {
				list = append(list, rule(fmt.Sprintf("!has(self.%s) || !(self.%s in [%s])", excluded, member, values),
					fmt.Sprintf("%s is not for a column that shows %s", excluded, strings.ReplaceAll(values, "'", ""))))
			}
		}
	}
	to["x-kubernetes-validations"] = list
}

func quoted(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprintf("'%v'", v)
	}
	return strings.Join(texts, ", ")
}

// union is an object whose member type says which members it has: those of all types, of which CEL rules exclude what another type has.
func (s source) union(to map[string]any, all []any) map[string]any {
	members, having, needing := map[string]any{}, map[string][]any{}, map[string][]any{}
	var list []any
	for _, one := range all {
		form := s.structural(at(one.(map[string]any), "then"))
		kind := at(form, "properties", "type")["enum"].([]any)[0]
		for name, member := range at(form, "properties") {
			if name == "type" {
				continue
			}
			having[name] = append(having[name], kind)
			if slices.Contains(form["required"].([]any), any(name)) {
				needing[name] = append(needing[name], kind)
			}
			list = append(list, bounds(kind, name, member.(map[string]any))...)
			members[name] = wider(members[name], member.(map[string]any))
		}
	}
	required := []any{"type"}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch {
		case len(needing[name]) == len(all):
			required = append(required, name)
		case len(having[name]) < len(all):
			list = append(list, rule(fmt.Sprintf("!has(self.%s) || self.type in [%s]", name, quoted(having[name])),
				fmt.Sprintf("%s is only of %s", name, strings.ReplaceAll(quoted(having[name]), "'", ""))))
			if needing[name] != nil {
				list = append(list, rule(fmt.Sprintf("has(self.%s) || !(self.type in [%s])", name, quoted(needing[name])),
					fmt.Sprintf("%s is required of %s", name, strings.ReplaceAll(quoted(needing[name]), "'", ""))))
			}
		}
	}
	members["type"] = at(to, "properties")["type"]
	to["properties"], to["required"] = members, required
	slices.SortFunc(list, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["rule"].(string), b.(map[string]any)["rule"].(string))
	})
	to["x-kubernetes-validations"] = append(list, rule("self.type != 'choice' || !has(self.options) || "+
		"(size(self.options) >= 2 && size(self.options) + (has(self.insufficient_information) && self.insufficient_information ? 1 : 0) <= 255)",
		"a choice has 2 to 255 options, with the one that insufficient_information adds"))
	return to
}

// bounds has CEL say how long a list of one type is, since the list of another type may be longer.
func bounds(kind any, name string, member map[string]any) (list []any) {
	low, high := member["minItems"], member["maxItems"]
	if name != "options" || low == nil || high == nil {
		return nil
	}
	return []any{rule(fmt.Sprintf("self.type != '%v' || !has(self.%s) || (size(self.%[2]s) >= %[3]v && size(self.%[2]s) <= %[4]v)", kind, name, low, high),
		fmt.Sprintf("%s of %v are %v to %v", name, kind, low, high))}
}

// maxOptions bounds a list of options, of whatever type of question: what the API server estimates of rules depends on it.
const maxOptions = 255

// wider is the member of a union that two types have: without bounds, if only one of them has any.
func wider(a any, b map[string]any) map[string]any {
	wide := maps.Clone(b)
	if was, ok := a.(map[string]any); ok {
		wide["description"] = was["description"]
		if !reflect.DeepEqual(was["maxItems"], b["maxItems"]) {
			delete(wide, "minItems")
		}
	}
	if wide["type"] == "array" && (a != nil || b["maxItems"] == nil) {
		wide["maxItems"] = maxOptions
	}
	return wide
}

// definitionRules are the rules of a definition that need more than one of its members.
func definitionRules() []any {
	return []any{
		rule("!has(self.escalate) || !has(self.model) || self.escalate.to != self.model", "escalate.to must be another model"),
		rule("!has(self.escalate) || !has(self.escalate.questions) || self.escalate.questions.all(k, self.questions.exists(q, q.key == k))",
			"escalate.questions must be keys of questions"),
		rule("!has(self.lens) || self.lens.columns.all(c, self.questions.exists(q, q.key == c.question))",
			"lens.columns must show questions of the prism"),
	}
}
