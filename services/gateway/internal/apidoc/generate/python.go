package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// What the models of the Python client are called and have beside what the document says.
var (
	pythonNames = map[string]string{
		"Result": "ResultRow", "RawResult": "Result", "ApiKey": "APIKey", "CreatedApiKey": "CreatedAPIKey", "Model": "ConfiguredModel",
		"MemberClaim": "Claim", "DriftOfQuestion": "QuestionDrift", "LabelQueue": "LabelQueuePage", "Probabilities": "ProbabilitySource",
		"RawResultPage": "ResultPage", "ResultPage": "ResultRowPage",
	}
	// pythonEnums are the types of texts that a member lists.
	pythonEnums = map[string]string{
		"QuestionQuality.type": "QuestionType", "Column.show": "Show", "Record.error_code": "ErrorCode",
		"Escalation.error_code": "EscalationErrorCode", "DriftReference.kind": "DriftKind", "Member.signed_in_by": "SignedInBy",
		"Calibration.method": "CalibrationMethod", "NewCalibration.method": "NewCalibrationMethod", "Label.origin": "LabelOrigin",
		"AuditEntry.action": "AuditAction", "Change.type": "ChangeType", "Model.order": "OptionOrder", "FileOptions.encoding": "Encoding",
		"CheckedPart.part": "ModelPart", "NewWebhook.events": "EventType", "EventCondition.op": "ConditionOp",
		"Webhook.disabled_reason": "DisabledReason", "Delivery.status": "DeliveryStatus", "DeliveryTry.error": "TryError",
	}
	// pythonTypes are the types of members that JSON says less of.
	pythonTypes = map[string]string{
		"RecordUsage.cost": "Decimal", "UsageSum.cost": "Decimal", "RunUsage.cost": "Decimal", "DryRun.cost": "Decimal",
		"Price.input": "Decimal", "Price.output": "Decimal", "CreatedApiKey.key": "Secret", "InvitedMember.link": "Secret",
		"CreatedWebhook.secret": "Secret", "EventData.answers": "Mapping[str, str | float | None]", "EventResult.answers": "Mapping[str, str | float | None]",
	}
	pythonBases    = map[string]string{"CreatedApiKey": "ApiKey", "InvitedMember": "Member", "CreatedWebhook": "Webhook"}
	pythonMixins   = map[string]string{"Question": "QuestionMakers", "Run": "RunStates"}
	pythonDefaults = map[string]string{"Column.show": `"answer"`}
	pythonMore     = map[string]string{"Prism": `    etag: str | None = field(default=None, repr=False, compare=False)
    """Names the prism as it is here, for if_match. Prisms of lists have none."""
`}
	pythonByHand = []string{"Answer", "ChoiceAnswer", "YesNoAnswer", "ScaleAnswer", "TagsAnswer", "Error", "Unavailable"}
)

const pythonHead = `# Written by make api; do not edit.
"""The shapes of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from prism_results.models.answers import (
    Answer,
    AnswerError,
    Answers,
    ChoiceAnswer,
    OtherAnswer,
    Row,
    ScaleAnswer,
    TagsAnswer,
    YesNo,
    YesNoAnswer,
)
from prism_results.models.base import Model, Page, QuestionMakers, Received, RunStates, Secret
from prism_results.models.options import KEEP, Delimiter, ExportFormat, Keep, RowsFormat, RowStatus, RunOptions

`

// pythonOwn are the names that the module exports of those that are written by hand.
var pythonOwn = []string{
	"Answer", "AnswerError", "Answers", "ChoiceAnswer", "Delimiter", "ExportFormat", "Keep", "Model", "OtherAnswer", "Page", "Received", "Row",
	"RowStatus", "RowsFormat", "RunOptions", "ScaleAnswer", "Secret", "TagsAnswer", "YesNo", "YesNoAnswer",
}

// python writes the models of the Python client.
type python struct {
	document, schemas object
	enums             map[string]string // by their values
	sent              map[string]bool   // schemas that requests have inside
	bodies            map[string]bool   // those that are requests alone
	parts             map[string]bool   // those whose properties another one has
	names             []string
	body              strings.Builder
}

func newPython(document object) *python {
	p := &python{
		document: document, schemas: document.object("components").object("schemas"),
		enums: map[string]string{"boolean|string": "LabelValue", "array|boolean|string": "LabelValue"}, sent: map[string]bool{}, bodies: map[string]bool{},
		parts: map[string]bool{},
	}
	inside := map[string]bool{}
	for _, s := range p.schemas {
		references(s.value, func(name string) { inside[name] = true })
		references(s.value.(object).get("oneOf"), func(name string) { p.parts[name] = true }) //nolint:forcetypeassert // a fault of the document
	}
	for _, operation := range operationsIn(document) {
		references(operation.get("responses"), func(name string) { inside[name] = true })
		references(operation.get("requestBody"), func(name string) { p.bodies[name] = true })
	}
	for name := range p.bodies {
		p.reach(name)
	}
	for name := range inside {
		delete(p.bodies, name)
	}
	return p
}

