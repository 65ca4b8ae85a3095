package main

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
)

const (
	callsHead = `# Written by make api; do not edit.
"""The calls that are what the API declares."""

from __future__ import annotations

`
	callsClass = `

class AsyncOperations(AsyncBase):
    """The calls that need no more than their request."""
`
)

// callsImports are the modules that calls may need names of.
var callsImports = []struct {
	module string
	names  []string
}{
	{"collections.abc", []string{"Mapping", "Sequence"}},
	{"datetime", []string{"date", "datetime"}},
	{"decimal", []string{"Decimal"}},
	{"typing", []string{"Literal"}},
	{"", nil}, // between what others wrote and what we did
	{"prism_results._async.base", []string{"AsyncBase", "AsyncPages"}},
	{"prism_results._core", []string{"call", "given", "query"}},
}

// imports are the lines that import the names that a text has.
func (p *python) imports(text string) string {
	used := map[string]bool{}
	for _, word := range wordPattern.FindAllString(docstringPattern.ReplaceAllString(text, ""), -1) {
		used[word] = true
	}
	lines := ""
	for _, from := range append(slices.Clone(callsImports), struct {
		module string
		names  []string
	}{"prism_results.models", slices.SortedFunc(slices.Values(p.names), func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})}) {
		names := slices.DeleteFunc(slices.Clone(from.names), func(name string) bool { return !used[name] })
		switch {
		case from.module == "":
			lines += "\n"
		case len(names) > 0:
			lines += fitLine("from "+from.module+" import ", names, "", 0, true) + "\n"
		}
	}
	return lines
}

var (
	wordPattern      = regexp.MustCompile(`\w+`)
	docstringPattern = regexp.MustCompile(`(?s)""".*?"""`)
)

// fitLine is a list behind a text, in parentheses unless bare, on one line if it fits and else as ruff would write it.
func fitLine(before string, list []string, behind string, indent int, bare bool) string {
	space := strings.Repeat(" ", indent)
	open, shut := "(", ")"
	if bare {
		open, shut = "", ""
	}
	if line := space + before + open + strings.Join(list, ", ") + shut + behind; len(line) <= pythonWidth {
		return line
	}
	if line := space + "    " + strings.Join(list, ", "); len(line) <= pythonWidth && !bare {
		return space + before + "(\n" + line + "\n" + space + ")" + behind
	}
	inner := "\n" + space + "    "
	return space + before + "(" + inner + strings.Join(list, ","+inner) + ",\n" + space + ")" + behind
}

// argument is a parameter of a method.
type argument struct {
	name, typ  string
	positional bool
	nullable   bool // a positional one may be None, which is sent
	stated     bool // an optional boolean is sent as false too, which is not the same as not to send it
}

// calls is the text of the module with a method for each declared operation that has none which is written by hand.
func (p *python) calls(byHand map[string]bool) (string, error) {
	text := strings.Builder{}
	text.WriteString(callsClass)
	for _, operation := range operationsIn(p.document) {
		id := fmt.Sprint(operation.get("operationId"))
		op, declared := api.Find(id)
		if byHand[snake(id)] {
			continue
		}
		if !declared {
			return "", fmt.Errorf("the operation %s is not declared, and the Python client has no method %s", id, snake(id))
		}
		if err := p.method(&text, op.Declared(), operation); err != nil {
			return "", err
		}
	}
	return callsHead + p.imports(text.String()) + text.String(), nil
}

func (p *python) method(text *strings.Builder, d api.Declaration, operation object) error {
	segments, at := pathOf(d.Path)
	where, err := p.parameters(operation)
	if err != nil {
		return err
	}
	sent := p.members(operation)
	if slices.ContainsFunc(sent, func(a argument) bool { return a.name == "dry_run" }) {
		return fmt.Errorf("%s has a dry run: write its method of the Python client by hand", d.Name)
	}
	all := slices.Concat(at, where, sent)
	signature := []string{"self"}
	for _, positional := range []bool{true, false} {
		if !positional && slices.ContainsFunc(all, func(a argument) bool { return !a.positional }) {
			signature = append(signature, "*")
		}
		for _, a := range all {
			if a.positional == positional {
				signature = append(signature, a.signature())
			}
		}
	}
	kind, page := p.returns(operation, d)
	begin, returned := "async def", kind
	if page {
		begin, returned = "def", "AsyncPages["+kind+"]"
	}
	text.WriteString("\n" + fitLine(begin+" "+snake(d.Name), signature, " -> "+returned+":", 4, false) + "\n")
	text.WriteString("        " + docstring(fmt.Sprintf("%v.\n\n%v", operation.get("summary"), operation.get("description")), 8) + "\n")
	request := append([]string{strconv.Quote(d.Name), strconv.Quote(d.Method)}, segments...)
	for _, part := range []struct {
		name, expression string
		members          []argument
	}{{"body", body(sent), sent}, {"query", "query(" + values(where, `"true" if %[1]s else None`) + ")", where}} {
		if len(part.members) == 0 {
			continue
		}
		local := map[string]string{"body": "body", "query": "wanted"}[part.name]
		request = append(request, part.name+"="+local)
		if list, ok := strings.CutSuffix(part.expression, ")"); ok {
			function, list, _ := strings.Cut(list, "(")
			text.WriteString(fitLine(local+" = "+function, strings.Split(list, ", "), "", 8, false) + "\n")
		} else {
			text.WriteString("        " + local + " = " + part.expression + "\n")
		}
	}
	if d.SuccessStatus() != http.StatusOK {
		request = append(request, "want="+strconv.Itoa(d.SuccessStatus()))
	}
	if d.Method == http.MethodPost && (d.Repeatable || d.Reads()) {
		request = append(request, "repeatable=True")
	}
	made := "call(" + strings.Join(request, ", ") + ")"
	switch {
	case page:
		text.WriteString(fitLine("return AsyncPages", []string{"self", kind, made}, "", 8, false))
	case kind == "None":
		text.WriteString(fitLine("await self._content", []string{made}, "", 8, false))
	default:
		text.WriteString(fitLine("return await self._fetch", []string{kind, made}, "", 8, false))
	}
	text.WriteString("\n")
	return nil
}

