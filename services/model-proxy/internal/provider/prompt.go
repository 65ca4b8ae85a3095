package provider

import (
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// contextMember is the member of the state that holds the call's context.
const contextMember = "context"

// State is what the questions are about: the fields by key, in the version's order, after `context` when one was sent.
// As JSON, also inside prompts, no value can pass itself off as another field. A field that is itself called context
// keeps its name; the call's context is then `context_`.
func State(a contract.Ask) Object {
	var o Object
	if a.Context != "" {
		name := contextMember
		for slices.ContainsFunc(a.Fields, func(f prism.FieldValue) bool { return f.Key == name }) {
			name += "_"
		}
		o = append(o, Member{name, a.Context})
	}
	for _, f := range a.Fields {
		o = append(o, Member{f.Key, f.Value})
	}
	return o
}

// Instruction is a question as it is put to a model that takes no other instructions: the version's, then the question.
func Instruction(d prism.Definition, q prism.Question) string {
	return Paragraphs(d.Instructions, q.Text)
}

// Paragraphs joins two texts with an empty line, unless one of them is empty.
func Paragraphs(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}

// OptionText is what a model reads of an option: its label, and its description when it has one.
func OptionText(o prism.Option) string {
	if o.Description == "" {
		return o.Label
	}
	return o.Label + ": " + o.Description
}