// reach marks the schemas that a schema has inside.
func (p *python) reach(name string) {
	references(p.schemas.get(name), func(inner string) {
		if !p.sent[inner] {
			p.sent[inner] = true
			p.reach(inner)
		}
	})
}

// references calls fn with the names of the schemas that a part of the document refers to.
func references(part any, fn func(name string)) {
	switch part := part.(type) {
	case object:
		for _, m := range part {
			if ref, ok := m.value.(string); ok && m.name == "$ref" && strings.HasPrefix(ref, schemaPrefix) {
				fn(path.Base(ref))
			}
			references(m.value, fn)
		}
	case []any:
		for _, v := range part {
			references(v, fn)
		}
	}
}

// operationsIn are the operations of the document with their method and path.
func operationsIn(document object) (all []object) {
	for _, at := range document.object("paths") {
		for _, m := range at.value.(object) { //nolint:forcetypeassert // a fault of the document, found by every test
			all = append(all, append(slices.Clone(m.value.(object)), member{"method", strings.ToUpper(m.name)}, member{"path", at.name})) //nolint:forcetypeassert // likewise
		}
	}
	return all
}

// models is the text of the module.
func (p *python) models() string {
	for _, at := range slices.Sorted(maps.Keys(pythonEnums)) {
		schema, name, _ := strings.Cut(at, ".")
		property := p.schemas.object(schema).object("properties").object(name)
		if items := property.object("items"); items != nil {
			property = items
		}
		p.alias(pythonEnums[at], property)
	}
	p.names = append(p.names, "LabelValue")
	p.body.WriteString("LabelValue: TypeAlias = str | bool | Sequence[str]\n\"\"\"The key of an option or level, whether yes was right, or the keys of all options that are right.\"\"\"\n")
	for _, s := range p.schemas {
		if schema := s.value.(object); schema.get("enum") != nil { //nolint:forcetypeassert // a fault of the document
			p.alias(pythonName(s.name), schema)
		}
	}
	for _, derived := range []bool{false, true} {
		for _, s := range p.schemas {
			if (pythonBases[s.name] != "") == derived && !p.bodies[s.name] && !slices.Contains(pythonByHand, s.name) && !p.parts[s.name] {
				p.class(s.name, merged(p.schemas, s.value.(object))) //nolint:forcetypeassert // likewise
			}
		}
	}
	p.names = append(p.names, pythonOwn...)
	slices.Sort(p.names)
	p.names = slices.Insert(p.names, 0, "KEEP") // constants come first
	return pythonHead + "__all__ = [\n    \"" + strings.Join(p.names, "\",\n    \"") + "\",\n]\n\n" + p.body.String()
}

// merged is a schema with properties: that of one of several objects has the properties of all.
func merged(schemas, schema object) object {
	alternatives, ok := schema.get("oneOf").([]any)
	if !ok {
		return schema
	}
	var properties object
	uses := map[string]int{}
	var kinds []any
	for _, one := range alternatives {
		part := schemas.object(path.Base(fmt.Sprint(one.(object).get("$ref")))) //nolint:forcetypeassert // a fault of the document
		for _, m := range part.object("properties") {
			if kind := m.value.(object).get("const"); kind != nil { //nolint:forcetypeassert // likewise
				kinds = append(kinds, kind)
				m.value = object{{"type", "string"}, {"enum", kinds}}
			}
			properties = properties.with(m.name, m.value)
			if slices.Contains(texts(part.get("required")), m.name) {
				uses[m.name]++
			}
		}
	}
	var required []any
	for _, m := range properties {
		if uses[m.name] == len(alternatives) {
			required = append(required, m.name)
		}
	}
	return object{{"description", schema.get("description")}, {"required", required}, {"properties", properties}}
}

func (p *python) alias(name string, schema object) {
	values := valuesOf(schema)
	if values == nil {
		return // the document has it no more
	}
	p.names, p.enums[strings.Join(values, "|")] = append(p.names, name), name
	line := name + ": TypeAlias = " + literal(values)
	if len(line) > pythonWidth {
		line = name + ": TypeAlias = Literal[\n    \"" + strings.Join(values, "\",\n    \"") + "\",\n]"
	}
	p.body.WriteString(line + "\n")
}

// valuesOf are the texts that a schema lists.
func valuesOf(schema object) []string {
	return slices.DeleteFunc(texts(schema.get("enum")), func(v string) bool { return v == "<nil>" })
}

func literal(values []string) string { return `Literal["` + strings.Join(values, `", "`) + `"]` }