func (a argument) signature() string {
	switch {
	case a.positional && a.nullable:
		return a.name + ": " + a.typ + " | None"
	case a.positional:
		return a.name + ": " + a.typ
	case a.typ == "bool" && !a.stated:
		return a.name + ": bool = False"
	}
	return a.name + ": " + a.typ + " | None = None"
}

// pathOf is the arguments of call for a path, and those of its method.
func pathOf(template string) (segments []string, all []argument) {
	for part := range strings.SplitSeq(strings.TrimPrefix(template, "/v1/"), "/") {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			segments = append(segments, strconv.Quote(part))
			continue
		}
		a := argument{name: strings.TrimSuffix(name, "}"), typ: "str", positional: true}
		if a.name == "version" {
			a.typ = "int"
		}
		segments, all = append(segments, a.name), append(all, a)
	}
	return segments, all
}

// parameters are those of the query, without those of pages.
func (p *python) parameters(operation object) (all []argument, err error) {
	list, _ := operation.get("parameters").([]any)
	paged := false
	for _, one := range list {
		parameter := one.(object) //nolint:forcetypeassert // a fault of the document
		if ref, ok := parameter.get("$ref").(string); ok {
			parameter = p.document.object("components").object("parameters").object(path.Base(ref))
		}
		name := fmt.Sprint(parameter.get("name"))
		switch parameter.get("in") {
		case "header":
			return nil, fmt.Errorf("%v has the header %s: write its method of the Python client by hand", operation.get("operationId"), name)
		case "query":
			paged = paged || name == "cursor"
			schema := parameter.object("schema")
			a := argument{name: pythonMember(name), positional: parameter.get("required") == true}
			if a.typ = p.element(schema, ""); schema.get("default") == "false" {
				a.typ = "bool"
			}
			all = append(all, a)
		}
	}
	if paged {
		all = slices.DeleteFunc(all, func(a argument) bool { return a.name == "cursor" || a.name == "limit" })
	}
	return all, nil
}

// members are those of the body.
func (p *python) members(operation object) (all []argument) {
	schema := operation.object("requestBody").object("content").object("application/json").object("schema")
	name := path.Base(fmt.Sprint(schema.get("$ref")))
	schema = p.schemas.object(name)
	for _, m := range schema.object("properties") {
		typ, nullable := p.typ(m.value.(object), name+"."+m.name) //nolint:forcetypeassert // a fault of the document
		required := slices.Contains(texts(schema.get("required")), m.name)
		// An optional boolean that may not be null is true when it is not sent.
		stated := typ == "bool" && !required && !nullable
		all = append(all, argument{name: pythonMember(m.name), typ: typ, positional: required, nullable: nullable, stated: stated})
	}
	return all
}

// body is the expression of a body. A member that must be sent is, also when it is None.
func body(sent []argument) string {
	if i := slices.IndexFunc(sent, func(a argument) bool { return a.positional && a.nullable }); i >= 0 {
		null := sent[i]
		rest := slices.Delete(slices.Clone(sent), i, i+1)
		if len(rest) == 0 {
			return fmt.Sprintf("{%q: %s}", strings.TrimSuffix(null.name, "_"), null.name)
		}
		return fmt.Sprintf("{%q: %s, **%s}", strings.TrimSuffix(null.name, "_"), null.name, body(rest))
	}
	return "given(" + values(sent, "%[1]s or None") + ")"
}

// values are arguments by their names. isSet is what is sent of an optional boolean.
func values(all []argument, isSet string) string {
	var list []string
	for _, a := range all {
		value := a.name
		if a.typ == "bool" && !a.positional && !a.stated {
			value = fmt.Sprintf(isSet, a.name)
		}
		list = append(list, a.name+"="+value)
	}
	return strings.Join(list, ", ")
}

// returns is the type of what a method returns, or of the items of its pages.
func (p *python) returns(operation object, d api.Declaration) (kind string, page bool) {
	content := operation.object("responses").object(strconv.Itoa(d.SuccessStatus())).object("content")
	if content == nil {
		return "None", false
	}
	name := path.Base(fmt.Sprint(content.object("application/json").object("schema").get("$ref")))
	properties := p.schemas.object(name).object("properties")
	if properties.index("next_cursor") < 0 {
		return pythonName(name), false
	}
	return p.element(properties.object("data").object("items"), ""), true
}

// methodsByHand are the methods of the modules in a folder, but for the module that is written here.
func methodsByHand(folder string) (map[string]bool, error) {
	modules, err := filepath.Glob(filepath.Join(folder, "*.py"))
	all := map[string]bool{}
	for _, module := range modules {
		if filepath.Base(module) == "operations.py" {
			continue
		}
		text, err := os.ReadFile(module) //nolint:gosec // a source file
		if err != nil {
			return nil, err
		}
		for _, found := range methodPattern.FindAllSubmatch(text, -1) {
			all[string(found[1])] = true
		}
	}
	return all, err
}

var methodPattern = regexp.MustCompile(`(?m)^    (?:async )?def (\w+)\(`)

var capitalPattern = regexp.MustCompile(`[A-Z]`)

func snake(operation string) string {
	return capitalPattern.ReplaceAllStringFunc(operation, func(letter string) string { return "_" + strings.ToLower(letter) })
}
