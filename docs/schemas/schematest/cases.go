// Package schematest has definitions that are right, and such that are wrong in one way each, by which each schema of a definition is held
// against what Prism says of it.
package schematest

import (
	"fmt"
	"strings"
)

// Verdict is who minds a definition.
type Verdict int

// The verdicts.
const (
	Good   Verdict = iota
	Wrong          // all say so
	Beyond         // only the server knows
	Strict         // only who refuses unknown members minds: the API ignores what it does not know
)

// Case is a definition: base with Old replaced by New.
type Case struct {
	Name, Old, New string
	Want           Verdict
}

// base is a definition with all there is.
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

// Text is the definition of a case with a slug, as YAML. It panics if nothing is replaced.
func (c Case) Text(slug string) string {
	if !strings.Contains(base, c.Old) {
		panic("schematest: " + c.Name + ": nothing is changed")
	}
	return strings.Replace(strings.Replace(base, c.Old, c.New, 1), "SLUG", slug, 1)
}

// Cases are all cases.
func Cases() []Case {
	const column = "{name: Column 1, question: c, show: answer}"
	list := func(n int, item string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(item, "#", fmt.Sprint(i)) + ", ")
		}
		return "[" + b.String() + "]"
	}
	const options, levels = "[{key: a, label: A, description: d}, {key: b, label: B}]", "[{key: l, label: L}, {key: h, label: H, value: 5}]"
	return []Case{
		{"the whole of it", "", "", Good},
		{"no name", "name: Name\n", "", Good},
		{"a name that is null", "name: Name", "name: null", Good},
		{"a name of 200", "name: Name", "name: " + strings.Repeat("é", 200), Good},
		{"a name of 201", "name: Name", "name: " + strings.Repeat("é", 201), Wrong},
		{"a name that is a number", "name: Name", "name: 1", Wrong},
		{"instructions of 100001", "Read it.", strings.Repeat("x", 100_001), Wrong},
		{"no model", "model: default\n", "", Good},
		{"a model in upper case", "model: default", "model: Default", Wrong},
		{"a model that is not configured", "model: default", "model: other", Beyond},
		{"no slug", "slug: SLUG\n", "", Wrong},
		{"a slug with an underscore", "SLUG", "a_b", Wrong},
		{"a slug that ends in a hyphen", "SLUG", "a-", Wrong},
		{"a slug of 64", "SLUG", strings.Repeat("a", 64), Good},
		{"a slug of 65", "SLUG", strings.Repeat("a", 65), Wrong},
		{"a slug that is a UUID", "SLUG", "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10", Wrong},
		{"a slug that is a number", "SLUG", "12", Wrong},
		{"no fields", "fields: [{key: f, label: F}]\n", "", Wrong},
		{"an empty list of fields", "[{key: f, label: F}]", "[]", Wrong},
		{"50 fields", "[{key: f, label: F}]", list(50, "{key: f#}"), Good},
		{"51 fields", "[{key: f, label: F}]", list(51, "{key: f#}"), Wrong},
		{"a field that a row has already", "key: f,", "key: status,", Wrong},
		{"a field in capitals", "key: f,", "key: F,", Wrong},
		{"two fields with one key", "[{key: f, label: F}]", "[{key: f}, {key: f}]", Beyond},
		{"a label of 1001", "label: F}", "label: " + strings.Repeat("x", 1001) + "}", Wrong},
		{"a label that is null", "label: F}", "label: null}", Good},
		{"a misspelled member", "instructions: ", "intructions: ", Strict},
		{"a misspelled member of a field", "label: F}", "lable: F}", Strict},
		{"a member of another type's question", "text: Really?", "text: Really?, options: []", Strict},
		{"a question of no type", "type: yes_no, ", "", Wrong},
		{"a question of an unknown type", "type: yes_no", "type: maybe", Wrong},
		{"a question without a text", "text: Really?", "text: ''", Wrong},
		{"a question with a text of 10001", "Really?", strings.Repeat("x", 10_001), Wrong},
		{"two questions with one key", "key: y,", "key: c,", Beyond},
		{"one option", options, "[{key: a, label: A}]", Wrong},
		{"254 options and insufficient_information", options, list(254, "{key: o#, label: O}"), Good},
		{"255 options and insufficient_information", options, list(255, "{key: o#, label: O}"), Wrong},
		{"255 options", options + ", insufficient_information: true", list(255, "{key: o#, label: O}"), Good},
		{"256 options", options + ", insufficient_information: true", list(256, "{key: o#, label: O}") + ", insufficient_information: false", Wrong},
		{"an option of a group", "{key: b, label: B}", "{key: b, label: B, group: 'Cards & cash'}", Good},
		{"an option of no group", "{key: b, label: B}", "{key: b, label: B, group: null}", Good},
		{"an option of a group of 65", "{key: b, label: B}", "{key: b, label: B, group: " + strings.Repeat("x", 65) + "}", Wrong},
		{"an option of an empty group", "{key: b, label: B}", "{key: b, label: B, group: ''}", Good},
		{"32 groups", options, list(32, "{key: o#, label: O, group: g#}"), Good},
		{"33 groups", options, list(33, "{key: o#, label: O, group: g#}"), Beyond},
		{"an option without a label", "{key: b, label: B}", "{key: b}", Wrong},
		{"an option that insufficient_information adds", "{key: b, label: B}", "{key: insufficient_information, label: B}", Beyond},
		{"insufficient_information as a text", "insufficient_information: true", "insufficient_information: 'true'", Wrong},
		{"one level", levels, "[{key: l, label: L}]", Wrong},
		{"10 levels", levels, list(10, "{key: l#, label: L}"), Good},
		{"11 levels", levels, list(11, "{key: l#, label: L}"), Wrong},
		{"levels that fall", "value: 5", "value: 0.5", Beyond},
		{"a level's value as a text", "value: 5", "value: '5'", Wrong},
		{"a tags without an option", "[{key: p, label: P}]", "[]", Wrong},
		{"100 options of a tags", "[{key: p, label: P}]", list(100, "{key: o#, label: O}"), Good},
		{"101 options of a tags", "[{key: p, label: P}]", list(101, "{key: o#, label: O}"), Wrong},
		{"a tags with a member of another type's question", "[{key: p, label: P}]", "[{key: p, label: P}], insufficient_information: true", Strict},
		{"the count of a tags from a probability on", "question: c, show: answer", "question: t, show: count, yes_at: 0.3", Good},
		{"the count of a tags up to a probability", "question: c, show: answer", "question: t, show: count, no_at: 0.3", Wrong},
		{"the answer of a tags from a probability on", "question: c, show: answer", "question: t, show: answer, yes_at: 0.3", Good},
		{"the answer of a tags up to a probability", "question: c, show: answer", "question: t, show: answer, no_at: 0.3", Beyond},
		{"the probability of an option of a tags", "question: c, show: answer", "question: t, show: probability, option: p", Good},
		{"the probability of no option of a tags", "question: c, show: answer", "question: t, show: probability", Beyond},
		{"the average of a tags", "question: c, show: answer", "question: t, show: average", Beyond},
		{"the count of a choice", "show: answer", "show: count", Beyond},
		{"no Lens", "lens:\n  columns: [" + column + "]\n", "", Good},
		{"a Lens that is null", "lens:\n  columns: [" + column + "]\n", "lens: null\n", Good},
		{"a Lens without columns", column, "", Wrong},
		{"200 columns", "[" + column + "]", list(200, "{name: c#, question: c, show: answer}"), Good},
		{"201 columns", "[" + column + "]", list(201, "{name: c#, question: c, show: answer}"), Wrong},
		{"a column named with a colon", "name: Column 1", "name: 'a:b'", Wrong},
		{"a column that a row has already", "name: Column 1", "name: ref", Wrong},
		{"a column named like a field", "name: Column 1", "name: f", Beyond},
		{"a column of no question", "question: c", "question: none", Beyond},
		{"a column that shows nothing", "show: answer", "show: all", Wrong},
		{"the average of a choice", "show: answer", "show: average", Beyond},
		{"the probability of an option", "show: answer", "show: probability, option: b", Good},
		{"the probability of an unknown option", "show: answer", "show: probability, option: z", Beyond},
		{"the answer of an option", "show: answer", "show: answer, option: b", Wrong},
		{"calibrated columns", "question: c, show: answer", "question: y, show: probability, calibrated: true", Good},
		{"calibrated by a text", "question: c, show: answer", "question: y, show: probability, calibrated: \"yes\"", Wrong},
		{"limits of yes and no", "question: c, show: answer", "question: y, show: answer, yes_at: 1, no_at: 0", Good},
		{"a limit above 1", "question: c, show: answer", "question: y, show: answer, yes_at: 1.1", Wrong},
		{"a limit of a choice", "show: answer", "show: answer, yes_at: 0.5", Beyond},
		{"a limit of a probability", "question: c, show: answer", "question: y, show: probability, yes_at: 0.5", Wrong},
	}
}