// class writes the model of a schema. Schemas of pages, and of one value, have none.
func (p *python) class(name string, schema object) {
	properties := schema.object("properties")
	base := "Received"
	switch {
	case properties == nil, len(properties) == 2 && properties.index("data") >= 0 && properties.index("next_cursor") >= 0:
		return
	case properties.index("next_cursor") >= 0:
		item := properties.object("data").object("items")
		base = "Page[" + pythonName(path.Base(fmt.Sprint(item.get("$ref")))) + "]"
		properties = slices.DeleteFunc(slices.Clone(properties), func(m member) bool { return m.name == "next_cursor" })
	case pythonBases[name] != "":
		base = pythonName(pythonBases[name])
		inherited := p.schemas.object(pythonBases[name]).object("properties")
		properties = slices.DeleteFunc(slices.Clone(properties), func(m member) bool { return inherited.index(m.name) >= 0 })
	case p.sent[name]:
		base = "Model"
	}
	if mixin := pythonMixins[name]; mixin != "" {
		base = mixin + ", " + base
	}
	p.names = append(p.names, pythonName(name))
	fmt.Fprintf(&p.body, "\n\n@dataclass(frozen=True, slots=True)\nclass %s(%s):\n    %s\n\n",
		pythonName(name), base, docstring(fmt.Sprint(schema.get("description")), 4))
	required := texts(schema.get("required"))
	for _, needed := range []bool{true, false} {
		for _, m := range properties {
			if slices.Contains(required, m.name) == needed {
				p.field(name, m.name, m.value.(object), needed) //nolint:forcetypeassert // a fault of the document
			}
		}
	}
	p.body.WriteString(pythonMore[name])
}

func (p *python) field(schema, name string, value object, required bool) {
	at := schema + "." + name
	typ, nullable := p.typ(value, at)
	field := map[string]string{"Answers": "answers", "Row": "row"}[typ]
	switch field {
	case "", name:
		field = pythonMember(name)
	default:
		typ += " = field(metadata={\"member\": \"" + name + "\"})"
		nullable, required = false, true
	}
	if typ == "Answers" {
		nullable = false
	}
	if nullable || !required {
		typ += " | None"
	}
	if value := pythonDefaults[at]; value != "" {
		typ += " = " + value
	} else if !required {
		typ += " = None"
	}
	fmt.Fprintf(&p.body, "    %s: %s\n", field, typ)
	if description, ok := value.get("description").(string); ok {
		p.body.WriteString("    " + docstring(description, 4) + "\n")
	}
}

// typ is the type of a schema's values, and whether null is another.
func (p *python) typ(schema object, at string) (typ string, nullable bool) {
	if ref, ok := schema.get("$ref").(string); ok {
		return p.named(path.Base(ref)), false
	}
	if types, ok := schema.get("anyOf").([]any); ok { // the other is null
		typ, _ = p.typ(types[0].(object), at) //nolint:forcetypeassert // a fault of the document
		return typ, true
	}
	kinds := texts(schema.get("type"))
	nullable = slices.Contains(kinds, "null")
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "null" })
	slices.Sort(kinds)
	return p.kind(strings.Join(kinds, "|"), schema, at), nullable
}

func (p *python) kind(kind string, schema object, at string) string {
	if typ := pythonTypes[at]; typ != "" {
		return typ
	}
	switch kind {
	case "string":
		return p.text(schema)
	case "array":
		return "Sequence[" + p.element(schema.object("items"), at) + "]"
	case "object":
		values := schema.object("additionalProperties")
		switch element := p.element(values, at); {
		case values == nil:
			return "Mapping[str, Any]"
		case element == "Answer":
			return "Answers"
		case element == "number|string | None":
			return "Row"
		default:
			return "Mapping[str, " + element + "]"
		}
	}
	if name := p.enums[kind]; name != "" {
		return name
	}
	if typ := map[string]string{
		"integer": "int", "number": "float", "boolean": "bool", "array|boolean|string": "str | bool | Sequence[str]",
	}[kind]; typ != "" {
		return typ
	}
	return kind
}

func (p *python) text(schema object) string {
	if values := valuesOf(schema); values != nil {
		if name := p.enums[strings.Join(values, "|")]; name != "" {
			return name
		}
		return literal(values)
	}
	switch schema.get("format") {
	case "date-time":
		return "datetime"
	case "date":
		return "date"
	}
	return "str"
}

func (p *python) element(schema object, at string) string {
	typ, nullable := p.typ(schema, at)
	if nullable {
		typ += " | None"
	}
	return typ
}

// named is the type of a schema with a name.
func (p *python) named(name string) string {
	schema := p.schemas.object(name)
	if name == "Answer" || schema.get("enum") != nil || schema.get("properties") != nil || schema.get("oneOf") != nil {
		return pythonName(name)
	}
	return p.element(schema, name)
}

func pythonName(schema string) string {
	if name := pythonNames[schema]; name != "" {
		return name
	}
	return schema
}

// pythonMember is a member's name in Python, where from is a keyword.
func pythonMember(name string) string {
	if name == "from" {
		return "from_"
	}
	return name
}
